"""Flags of the network that all models but wide_and_deep share, and what they stand for."""

import argparse
import contextlib
from typing import NamedTuple

import tensorflow as tf

from common import ev_flags, flags

# Optimizer -> how to make it from a rate and the global step. Adagrad's accumulator starts at next to nothing: gradients of a
# mean over 512 rows are far below TensorFlow's 0.1.
OPTIMIZERS = {
    "adamasync": lambda rate, step: tf.train.AdamAsyncOptimizer(rate),
    "adam": lambda rate, step: tf.train.AdamOptimizer(rate),
    "adagrad": lambda rate, step: tf.train.AdagradOptimizer(rate, initial_accumulator_value=1e-8),
    "adagraddecay": lambda rate, step: tf.train.AdagradDecayOptimizer(rate, global_step=step),
    "gradientdescent": lambda rate, step: tf.train.GradientDescentOptimizer(rate),
}


class Defaults(NamedTuple):
    """learning_rate: for adamasync. hash_buckets: rows of each embedding. embedding_dim: of each."""

    learning_rate: float = 0.001
    hash_buckets: int = 10_000
    embedding_dim: int = 16


def add_flags(parser: argparse.ArgumentParser, defaults: Defaults):
    """Adds the flags; returns the group, for those of the model itself."""
    group = parser.add_argument_group("model")
    group.add_argument("--optimizer", choices=OPTIMIZERS, default="adamasync")
    group.add_argument("--learning_rate", type=flags.positive_float, default=defaults.learning_rate, metavar="R")
    group.add_argument(
        "--hash_buckets", type=flags.positive_int, default=defaults.hash_buckets, metavar="N", help="per category"
    )
    group.add_argument(
        "--embedding_dim", type=flags.positive_int, default=defaults.embedding_dim, metavar="N", help="of each category"
    )
    group.add_argument(
        "--input_layer_partitioner",
        type=flags.positive_float,
        metavar="MB",
        help="cut embeddings into slices of at most this size",
    )
    group.add_argument(
        "--dense_layer_partitioner",
        type=flags.positive_float,
        metavar="KB",
        help="cut the variables of the dense layers likewise",
    )
    group.add_argument(
        "--group_embedding", action="store_true", help="look all embeddings up in one op, forward and backward"
    )
    ev_flags.add_flags(group, "the place of the embeddings' variables")
    return group


def parse(parser: argparse.ArgumentParser, arguments) -> argparse.Namespace:
    args = parser.parse_args(arguments)
    flags.check(parser, args)
    ev_flags.check(parser, args)
    return args


def settings(args: argparse.Namespace) -> dict:
    """What decides the variables of these flags, to be kept with the checkpoints."""
    named = ("optimizer", "hash_buckets", "embedding_dim")
    return {**{name: getattr(args, name) for name in named}, **ev_flags.settings(args)}


class Embeddings:
    """Makes the columns that the flags ask for.

    Use: `with embeddings.scope(): columns = [embeddings.column("a"), ...]`, then `tf.feature_column.input_layer` within
    `embeddings.variable_scope(...)`.
    """

    def __init__(self, args: argparse.Namespace):
        self._args = args
        self._option = ev_flags.option(args)

    def scope(self):
        if self._args.group_embedding:
            return tf.feature_column.group_embedding_column_scope()
        return contextlib.nullcontext()

    def category(self, name: str, buckets=None, dtype=tf.string):
        """A categorical column; `buckets` instead of --hash_buckets."""
        if self._option is not None:
            return tf.feature_column.categorical_column_with_embedding(name, dtype, ev_option=self._option)
        return tf.feature_column.categorical_column_with_hash_bucket(name, buckets or self._args.hash_buckets, dtype)

    def column(self, name: str, buckets=None, dtype=tf.string, dimension=None, combiner="mean"):
        """An embedding column of it."""
        return tf.feature_column.embedding_column(
            self.category(name, buckets, dtype), dimension or self._args.embedding_dim, combiner=combiner
        )

    def shared(self, names, buckets=None, dtype=tf.string, dimension=None, combiner="mean"):
        """Embedding columns of several features with one table."""
        return tf.feature_column.shared_embedding_columns(
            [self.category(name, buckets, dtype) for name in names],
            dimension or self._args.embedding_dim,
            combiner=combiner,
        )

    def variable_scope(self, name: str):
        return tf.variable_scope(name, partitioner=partitioner(self._args.input_layer_partitioner, 2**20))


def dense_scope(args: argparse.Namespace, name: str):
    """The variable scope of dense layers."""
    return tf.variable_scope(name, partitioner=partitioner(args.dense_layer_partitioner, 2**10))


def partitioner(size, unit: int):
    """Cuts variables into slices of at most `size` units of bytes; None if size is."""
    return tf.variable_axis_size_partitioner(int(size * unit)) if size else None


def minimize(args: argparse.Namespace, loss: tf.Tensor, step: tf.Variable, clip_norm=None) -> tf.Operation:
    """One step of --optimizer on all variables, after what batch normalization updates; clip_norm: of all gradients."""
    optimizer = OPTIMIZERS[args.optimizer](args.learning_rate, step)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        gradients = optimizer.compute_gradients(loss)
        if clip_norm is not None:
            clipped, _ = tf.clip_by_global_norm([gradient for gradient, _ in gradients], clip_norm)
            gradients = list(zip(clipped, (variable for _, variable in gradients)))
        return optimizer.apply_gradients(gradients, global_step=step)


def mlp(net: tf.Tensor, units, name: str, activation=tf.nn.relu, normalize=None, last_activation=True) -> tf.Tensor:
    """Dense layers; normalize: whether the batch is training (bool tensor), for batch normalization behind each."""
    for i, width in enumerate(units):
        last = i + 1 == len(units) and not last_activation
        net = tf.layers.dense(net, width, activation=None if last else activation, name=f"{name}_{i}")
        if normalize is not None and not last:
            net = tf.layers.batch_normalization(net, training=normalize, name=f"{name}_{i}_bn")
    return net
