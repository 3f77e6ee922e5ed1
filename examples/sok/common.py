"""What the examples share: the command line, the data and the loss."""

import argparse

import numpy as np
import tensorflow as tf

_SIZES = {
    "batch_size": (64, "samples of a step, of all replicas together"),
    "steps": (5, "steps to train"),
    "vocabulary": (1024, "rows of the table of each replica"),
    "slots": (10, "slots of a sample"),
    "nnz": (5, "keys of a slot"),
    "dim": (16, "elements of a row of the table"),
    "layers": (2, "dense layers; 7 in the user guide"),
    "units": (32, "units of a dense layer; 1024 in the user guide"),
}


def parse(description, argv=None, **extra):
    """The command line of an example: the sizes above, and `extra`, name -> (default, help).

    A bool gives a flag `--name` or `--no-name`; a list the choices, the first of which is the default.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for name, (default, text) in {**_SIZES, **extra}.items():
        if isinstance(default, bool):
            parser.add_argument(f"--{name}", default=default, help=text, action=argparse.BooleanOptionalAction)
        elif isinstance(default, list):
            parser.add_argument(f"--{name}", default=default[0], choices=default, help=text)
        else:
            parser.add_argument(f"--{name}", default=default, help=text, type=type(default))
    return parser.parse_args(argv)


def dataset(args, rank=0, ranks=1):
    """Batches of (keys `[n, slots, nnz]` int64, labels `[n, 1]` float32) with n = batch_size / ranks: one rank's part of each.

    The label of a sample says whether its first key is in the lower half of the vocabulary.
    """
    random = np.random.default_rng(1)
    keys = random.integers(0, args.vocabulary, [args.steps, args.batch_size, args.slots, args.nnz])
    labels = (keys[..., :1, 0] < args.vocabulary // 2).astype(np.float32)
    part = slice(rank * args.batch_size // ranks, (rank + 1) * args.batch_size // ranks)
    keys, labels = np.concatenate(keys[:, part]), np.concatenate(labels[:, part])
    return tf.data.Dataset.from_tensor_slices((keys, labels)).batch(args.batch_size // ranks, drop_remainder=True)


def replica_loss(labels, logits, global_batch_size):
    """The binary cross entropy of a replica's samples, summed, over the size of the whole batch."""
    of_samples = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_sum(of_samples) / global_batch_size
