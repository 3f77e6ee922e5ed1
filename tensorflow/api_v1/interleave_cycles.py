"""A parallel `Dataset.interleave` without a cycle length reads from as many elements at once as there are CPUs, as in 1.15.

The runtime of 2.21 takes a part of them, from which the order of the elements follows.
"""

import functools
import os
import types

from tensorflow.api_v1 import import_hooks


def install() -> None:
    import_hooks.after_import("tensorflow.python.data.ops.interleave_op", _interleave)


def _interleave(module: types.ModuleType) -> None:
    released = module._ParallelInterleaveDataset.__init__

    @functools.wraps(released)
    def init(self, input_dataset, map_func, cycle_length, *args, **kwargs):
        if cycle_length == module.dataset_ops.AUTOTUNE:
            cycle_length = len(os.sched_getaffinity(0))
        released(self, input_dataset, map_func, cycle_length, *args, **kwargs)

    module._ParallelInterleaveDataset.__init__ = init
