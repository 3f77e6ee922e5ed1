"""Old name of the profiler's log writer."""

from tensorflow.python.profiler import tfprof_logger


def write_op_log(graph, log_dir, op_log=None, run_meta=None, add_trace=True):
    """Writes the profiler's log of a graph to `log_dir`/tfprof_log; arguments as in 1.15."""
    tfprof_logger.write_op_log(graph, log_dir, op_log, run_meta, add_trace)
