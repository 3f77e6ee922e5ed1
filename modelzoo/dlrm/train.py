"""Trains DLRM on Criteo data, or on a generated set of that form. See README.md beside this file."""

import os
import sys
from typing import List

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # read at import: no start-up notices in the log
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import tensorflow as tf

import model
from common import cli, flags, model_flags, progress, training
from common.criteo_input import CriteoInput
from common.graph import Model

NAME = "dlrm"


def parse(arguments: List[str]):
    parser = flags.Parser(__doc__)
    flags.add_data_flags(parser)
    flags.add_run_flags(parser, output_dir=f"{NAME}_output")
    group = model_flags.add_flags(parser, model_flags.Defaults(learning_rate=0.003))
    group.add_argument(
        "--interaction_op", choices=("dot", "cat"), default="cat", help="how embeddings meet the numbers"
    )
    group.add_argument("--bottom_units", type=flags.int_list, default=model.Size().bottom, metavar="N,N,...")
    group.add_argument("--top_units", type=flags.int_list, default=model.Size().top, metavar="N,N,...")
    return model_flags.parse(parser, arguments)


def main(arguments: List[str], stop: cli.StopRequest) -> None:
    args = parse(arguments)
    tf.logging.set_verbosity(tf.logging.ERROR)
    progress.start_logging()
    size = model.Size(tuple(args.bottom_units), tuple(args.top_units))

    def model_fn(features, labels, training) -> Model:
        del training  # the network is the same
        logits = model.logits(features, args, size, args.interaction_op, model_flags.Embeddings(args))
        return Model(
            losses=tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits),
            probabilities=tf.sigmoid(logits),
            minimize=lambda loss, step: model_flags.minimize(args, loss, step),
        )

    settings = {**model_flags.settings(args), **size._asdict(), "interaction_op": args.interaction_op}
    training.train_and_evaluate(NAME, args, CriteoInput(args, stop), settings, model_fn, stop)


if __name__ == "__main__":
    cli.run(main)
