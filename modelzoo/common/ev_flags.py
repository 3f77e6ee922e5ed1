"""Flags of EmbeddingVariables, named as in DeepRec's modelzoo."""

import argparse

import tensorflow as tf

# What --ev_filter and --ev_elimination stand for.
FILTERS = {
    "counter": lambda: tf.CounterFilter(filter_freq=3),
    "cbf": lambda: tf.CBFFilter(
        filter_freq=3, max_element_size=2**20, false_positive_probability=0.01, counter_type=tf.uint8
    ),
}
ELIMINATIONS = {
    "l2": lambda: tf.L2WeightEvict(l2_weight_threshold=1.0),
    "gstep": lambda: tf.GlobalStepEvict(steps_to_live=4000),
}


def add_flags(group, what: str) -> None:
    group.add_argument(
        "--ev",
        action="store_true",
        help=f"EmbeddingVariables in {what}: a row for each value that occurs, instead of --hash_buckets of them",
    )
    group.add_argument(
        "--ev_filter",
        choices=FILTERS,
        help="with --ev: a value gets a row at its third occurrence, counted exactly or by a counting Bloom filter",
    )
    group.add_argument(
        "--ev_elimination",
        choices=ELIMINATIONS,
        help="with --ev: saving drops rows of half squared norm below 1, or not trained for 4000 steps",
    )


def check(parser, args: argparse.Namespace) -> None:
    for name in ("ev_filter", "ev_elimination"):
        if getattr(args, name) and not args.ev:
            parser.error(f"--{name} needs --ev")
    if args.ev and args.input_layer_partitioner:
        parser.error(
            "--input_layer_partitioner and --ev contradict each other: EmbeddingVariables have no fixed size to cut"
        )


def option(args: argparse.Namespace):
    """The tf.EmbeddingVariableOption that the flags ask for, or None."""
    if not args.ev:
        return None
    return tf.EmbeddingVariableOption(
        filter_option=FILTERS[args.ev_filter]() if args.ev_filter else None,
        evict_option=ELIMINATIONS[args.ev_elimination]() if args.ev_elimination else None,
    )


def settings(args: argparse.Namespace) -> dict:
    """What decides the variables, to be kept with the checkpoints."""
    return {"ev": True, "ev_filter": args.ev_filter, "ev_elimination": args.ev_elimination} if args.ev else {}
