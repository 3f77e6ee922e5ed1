"""The layers."""

import numbers

import tensorflow as tf
from tensorflow.deeprec.embedding import combine

from sparse_operation_kit import exchange, transports
from sparse_operation_kit.legacy.table import Table

_KEY_DTYPES = (tf.int32, tf.int64, tf.uint32)


def _positive(**values):
    for name, value in values.items():
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be an int of at least 1, got {value!r}")


class _Embedding(tf.keras.layers.Layer):
    """What the layers have in common."""

    def __init__(self, rows, dimension, slot_num, use_hashtable, key_dtype, embedding_initializer, **kwargs):
        super().__init__(**kwargs)
        _positive(max_vocabulary_size_per_gpu=rows, embedding_vec_size=dimension, slot_num=slot_num)
        key_dtype = tf.as_dtype(tf.int64 if key_dtype is None else key_dtype)
        if key_dtype not in (tf.int64, tf.uint32):
            raise ValueError(f"key_dtype must be int64 or uint32, got {key_dtype.name}")
        self._key_type = key_dtype
        self._slot_num = slot_num
        if embedding_initializer is not None:
            embedding_initializer = tf.keras.initializers.get(embedding_initializer)
        self._table = Table(self.name, rows, dimension, bool(use_hashtable), embedding_initializer, key_dtype)
        # As an attribute of its own: so Keras lists it.
        self._embedding_variable = self._table.variable

    @property
    def embedding_variable(self):
        """The variable of this layer, `[max_vocabulary_size_per_gpu, embedding_vec_size]` on each rank."""
        return self._embedding_variable

    @property
    def key_dtype(self):
        """Dtype of the keys in files."""
        return self._key_type

    def _keys(self, values):
        if values.dtype not in _KEY_DTYPES:
            raise TypeError(f"inputs of layer {self.name} must be int32, int64 or uint32 keys, got {values.dtype.name}")
        return tf.cast(values, tf.int64)

    def _only_shapes(self):
        """Whether Keras makes a functional model in the scope of a strategy: outside of replicas, for shapes alone."""
        if (
            not isinstance(self._table.transport, transports.Replicas)
            or tf.distribute.get_replica_context() is not None
        ):
            return False
        return exchange.for_shapes_alone()


class All2AllDenseEmbedding(_Embedding):
    """Rows of keys, one for each: the table is spread over all replicas."""

    def __init__(
        self,
        max_vocabulary_size_per_gpu,
        embedding_vec_size,
        slot_num,
        nnz_per_slot,
        dynamic_input=False,
        use_hashtable=True,
        key_dtype=None,
        embedding_initializer=None,
        **kwargs,
    ):
        """Makes the table; after `sok.Init`, and in the scope of the strategy, if there is one.

        Args:
          max_vocabulary_size_per_gpu: rows of each replica.
          embedding_vec_size: elements of a row.
          slot_num: slots of a sample.
          nnz_per_slot: keys of a slot.
          dynamic_input: whether inputs are vectors of keys, of a length that may differ between replicas.
          use_hashtable: whether a key gets the next free row of its replica, key mod n, when it is first seen in training. If not,
            its row there is key // n, and keys are below max_vocabulary_size_per_gpu * n.
          key_dtype: tf.int64 (None) or tf.uint32: how `sok.Saver` writes keys.
          embedding_initializer: as Keras takes them; None: uniform in [-0.05, 0.05).
          **kwargs: of `tf.keras.layers.Layer`.

        Raises:
          RuntimeError: before `sok.Init`.
          ValueError: an argument does not fit.
        """
        super().__init__(
            max_vocabulary_size_per_gpu,
            embedding_vec_size,
            slot_num,
            use_hashtable,
            key_dtype,
            embedding_initializer,
            **kwargs,
        )
        _positive(nnz_per_slot=nnz_per_slot)
        self._nnz_per_slot = nnz_per_slot
        self._dynamic_input = bool(dynamic_input)

    def call(self, inputs, training=True):
        """The rows of keys.

        Args:
          inputs: integer keys, `[batch, slot_num, nnz_per_slot]`, or `[n]` with dynamic_input.
          training: whether keys that are not known get rows; otherwise they read 0.

        Returns:
          `inputs.shape + [embedding_vec_size]`, float32.

        Raises:
          TypeError, ValueError: inputs of another dtype or shape.
          tf.errors.ResourceExhaustedError: (when run) there are more keys than rows.
          tf.errors.InvalidArgumentError: (when run, without a hash table) a key is out of range.
        """
        shape = [None] if self._dynamic_input else [None, self._slot_num, self._nnz_per_slot]
        inputs = tf.convert_to_tensor(inputs)
        if not inputs.shape.is_compatible_with(shape):
            raise ValueError(f"inputs of layer {self.name} must have shape {shape}, got {inputs.shape}")
        dim = self._table.dimension
        if self._only_shapes():
            return tf.zeros(tf.concat([tf.shape(inputs), [dim]], 0))
        keys, index = tf.unique(tf.reshape(self._keys(inputs), [-1]))
        rows, positions = self._table.fetch(keys, training)
        found = tf.gather(rows, tf.gather(positions, index))
        return tf.reshape(found, [-1, *shape[1:], dim])


