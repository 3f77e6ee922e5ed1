"""`sok.DynamicVariable`: a table without a fixed number of rows, on the engine of EmbeddingVariables."""

import itertools
import numbers

import tensorflow as tf
from tensorflow.deeprec.embedding.growing import GrowingEmbeddingVariable
from tensorflow.python.ops import resource_variable_ops
from tensorflow.python.platform import tf_logging as logging

from sparse_operation_kit import placement, row_initializers

_numbers = itertools.count()
_DEFAULT_CAPACITY = 64 * 2**20
# What "hybrid" tables are told beside their rows. The kind of each value, and for those without an effect here False.
_CONFIG = {
    "init_capacity": (numbers.Integral, False),
    "max_capacity": (numbers.Integral, True),
    "max_hbm_for_vectors": (numbers.Real, False),
    "max_load_factor": (numbers.Real, False),
    "max_bucket_size": (numbers.Integral, False),
    "block_size": (numbers.Integral, False),
    "device_id": (numbers.Integral, False),
    "io_by_cpu": (bool, False),
    "evict_strategy": (str, True),
    "filter_ratio": (numbers.Real, True),
    "reserved_key_start_bit": (numbers.Integral, False),
    "num_of_buckets_per_alloc": (numbers.Integral, False),
}
_KIND_NAMES = {numbers.Integral: "int", numbers.Real: "a number", bool: "bool", str: "str"}
# Of the rows over its capacity and, to make room for some steps, this share of the capacity more are evicted.
_SLACK = 64


