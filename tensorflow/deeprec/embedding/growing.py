"""EmbeddingVariables whose lookups insert, in graphs, in functions and eagerly."""

import weakref

from tensorflow.deeprec import library
from tensorflow.deeprec.embedding import control_flow
from tensorflow.deeprec.embedding.variable import EmbeddingVariable, TableConfig
from tensorflow.python.eager import context, tape
from tensorflow.python.framework import constant_op, cpp_shape_inference_pb2, dtypes, ops, tensor_shape
from tensorflow.python.ops import (
    array_ops,
    check_ops,
    gen_logging_ops,
    gen_resource_variable_ops,
    math_ops,
    resource_variable_ops,
)

# Rows that such keys share by their remainder; a lookup gives each key a row of its own.
_DEFAULT_ROWS = 256


class GrowingEmbeddingVariable(EmbeddingVariable):
    """An EmbeddingVariable that gives a key a row when it is first looked up.

    `initial_rows(n)` makes the rows `[n, dim]` of n new keys, so that keys that come later start from values of their own.
    It lives in the graph, or, made eagerly, as long as this object.
    """

    # Lookups of the tf.nn functions come to `lookup` and not to ops that would leave keys out.
    counts_in_lookups = True

    def __init__(
        self,
        name,
        dim,
        key_dtype,
        value_dtype,
        initial_rows,
        default_rows=None,
        trainable=True,
        stamps=False,
        collections=None,
    ):
        """Makes the table.

        Args:
          name: name, made unique in a graph.
          dim: elements of a row.
          key_dtype: tf.int64 or tf.int32.
          value_dtype: tf.float32, float64, bfloat16 or float16.
          initial_rows: callable(int32 tensor n) -> `[n, dim]`, of value_dtype.
          default_rows: the same for rows of keys that an optimizer meets before any lookup has, called while the variable is
            initialized; None: initial_rows.
          trainable: whether tapes watch it and optimizers find it.
          stamps: whether to record when a key was last looked up or set, in nanoseconds since 1970.
          collections: in a graph, the collections it is added to; None: GLOBAL_VARIABLES.
        """
        self._initial_rows = initial_rows
        default_rows = initial_rows if default_rows is None else default_rows
        # The 2.x root has it with the first table only.
        control_flow.install()
        config = TableConfig(record_version=stamps)
        with ops.init_scope():
            if not context.executing_eagerly():
                super().__init__(
                    name,
                    lambda: default_rows(_DEFAULT_ROWS),
                    dim,
                    key_dtype,
                    value_dtype,
                    config,
                    trainable=trainable,
                    collections=collections,
                )
            else:
                self._make_eagerly(name, dim, key_dtype, value_dtype, config, trainable, default_rows)
        self.counts_in_lookups = True

    def _make_eagerly(self, name, dim, key_dtype, value_dtype, config, trainable, default_rows):
        unique = f"{name}_{ops.uid()}"
        handle = library.ops().kv_var_handle_op(dtype=value_dtype, shape=[dim], Tkeys=key_dtype, shared_name=unique)
        handle._handle_data = cpp_shape_inference_pb2.CppShapeInferenceResult.HandleData(  # pylint: disable=protected-access
            is_set=True,
            shape_and_type=[
                cpp_shape_inference_pb2.CppShapeInferenceResult.HandleShapeAndType(
                    shape=tensor_shape.TensorShape([dim]).as_proto(), dtype=value_dtype.as_datatype_enum
                )
            ],
        )
        control_flow.mark_eager_handle(handle, [dim], value_dtype)
        library.ops().initialize_kv_variable_v2_op(
            handle,
            handle,
            default_rows(_DEFAULT_ROWS),
            constant_op.constant(0, key_dtype),
            filter_freq=config.filter_freq,
            record_version=config.record_version,
        )
        resource_variable_ops.BaseResourceVariable.__init__(
            self,
            trainable=trainable,
            shape=[dim],
            dtype=value_dtype,
            handle=handle,
            name=name,
            unique_id=unique,
            handle_name=name,
        )
        self._finish(key_dtype, config, None, storage_type=0, block_num=1)
        # Not at exit: the runtime is gone by then.
        weakref.finalize(self, _destroy, handle).atexit = False

    @property
    def op(self):
        return None if context.executing_eagerly() and not self._in_graph_mode else self._handle.op

    @property
    def dimension(self) -> int:
        """Elements of a row."""
        return self._shape[0] if isinstance(self._shape[0], int) else int(self._shape[0].value)

    # Reading.

    def _stamp(self):
        """Nanoseconds since 1970, or -1 if nothing is recorded."""
        if not self._config.record_version:
            return constant_op.constant(-1, dtypes.int64)
        return math_ops.cast(gen_logging_ops.timestamp() * 1e9, dtypes.int64)

    def missing(self, keys):
        """Whether each of `keys` has no row, bool of their shape."""
        return self.lookup_tier(keys) < 0

    def sparse_read(self, indices, name=None, ev_init_value=None, counts=None):
        """The rows of keys, which get initial rows if they have none.

        Args:
          indices: integer keys of any shape, cast to the key dtype.
          name: name of the op.
          ev_init_value, counts: must be None; they are for EmbeddingVariables.

        Returns:
          `indices.shape + [dim]`.

        Raises:
          ValueError: an argument is not for this table.
        """
        if ev_init_value is not None or counts is not None:
            raise ValueError(f"ev_init_value and counts must be None in lookups of {self.name}")
        tape.variable_accessed(self)
        with ops.name_scope(name or "Gather") as scope:
            keys = self.cast_keys(indices)
            flat = array_ops.reshape(keys, [-1])
            new = array_ops.boolean_mask(flat, self.missing(flat))
            inserted = self._insert_missing(new)
            with ops.control_dependencies([inserted]):
                if self._config.record_version:
                    rows, _ = library.ops().kv_resource_gather_and_count(
                        self._handle,
                        keys,
                        constant_op.constant([], dtypes.int64),
                        self._stamp(),
                        dtype=self._dtype,
                        name=scope,
                    )
                    return rows
                return library.ops().kv_resource_gather(
                    self._handle, keys, constant_op.constant(0, self._dtype), name=scope
                )

    def _insert_missing(self, keys):
        rows = self._initial_rows(array_ops.size(keys))
        return library.ops().kv_resource_gather(self._handle, keys, rows, is_use_default_value_tensor=True)

    def lookup(self, ids, name=None, max_norm=None, ev_init_value=None, counts=None, **unused):
        """What `tf.nn.embedding_lookup` does with this table; see `sparse_read`."""
        from tensorflow.deeprec.embedding import lookup as lookup_lib

        del counts
        return lookup_lib.clipped(self.sparse_read(ids, name=name, ev_init_value=ev_init_value), max_norm)

    def cast_keys(self, indices):
        """Integers as keys of this table.

        Raises:
          ValueError: they are no integers.
          InvalidArgumentError: (when run) one is too large or small for the key dtype.
        """
        indices = ops.convert_to_tensor(indices, name="indices", dtype_hint=self._key_dtype)
        if not indices.dtype.is_integer:
            raise ValueError(f"indices of {self.name} must be integers, got {indices.dtype.name}")
        keys = math_ops.cast(indices, self._key_dtype)
        if indices.dtype.size <= self._key_dtype.size:
            return keys
        check = check_ops.assert_equal(
            math_ops.cast(keys, indices.dtype), indices, message=f"{self.name} has keys of {self._key_dtype.name} only"
        )
        with ops.control_dependencies([] if check is None else [check]):
            return array_ops.identity(keys)

    def peek(self, keys):
        """The rows of keys that have some, `keys.shape + [dim]`; of others a default. Nothing is inserted or recorded."""
        return library.ops().kv_resource_gather(
            self._handle, self.cast_keys(keys), constant_op.constant(0, self._dtype)
        )

    def export_with_stamps(self):
        """`(keys [n], values [n, dim], stamps [n] or [0] if not recorded)`, keys ascending."""
        keys, values, stamps, _ = self.export()
        return keys, values, stamps

    # Writing.

    def insert(self, keys, values):
        """Sets the rows of keys `[n]` to `values` `[n, dim]`; of equal keys the last counts. Returns the op."""
        return library.ops().kv_resource_insert(
            self._handle, self.cast_keys(keys), ops.convert_to_tensor(values, dtype=self._dtype), self._stamp()
        )

    def remove(self, keys):
        """Removes keys with their rows; returns how many were there, a scalar int64."""
        return library.ops().kv_resource_remove(self._handle, self.cast_keys(keys))

    def add(self, keys, values, factor=1.0):
        """row += factor * value, for keys `[n]` and values `[n, dim]`, equal keys summed. Returns the op."""
        return library.ops().kv_resource_sparse_apply_gradient_descent(
            self._handle,
            constant_op.constant(-factor, self._dtype),
            ops.convert_to_tensor(values, dtype=self._dtype),
            self.cast_keys(keys),
            self._stamp(),
        )


def _destroy(handle):
    with context.eager_mode():
        gen_resource_variable_ops.destroy_resource_op(handle, ignore_lookup_error=True)
