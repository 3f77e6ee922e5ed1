"""Set operations over the last dimension: core's."""

from tensorflow.python.ops.sets_impl import set_difference, set_intersection, set_size, set_union

__all__ = ["set_difference", "set_intersection", "set_size", "set_union"]