class DistributedEmbedding(_Embedding):
    """Rows of keys, combined by slot: the table is spread over all replicas."""

    def __init__(
        self,
        combiner,
        max_vocabulary_size_per_gpu,
        embedding_vec_size,
        slot_num,
        max_nnz,
        max_feature_num=1,
        use_hashtable=True,
        key_dtype=None,
        embedding_initializer=None,
        **kwargs,
    ):
        """Makes the table; see `All2AllDenseEmbedding`.

        Args:
          combiner: "sum" or "mean", in any case.
          max_vocabulary_size_per_gpu, embedding_vec_size, slot_num, use_hashtable, key_dtype, embedding_initializer: as there.
          max_nnz: the most keys of a slot. Checked.
          max_feature_num: the most keys of a sample; a size of buffers that there are none of here.
          **kwargs: of `tf.keras.layers.Layer`.

        Raises:
          RuntimeError: before `sok.Init`.
          ValueError: an argument does not fit.
        """
        if not isinstance(combiner, str) or combiner.lower() not in ("sum", "mean"):
            raise ValueError(f'combiner must be "sum" or "mean", got {combiner!r}')
        super().__init__(
            max_vocabulary_size_per_gpu,
            embedding_vec_size,
            slot_num,
            use_hashtable,
            key_dtype,
            embedding_initializer,
            **kwargs,
        )
        _positive(max_nnz=max_nnz, max_feature_num=max_feature_num)
        self._combiner, self._max_nnz = combiner.lower(), max_nnz

    def call(self, inputs, training=True):
        """The combined rows.

        Args:
          inputs: SparseTensor of integer keys, `[batch * slot_num, max_nnz]`: row sample * slot_num + slot.
          training: as of All2AllDenseEmbedding.

        Returns:
          `[batch, slot_num, embedding_vec_size]`, float32; 0 for a slot without keys.

        Raises:
          TypeError: inputs are not sparse, or their values no keys.
          tf.errors.InvalidArgumentError: (when run) a slot has more keys than max_nnz, or a sample fewer rows.
          As of All2AllDenseEmbedding.
        """
        if not isinstance(inputs, tf.SparseTensor):
            raise TypeError(f"inputs of layer {self.name} must be a SparseTensor, got {type(inputs).__name__}")
        dim = self._table.dimension
        values = self._keys(inputs.values)
        num_rows = tf.cast(inputs.dense_shape[0], tf.int32)
        whole = tf.debugging.assert_equal(
            num_rows % self._slot_num,
            0,
            message=f"inputs of layer {self.name} must have slot_num, {self._slot_num}, rows for each sample",
        )
        if self._only_shapes():
            return tf.zeros([num_rows // self._slot_num, self._slot_num, dim])
        check = tf.debugging.assert_less_equal(
            tf.math.bincount(tf.cast(inputs.indices[:, 0], tf.int32)),
            self._max_nnz,
            message=f"a slot of the inputs of layer {self.name} has more keys than max_nnz, {self._max_nnz}",
        )
        with tf.control_dependencies([of for of in (check, whole) if of is not None]):
            keys, index = tf.unique(values)
        rows, positions = self._table.fetch(keys, training)
        combined = combine.combine(rows, tf.gather(positions, index), inputs, None, self._combiner, num_rows=num_rows)
        return tf.reshape(combined, [-1, self._slot_num, dim])