class DynamicVariable(placement.Placed, GrowingEmbeddingVariable):
    """A table of rows of `[dimension]` that are made when their keys are first looked up.

    A rank holds the keys k with k mod n equal to its rank, of n ranks, or with mode "localized:k" rank k holds all. Train it
    with `sok.OptimizerWrapper` or `sok.SGD`.
    """

    def __init__(
        self,
        dimension,
        initializer=None,
        var_type=None,
        name=None,
        constraint=None,
        trainable=True,
        key_type=None,
        dtype=None,
        mode=None,
        **config,
    ):
        """Makes an empty table.

        Args:
          dimension: elements of a row, at least 1.
          initializer: what a new row is. "hbm": None, "" or "random": uniform in [-0.05, 0.05); "ones"; "zeros"; a number as a
            string. "hybrid": None, "random" or "normal": normal, with mean 0 and deviation 1; "uniform": in [0, 1); a number as a
            string. For both: a `tf.Variable` or tensor of one row or one element, taken as it is.
          var_type: "hbm" (None): grows without a bound. "hybrid": keeps the `max_capacity` keys used last.
          name: name of the table in dumps; None: "sok_dynamic_Variable_<i>".
          constraint: must be None.
          trainable: whether tapes watch it.
          key_type: tf.int64 (None) or, for "hbm", tf.int32.
          dtype: tf.float32 (None), float64, float16 or bfloat16.
          mode: "distributed" (None) or "localized:k".
          **config: for "hybrid": max_capacity, keys of a rank, 2^26; evict_strategy, "kLru"; filter_ratio, the probability
            at which `lookup_sparse(use_low_frequency_filter=True)` lets a new key in, 1.0; and those that only a GPU heeds.

        Raises:
          RuntimeError: before `sok.init()`; another mode.
          NotImplementedError: a constraint; a key_type or strategy that is not there.
          ValueError, TypeError: another argument does not fit.
        """
        if not isinstance(dimension, numbers.Integral) or isinstance(dimension, bool) or dimension < 1:
            raise ValueError(f"dimension must be an int of at least 1, got {dimension!r}")
        dimension = int(dimension)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a str, got {name!r}")
        if constraint is not None:
            raise NotImplementedError("constraint must be None: the rows of a DynamicVariable are not constrained")
        self._var_type = "hbm" if var_type is None else var_type
        if self._var_type not in ("hbm", "hybrid"):
            raise ValueError(f'var_type must be "hbm" or "hybrid", got {var_type!r}')
        key_type = tf.as_dtype(tf.int64 if key_type is None else key_type)
        if key_type not in (tf.int64, tf.int32) or (self._var_type == "hybrid" and key_type != tf.int64):
            raise NotImplementedError(
                f'key_type must be tf.int64, or for "hbm" tf.int32, got {key_type.name} with {self._var_type!r}'
            )
        dtype = tf.as_dtype(tf.float32 if dtype is None else dtype)
        if dtype not in (tf.float32, tf.float64, tf.float16, tf.bfloat16):
            raise ValueError(f"dtype must be float32, float64, float16 or bfloat16, got {dtype.name}")
        self._target = placement.target_of(mode)
        self._table_config = _checked_config(self._var_type, config)
        self._row_initializer = row_initializers.get(initializer, self._var_type, dimension, dtype)
        self._static = None
        # Tables of optimizers, whose rows go when a key is evicted here.
        self.slot_tables = []
        super().__init__(
            name or f"sok_dynamic_Variable_{next(_numbers)}",
            dimension,
            key_type,
            dtype,
            self._row_initializer.rows,
            self._row_initializer.defaults,
            trainable=trainable,
            stamps=self._var_type == "hybrid",
        )

    # What it is.

    @property
    def size(self):
        """`[rows, dim]` of this rank's part at this moment, int32."""
        return self.total_count()

    @property
    def shape(self):
        """`[None, dim]`."""
        return tf.TensorShape([None, self.dimension])

    @property
    def key_type(self):
        """tf.int64 or tf.int32."""
        return self.key_dtype

    @property
    def handle_dtype(self):
        """Dtype of the rows."""
        return self.dtype

    @property
    def backend_type(self) -> str:
        """ "hbm" or "hybrid"."""
        return self._var_type

    @property
    def config_dict(self) -> dict:
        """The `**config` that it was made with."""
        return dict(self._table_config)

    @property
    def initializer_str(self) -> str:
        """The initializer as a string; "" for rows that are given as values."""
        return self._row_initializer.text

    @property
    def filter_ratio(self) -> float:
        """The probability at which the low-frequency filter lets a new key in."""
        return float(self._table_config.get("filter_ratio", 1.0))

    @property
    def max_capacity(self):
        """Keys that a rank keeps, or None."""
        return self._table_config.get("max_capacity", _DEFAULT_CAPACITY) if self._var_type == "hybrid" else None

    def key_map(self, indices):
        """What a lookup on this rank asks for a key: the key."""
        return self.cast_keys(indices)

    @property
    def description(self) -> str:
        """What is the same on all ranks, in words."""
        return (
            f"{self.name!r} dimension={self.dimension} dtype={self.dtype.name} "
            f"keys={self.key_dtype.name} {self._var_type} {self.mode}"
        )

    def __repr__(self):
        return f"<sok.DynamicVariable {self.description}>"

    # Rows.

    def sparse_read(self, indices, name=None, ev_init_value=None, counts=None):
        """The rows of keys, `indices.shape + [dim]`; keys that are not there are inserted.

        A "hybrid" table evicts the keys used longest ago if it then has more than `max_capacity`.

        Raises:
          tf.errors.InvalidArgumentError: (when run) one batch has more different keys than that.
        """
        rows = self.sparse_read_without_eviction(indices, name, ev_init_value, counts)
        if self._var_type == "hbm":
            return rows
        with tf.control_dependencies([rows]), tf.control_dependencies([self.evict()[0]]):
            return tf.identity(rows)

    def sparse_read_without_eviction(self, indices, name=None, ev_init_value=None, counts=None):
        """As `sparse_read`, but leaves the keys over `max_capacity` to a call of `evict`."""
        keys = self.cast_keys(indices)
        with tf.control_dependencies(self._capacity_checks(keys)):
            return super().sparse_read(keys, name, ev_init_value, counts)

    def _capacity_checks(self, keys):
        if self._var_type == "hbm":
            return []
        check = tf.debugging.assert_less_equal(
            tf.size(tf.unique(tf.reshape(keys, [-1]))[0]),
            self.max_capacity,
            message=f"{self.name} keeps max_capacity={self.max_capacity} keys, but one batch has more",
        )
        return [] if check is None else [check]

    def insert_within_capacity(self, keys, values):
        """As `insert`; a "hybrid" table then evicts the keys used longest ago if it has more than `max_capacity`.

        Raises:
          tf.errors.InvalidArgumentError: (when run) there are more different keys than that.
        """
        if self._var_type == "hbm":
            return self.insert(keys, values)
        keys = self.cast_keys(keys)
        with tf.control_dependencies(self._capacity_checks(keys)):
            inserted = self.insert(keys, values)
        with tf.control_dependencies([] if tf.executing_eagerly() else [inserted]):
            evicted, _ = self.evict()
        return None if tf.executing_eagerly() else tf.group(inserted, evicted)

    def evict(self):
        """Removes the keys used longest ago if there are more than `max_capacity`.

        Returns:
          `(keys [n], values [n, dim])` of what was removed.
        """
        excess = self.size[0] - self.max_capacity

        def some():
            keys, values, stamps = self.export_with_stamps()
            # Reading them in a batch gives all of its keys one stamp: there may be more room made, never less.
            number = tf.minimum(excess + self.max_capacity // _SLACK, tf.size(keys))
            oldest = tf.argsort(stamps, stable=True)[:number]
            keys, values = tf.gather(keys, oldest), tf.gather(values, oldest)
            with tf.control_dependencies([t.remove(keys) for t in [self, *self.slot_tables]]):
                return tf.identity(keys), tf.identity(values)

        def none():
            return tf.zeros([0], self.key_dtype), tf.zeros([0, self.dimension], self.dtype)

        keys, values = tf.cond(excess > 0, some, none)
        values.set_shape([None, self.dimension])
        return keys, values

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """row -= value for the keys of `sparse_delta`, IndexedSlices of keys and rows; equal keys are summed."""
        del use_locking, name
        return self._scatter(sparse_delta, -1.0)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """row += value; see `scatter_sub`."""
        del use_locking, name
        return self._scatter(sparse_delta, 1.0)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """row = value for the keys of `sparse_delta`, which are inserted if they are not there."""
        del use_locking, name
        keys, values = self._slices(sparse_delta)
        return self.insert_within_capacity(keys, values)

    def _scatter(self, sparse_delta, factor):
        keys, values = self._slices(sparse_delta)
        # Rows start from their initial values, not from those of the engine.
        with tf.control_dependencies([super().sparse_read(tf.stop_gradient(keys))]):
            return self.add(keys, values, factor)

    def _slices(self, sparse_delta):
        if not isinstance(sparse_delta, tf.IndexedSlices):
            raise TypeError(
                f"sparse_delta must be tf.IndexedSlices of keys and rows, got {type(sparse_delta).__name__}"
            )
        return sparse_delta.indices, sparse_delta.values

    # A static copy of some rows, for optimizers that know nothing of keys.

    def to_static(self, indices):
        """Copies the rows of keys `[n]`, all different, into an ordinary variable `[n, dim]`; `to_dynamic` writes them back.

        Returns:
          The op that has copied them.
        """
        if self._static is None:
            self._static = self.make_static(self.name.split(":")[0] + "/static")
            self._static_keys = _scratch(
                tf.zeros([0], self.key_dtype), [None], self.name.split(":")[0] + "/static_keys"
            )
        self._is_static = True
        keys = self.cast_keys(indices)
        rows = super().sparse_read(keys)
        return tf.group(self._static.assign(rows, read_value=False), self._static_keys.assign(keys, read_value=False))

    def make_static(self, name):
        """A variable `[None, dim]` for copies of rows, of no collection: what uses it fills it first."""
        return _scratch(tf.zeros([0, self.dimension], self.dtype), [None, self.dimension], name)

    @property
    def static(self):
        """The variable that `to_static` fills.

        Raises:
          NotImplementedError: there is none now.
        """
        if not self.is_static():
            raise NotImplementedError(f"{self.name} is not static: call to_static(indices) first")
        return self._static

    def to_dynamic(self):
        """Writes the rows of `to_static` back; returns the op."""
        static = self.static
        self._is_static = False
        return self.insert(self._static_keys.read_value(), static.read_value())

    def is_static(self) -> bool:
        """Whether `to_static` was called and `to_dynamic` not since."""
        return getattr(self, "_is_static", False)

    @property
    def indices(self):
        """The keys of the static copy.

        Raises:
          NotImplementedError: there is none now.
        """
        self.static  # pylint: disable=pointless-statement
        return self._static_keys

    def read_value(self):
        """The static copy's value.

        Raises:
          NotImplementedError: there is none now.
        """
        return self.static.read_value()

    value = read_value

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """Sets the static copy; raises NotImplementedError if there is none now."""
        return self.static.assign(value, use_locking, name, read_value)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        """Adds to the static copy; raises NotImplementedError if there is none now."""
        return self.static.assign_add(delta, use_locking, name, read_value)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        """Subtracts from the static copy; raises NotImplementedError if there is none now."""
        return self.static.assign_sub(delta, use_locking, name, read_value)


def _scratch(value, shape, name):
    with tf.init_scope():
        return resource_variable_ops.ResourceVariable(
            value if tf.executing_eagerly() else (lambda: tf.zeros([0, *shape[1:]], value.dtype)),
            trainable=False,
            collections=[],
            shape=tf.TensorShape(shape),
            name=name,
        )


def _checked_config(var_type, config):
    for key, value in config.items():
        if key not in _CONFIG:
            raise TypeError(f"DynamicVariable has no argument {key!r}; config keys are {', '.join(sorted(_CONFIG))}")
        kind = _CONFIG[key][0]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise TypeError(f"{key} must be {_KIND_NAMES[kind]}, got {value!r}")
        if var_type == "hbm":
            raise ValueError(f'{key} is for var_type "hybrid": an "hbm" table grows without a bound')
    if config.get("max_capacity", 1) < 1:
        raise ValueError(f"max_capacity must be at least 1, got {config['max_capacity']}")
    if config.get("evict_strategy", "kLru") != "kLru":
        raise NotImplementedError(f"evict_strategy must be 'kLru', got {config['evict_strategy']!r}")
    if not 0 <= config.get("filter_ratio", 1.0) <= 1:
        raise ValueError(f"filter_ratio must be in [0, 1], got {config['filter_ratio']}")
    idle = sorted(key for key in config if not _CONFIG[key][1])
    if idle:
        logging.warning(
            "DynamicVariable: %s %s no effect: the table is in memory and grows",
            ", ".join(idle),
            "has" if len(idle) == 1 else "have",
        )
    # NumPy's integers would not go with the dtypes of counts.
    return {key: int(value) if _CONFIG[key][0] is numbers.Integral else value for key, value in config.items()}
