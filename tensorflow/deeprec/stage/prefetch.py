"""The names of DeepRec's `tensorflow.python.ops.prefetch`."""

from tensorflow.deeprec.stage.hook import make_prefetch_hook
from tensorflow.deeprec.stage.public import prefetch_join, staged
from tensorflow.deeprec.stage.runner import PREFETCH

__all__ = ["PREFETCH", "make_prefetch_hook", "prefetch_join", "staged"]
