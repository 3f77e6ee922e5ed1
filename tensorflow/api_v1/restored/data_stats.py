"""Statistics of tf.data: the runtime does not gather them any more, so these accept their arguments and gather nothing."""

import tensorflow as tf
from tensorflow.api_v1 import moved_names

_GONE = "tf.data gathers no statistics any more: {} does nothing; profile the input pipeline with tf.profiler instead"


class StatsAggregatorV1:
    """Would hold statistics; its summary is empty."""

    def __init__(self):
        moved_names.warn_once(_GONE.format("StatsAggregator"))

    def get_summary(self):
        """A scalar string tensor with an empty Summary, which a summary writer takes."""
        return tf.constant(b"", name="stats_summary")


class StatsAggregatorV2(StatsAggregatorV1):
    pass


StatsAggregator = StatsAggregatorV1


class StatsOptions:
    """Attributes aggregator, prefix, counter_prefix and latency_all_edges, which nothing reads."""

    aggregator = None
    prefix = ""
    counter_prefix = ""
    latency_all_edges = None


def set_stats_aggregator(stats_aggregator, prefix="", counter_prefix=""):
    """A transformation for `dataset.apply` that changes nothing."""
    moved_names.warn_once(_GONE.format("set_stats_aggregator"))
    return lambda dataset: dataset


def latency_stats(tag):
    """A transformation for `dataset.apply` that changes nothing."""
    moved_names.warn_once(_GONE.format("latency_stats"))
    return lambda dataset: dataset


def bytes_produced_stats(tag):
    """A transformation for `dataset.apply` that changes nothing."""
    moved_names.warn_once(_GONE.format("bytes_produced_stats"))
    return lambda dataset: dataset
