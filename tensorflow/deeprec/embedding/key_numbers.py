"""Numbers for keys, given out in the order in which they are first seen: the rows of a dense table of fixed size."""

import weakref

from tensorflow.deeprec import library
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_resource_variable_ops


class KeyNumbers:
    """A map from int64 keys to 0, 1, 2, ...; in the graph, or, made eagerly, as long as this object."""

    def __init__(self, name: str, capacity: int):
        """Makes an empty map.

        Args:
          name: what errors call it.
          capacity: how many keys get numbers.
        """
        self._capacity = capacity
        with ops.init_scope():
            # Of its own; errors tell the name.
            container = f"key_numbers_{ops.uid()}" if context.executing_eagerly() else ""
            self._handle = library.ops().key_numbers_handle(container=container, shared_name=name)
            if context.executing_eagerly():
                # Not at exit: the runtime is gone by then.
                weakref.finalize(self, _destroy, self._handle).atexit = False

    def find(self, keys, insert=False):
        """The numbers of int64 keys, of their shape; -1 for those that have none.

        Args:
          keys: any shape.
          insert: bool or scalar bool tensor: whether such keys get a number.

        Raises:
          tf.errors.ResourceExhaustedError: (when run) there are more keys than `capacity`; none of the batch got a number.
        """
        return library.ops().key_numbers_find(self._handle, keys, insert, capacity=self._capacity)

    def assign(self, keys):
        """Replaces the content: keys[i] of `[n]` different keys gets number i. Returns the op."""
        return library.ops().key_numbers_assign(self._handle, keys)

    def export(self):
        """The keys in the order of their numbers, `[n]` int64."""
        return library.ops().key_numbers_export(self._handle)


def _destroy(handle):
    with context.eager_mode():
        gen_resource_variable_ops.destroy_resource_op(handle, ignore_lookup_error=True)
