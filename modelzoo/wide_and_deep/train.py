"""Trains Wide & Deep on Criteo data, or on a generated set of that form. See README.md beside this file."""

import argparse
import os
import sys
from typing import List

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # read at import: no start-up notices in the log
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import tensorflow as tf

import model
from common import cli, clusters, ev_flags, flags, model_flags, progress, training
from common.criteo_input import CriteoInput
from common.embeddings import Embeddings
from common.graph import Model
from common.parts import partitioner

NAME = "wide_and_deep"

# Optimizer of the deep part -> how to make it from a rate and the global step, and a learning rate that suits the default size
# and batch.
OPTIMIZERS = {
    "adam": (model_flags.OPTIMIZERS["adam"], 0.003),
    "adamasync": (model_flags.OPTIMIZERS["adamasync"], 0.003),
    "adagrad": (model_flags.OPTIMIZERS["adagrad"], 0.03),
    "adagraddecay": (model_flags.OPTIMIZERS["adagraddecay"], 0.1),
    "gradientdescent": (model_flags.OPTIMIZERS["gradientdescent"], 0.5),
    "momentum": (lambda rate, step: tf.train.MomentumOptimizer(rate, 0.9), 0.1),
    "rmsprop": (lambda rate, step: tf.train.RMSPropOptimizer(rate), 0.003),
    "ftrl": (lambda rate, step: tf.train.FtrlOptimizer(rate), 0.05),
}


def parse(arguments: List[str]) -> argparse.Namespace:
    parser = flags.Parser(__doc__)
    flags.add_data_flags(parser)
    flags.add_run_flags(parser, output_dir=f"{NAME}_output")
    group = parser.add_argument_group("model")
    group.add_argument(
        "--optimizer", choices=OPTIMIZERS, default="adam", help="of the deep part; the wide part has Ftrl"
    )
    group.add_argument(
        "--deep_learning_rate",
        type=flags.positive_float,
        metavar="R",
        help="(default: depends on the optimizer: "
        + ", ".join(f"{name} {rate:g}" for name, (_, rate) in OPTIMIZERS.items())
        + ")",
    )
    group.add_argument(
        "--linear_learning_rate", type=flags.positive_float, default=0.2, metavar="R", help="of the wide part"
    )
    group.add_argument(
        "--hash_buckets",
        type=flags.positive_int,
        metavar="N",
        help=f"per C column (default: {model.DEFAULT_SIZE.hash_buckets})",
    )
    group.add_argument(
        "--embedding_dim",
        type=flags.positive_int,
        metavar="N",
        help=f"of every C column (default: {model.DEFAULT_SIZE.embedding_dim})",
    )
    group.add_argument(
        "--hidden_units",
        type=flags.int_list,
        metavar="N,N,...",
        help="(default: " + ",".join(map(str, model.DEFAULT_SIZE.hidden_units)) + ")",
    )
    group.add_argument(
        "--full_size",
        action="store_true",
        help="the published size: dimension 64, 128 for eight columns; layers 1024,512,256",
    )
    group.add_argument(
        "--input_layer_partitioner",
        type=flags.positive_float,
        metavar="MB",
        help="cut embeddings and wide weights into slices of at most this size",
    )
    group.add_argument(
        "--dense_layer_partitioner",
        type=flags.positive_float,
        metavar="KB",
        help="cut the variables of the dense layers likewise",
    )
    model_flags.add_feature_flags(group)
    ev_flags.add_flags(group, "the deep part")
    args = parser.parse_args(arguments)
    flags.check(parser, args)
    ev_flags.check(parser, args)
    model_flags.check_features(parser, args)
    if args.full_size:
        for name in ("embedding_dim", "hidden_units"):
            if getattr(args, name) is not None:
                parser.error(f"--{name} and --full_size contradict each other")
    return args


def size_of(args: argparse.Namespace) -> model.Size:
    size = model.FULL_SIZE if args.full_size else model.DEFAULT_SIZE
    given = {name: getattr(args, name) for name in ("hash_buckets", "embedding_dim", "hidden_units")}
    return size._replace(**{name: value for name, value in given.items() if value is not None})


def main(arguments: List[str], stop: cli.StopRequest) -> None:
    args = parse(arguments)
    tf.logging.set_verbosity(tf.logging.ERROR)
    progress.start_logging()
    clusters.join(args, stop)
    size = size_of(args)
    make_optimizer, usual_rate = OPTIMIZERS[args.optimizer]
    args.deep_learning_rate = args.deep_learning_rate or usual_rate

    def model_fn(features, labels, training) -> Model:
        del training  # the network is the same
        logits = model.logits(
            features,
            size,
            input_layer_partitioner=partitioner(args.input_layer_partitioner, 2**20),
            dense_layer_partitioner=partitioner(args.dense_layer_partitioner, 2**10),
            embeddings=Embeddings(args),
            layer_dtype=model_flags.layer_dtype(args),
        )
        return Model(
            losses=tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits),
            probabilities=tf.sigmoid(logits),
            minimize=lambda loss, step: model.train_op(
                loss,
                tf.train.FtrlOptimizer(args.linear_learning_rate),
                make_optimizer(args.deep_learning_rate, step),
                step,
            ),
        )

    settings = {"optimizer": args.optimizer, **size._asdict(), **ev_flags.settings(args)}
    training.train_and_evaluate(NAME, args, CriteoInput(args, stop), settings, model_fn, stop)


if __name__ == "__main__":
    cli.run(main)
