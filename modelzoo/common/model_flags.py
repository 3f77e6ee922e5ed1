"""Flags of the network that all models but wide_and_deep share, and what they stand for."""

import argparse
import contextlib
import contextvars
from typing import NamedTuple, Optional, Sequence

import tensorflow as tf

from common import ev_flags, flags
from common.parts import partitioner

# Optimizer -> how to make it from a rate and the global step. Adagrad's accumulator starts at next to nothing: gradients of a
# mean over 512 rows are far below TensorFlow's 0.1.
OPTIMIZERS = {
    "adamasync": lambda rate, step: tf.train.AdamAsyncOptimizer(rate),
    "adam": lambda rate, step: tf.train.AdamOptimizer(rate),
    "adagrad": lambda rate, step: tf.train.AdagradOptimizer(rate, initial_accumulator_value=1e-8),
    "adagraddecay": lambda rate, step: tf.train.AdagradDecayOptimizer(rate, global_step=step),
    "gradientdescent": lambda rate, step: tf.train.GradientDescentOptimizer(rate),
}


# That of the dense layers that are being built.
_LAYER_DTYPE = contextvars.ContextVar("layer dtype", default=tf.float32)


class Defaults(NamedTuple):
    """learning_rate: for adamasync. hash_buckets: rows of each embedding; None: the model has vocabularies. embedding_dim: of
    each."""

    learning_rate: float = 0.001
    hash_buckets: Optional[int] = 10_000
    embedding_dim: int = 16


def add_flags(parser: argparse.ArgumentParser, defaults: Defaults):
    """Adds the flags; returns the group, for those of the model itself."""
    group = parser.add_argument_group("model")
    group.add_argument("--optimizer", choices=OPTIMIZERS, default="adamasync")
    group.add_argument("--learning_rate", type=flags.positive_float, default=defaults.learning_rate, metavar="R")
    if defaults.hash_buckets is None:
        parser.set_defaults(hash_buckets=None)
    else:
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
    add_feature_flags(group)
    ev_flags.add_flags(group, "the place of the embeddings' variables")
    return group


def add_feature_flags(group) -> None:
    """Those of DeepRec's features, beside EmbeddingVariables, that change the network's graph."""
    group.add_argument(
        "--group_embedding", action="store_true", help="look all embeddings up in one op, forward and backward"
    )
    flags.add_switch(group, "--emb_fusion", False, "the ops of a lookup in one, a column at a time (do_fusion)")
    group.add_argument("--bf16", action="store_true", help="layers compute in bfloat16 on weights of float32")
    group.add_argument(
        "--tf",
        action="store_true",
        help="nothing but TensorFlow 1.15: adamasync becomes adam, and all features of DeepRec are off",
    )


def parse(parser: argparse.ArgumentParser, arguments) -> argparse.Namespace:
    args = parser.parse_args(arguments)
    flags.check(parser, args)
    ev_flags.check(parser, args)
    check_features(parser, args)
    if args.hash_buckets is None and (args.adaptive_emb or args.multihash):
        parser.error(f"--{ev_flags.kind(args)} needs --hash_buckets, which this model has not: it has vocabularies")
    return args


