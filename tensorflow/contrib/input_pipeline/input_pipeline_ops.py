"""Elements of a list, one after another."""

from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, math_ops, state_ops


def obtain_next(string_list_tensor, counter):
    """The element behind the last one, round robin.

    Args:
      string_list_tensor: 1-D string tensor.
      counter: int64 scalar variable, the index of the last element; -1 to start with the first. It moves by one in each run.

    Returns:
      A string scalar.

    Raises:
      ValueError: if `string_list_tensor` has not rank 1.
    """
    strings = ops.convert_to_tensor(string_list_tensor)
    strings.get_shape().assert_has_rank(1)
    count = array_ops.size(strings, out_type=counter.dtype.base_dtype)
    index = state_ops.assign(counter, math_ops.floormod(counter + 1, count))
    return array_ops.gather(strings, ops.convert_to_tensor(index))
