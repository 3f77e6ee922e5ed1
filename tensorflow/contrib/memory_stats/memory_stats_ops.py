"""Memory of the runtime's allocators, read when the op runs."""

import tensorflow as tf


def _read(key):
    def read():
        return _stats().get(key, 0)

    return tf.py_func(read, [], tf.int64, stateful=True, name=key)


def _stats():
    import resource

    import numpy as np

    # The CPU allocator keeps no statistics by default; the process's own figures stand in for it.
    with open("/proc/self/statm") as statm:
        resident = int(statm.read().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with open("/proc/meminfo") as meminfo:
        total = int(meminfo.readline().split()[1]) * 1024
    return {k: np.int64(v) for k, v in (("BytesInUse", resident), ("MaxBytesInUse", peak), ("BytesLimit", total))}


def BytesInUse():
    """Scalar int64: resident memory of the process, in bytes."""
    return _read("BytesInUse")


def BytesLimit():
    """Scalar int64: memory of the machine, in bytes."""
    return _read("BytesLimit")


def MaxBytesInUse():
    """Scalar int64: the most that `BytesInUse` has been."""
    return _read("MaxBytesInUse")
