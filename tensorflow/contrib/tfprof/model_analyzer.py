"""Old names of `tf.profiler`."""

import copy

import tensorflow as tf

_OPTIONS = tf.profiler.ProfileOptionBuilder
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = _OPTIONS.trainable_variables_parameter()
FLOAT_OPS_OPTIONS = _OPTIONS.float_operation()
PRINT_ALL_TIMING_MEMORY = _OPTIONS.time_and_memory()


def print_model_analysis(graph, run_meta=None, op_log=None, tfprof_cmd="scope", tfprof_options=None):
    """`tf.profiler.profile`, with `TRAINABLE_VARS_PARAMS_STAT_OPTIONS` by default; arguments as there."""
    options = copy.copy(TRAINABLE_VARS_PARAMS_STAT_OPTIONS if tfprof_options is None else tfprof_options)
    return tf.profiler.profile(graph, run_meta, op_log, tfprof_cmd, options)


def advise(graph, run_meta=None, tfprof_options=None):
    """`tf.profiler.advise`, with all checkers by default; arguments as there."""
    from tensorflow.python.profiler import model_analyzer

    return tf.profiler.advise(graph, run_meta, tfprof_options or model_analyzer.ALL_ADVICE)


__all__ = (
    "FLOAT_OPS_OPTIONS PRINT_ALL_TIMING_MEMORY TRAINABLE_VARS_PARAMS_STAT_OPTIONS advise print_model_analysis".split()
)