def check_features(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Ends the program if the flags of add_feature_flags contradict each other or others. With --tf, makes the arguments those of a
    program for TensorFlow 1.15."""
    if args.emb_fusion and args.group_embedding:
        parser.error("--emb_fusion and --group_embedding contradict each other: a lookup has one of the two forms")
    if not args.tf:
        return
    for name in (
        *ev_flags.KINDS,
        "workqueue",
        "group_embedding",
        "emb_fusion",
        "smartstaged",
        "micro_batch",
        "bf16",
        "incremental_ckpt",
    ):
        if getattr(args, name):
            parser.error(f"--tf and --{name} contradict each other")
    args.op_fusion = False
    if args.optimizer == "adamasync":
        args.optimizer = "adam"
    elif args.optimizer == "adagraddecay":
        parser.error("--tf and --optimizer adagraddecay contradict each other")


def settings(args: argparse.Namespace) -> dict:
    """What decides the variables of these flags, to be kept with the checkpoints."""
    named = ("optimizer", "hash_buckets", "embedding_dim")
    return {**{name: getattr(args, name) for name in named}, **ev_flags.settings(args)}


@contextlib.contextmanager
def dense_scope(args: argparse.Namespace, name: str):
    """The variable scope of dense layers; `mlp` in it computes as --bf16 says."""
    with layers_in(layer_dtype(args)):
        with tf.variable_scope(name, partitioner=partitioner(args.dense_layer_partitioner, 2**10)) as scope:
            yield scope


def layer_dtype(args: argparse.Namespace) -> tf.DType:
    return tf.bfloat16 if args.bf16 else tf.float32


@contextlib.contextmanager
def layers_in(dtype: tf.DType):
    """`mlp` and `dense` within compute in this type."""
    token = _LAYER_DTYPE.set(dtype)
    try:
        yield
    finally:
        _LAYER_DTYPE.reset(token)


def minimize(args: argparse.Namespace, loss: tf.Tensor, step: tf.Variable, clip_norm=None) -> tf.Operation:
    """One step of --optimizer on all variables, after what batch normalization updates; clip_norm: of all gradients."""
    optimizer = OPTIMIZERS[args.optimizer](args.learning_rate, step)
    # Not within the dependencies: what the gradient of a loop adds to the loop would wait for what follows it, and a loop of more
    # than its `parallel_iterations` steps would end without a value.
    gradients = optimizer.compute_gradients(loss)
    if clip_norm is not None:
        clipped, _ = tf.clip_by_global_norm([gradient for gradient, _ in gradients], clip_norm)
        gradients = list(zip(clipped, (variable for _, variable in gradients)))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        return optimizer.apply_gradients(gradients, global_step=step)


def mlp(net: tf.Tensor, units, name: str, activation=tf.nn.relu, normalize=None, last_activation=True) -> tf.Tensor:
    """Dense layers, float32 [B, n] -> float32 [B, units[-1]].

    Args:
      normalize: whether the batch is training (bool tensor), for batch normalization behind each layer, in float32.
    """
    for i, width in enumerate(units):
        last = i + 1 == len(units) and not last_activation
        net = dense(net, width, None if last else activation, f"{name}_{i}")
        if normalize is not None and not last:
            net = tf.layers.batch_normalization(tf.cast(net, tf.float32), training=normalize, name=f"{name}_{i}_bn")
    return tf.cast(net, tf.float32)


def dense(net: tf.Tensor, width: int, activation=None, name=None, use_bias=True) -> tf.Tensor:
    """`tf.layers.dense` in the type of the scope, on variables of float32; the result has that type."""
    dtype, options = _LAYER_DTYPE.get(), {"activation": activation, "use_bias": use_bias, "name": name}
    if dtype == tf.float32:
        return tf.layers.dense(net, width, **options)
    with tf.variable_scope(tf.get_variable_scope(), auxiliary_name_scope=False).keep_weights(tf.float32):
        return tf.layers.dense(tf.cast(net, dtype), width, **options)


def layer(*args, **options) -> tf.Tensor:
    """`dense` with a result of float32."""
    return tf.cast(dense(*args, **options), tf.float32)


def logit(net: tf.Tensor) -> tf.Tensor:
    """float32 [B]: the last layer."""
    return tf.squeeze(tf.layers.dense(net, 1, name="logits"), 1)


def mixture(net: tf.Tensor, experts: Sequence[tf.Tensor], name: str) -> tf.Tensor:
    """[B, units]: the sum of n experts [B, units], weighted by a softmax gate on net [B, m]."""
    weights = tf.layers.dense(net, len(experts), use_bias=False, activation=tf.nn.softmax, name=name)
    return tf.reduce_sum(tf.stack(experts, 1) * weights[:, :, None], 1)
