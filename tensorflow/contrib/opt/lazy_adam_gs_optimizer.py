"""LazyAdamGS: AdamGS that touches only the rows of a sparse gradient."""

from tensorflow.contrib.opt import adam_gs_optimizer
from tensorflow.contrib.opt.touched_rows import LazyAdamRows


class LazyAdamGSOptimizer(LazyAdamRows, adam_gs_optimizer.AdamGSOptimizer):
    """`AdamGSOptimizer` whose moments decay only in the rows that a sparse gradient names. Arguments as for `AdamGSOptimizer`."""
