"""Flags of the kinds of embeddings, named as in DeepRec's modelzoo."""

import argparse

import tensorflow as tf

# What --ev_filter and --ev_elimination stand for.
FILTERS = {
    "counter": lambda: tf.CounterFilter(filter_freq=3),
    "cbf": lambda: tf.CBFFilter(
        filter_freq=3, max_element_size=2**20, false_positive_probability=0.01, counter_type=tf.uint8
    ),
}
# Flags of which a program takes one. Without: --hash_buckets rows.
KINDS = ("ev", "adaptive_emb", "dynamic_ev", "multihash")
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
        "--adaptive_emb",
        action="store_true",
        help="EmbeddingVariables whose new rows start as those of the value's hash bucket; lists and shared tables stay hashed",
    )
    group.add_argument(
        "--dynamic_ev",
        action="store_true",
        help="EmbeddingVariables of dynamic dimension: a value's row has half of --embedding_dim until its fourth occurrence",
    )
    group.add_argument(
        "--multihash",
        action="store_true",
        help="the sum of a row of each of two tables, of about the square root of --hash_buckets rows, by quotient and remainder",
    )
    group.add_argument(
        "--ev_filter",
        choices=FILTERS,
        help="with --ev or --adaptive_emb: a value gets a row at its third occurrence, counted exactly or by a counting Bloom filter",
    )
    group.add_argument(
        "--ev_elimination",
        choices=ELIMINATIONS,
        help="with --ev or --adaptive_emb: saving drops rows of half squared norm below 1, or not trained for 4000 steps",
    )


def kind(args: argparse.Namespace):
    """Which of KINDS is asked for, or None."""
    return next((name for name in KINDS if getattr(args, name)), None)


def by_key(args: argparse.Namespace) -> bool:
    """Whether rows are found by key, so that there is no vocabulary and no number of buckets."""
    return args.ev or args.dynamic_ev


def check(parser, args: argparse.Namespace) -> None:
    given = [f"--{name}" for name in KINDS if getattr(args, name)]
    if len(given) > 1:
        parser.error(f"{' and '.join(given)} contradict each other: embeddings are of one kind")
    for name in ("ev_filter", "ev_elimination"):
        if getattr(args, name) and not (args.ev or args.adaptive_emb):
            parser.error(f"--{name} needs --ev or --adaptive_emb")
    if (args.ev or args.dynamic_ev or args.adaptive_emb) and args.input_layer_partitioner:
        parser.error(
            f"--input_layer_partitioner and {given[0]} contradict each other: EmbeddingVariables have no fixed size to cut"
        )
    if args.dynamic_ev:
        for name in ("group_embedding", "emb_fusion"):
            if getattr(args, name):
                parser.error(f"--dynamic_ev and --{name} contradict each other: its lookups have several parts")
        if args.embedding_dim is not None and args.embedding_dim % 2:
            parser.error(f"--dynamic_ev needs an even --embedding_dim, got {args.embedding_dim}")


def option(args: argparse.Namespace):
    """The tf.EmbeddingVariableOption that the flags ask for, or None."""
    if not (args.ev or args.adaptive_emb):
        return None
    return tf.EmbeddingVariableOption(
        filter_option=FILTERS[args.ev_filter]() if args.ev_filter else None,
        evict_option=ELIMINATIONS[args.ev_elimination]() if args.ev_elimination else None,
    )


def settings(args: argparse.Namespace) -> dict:
    """What decides the variables, to be kept with the checkpoints."""
    chosen = kind(args)
    if chosen is None:
        return {}
    options = {"ev_filter": args.ev_filter, "ev_elimination": args.ev_elimination}
    return {chosen: True, **(options if chosen in ("ev", "adaptive_emb") else {})}
