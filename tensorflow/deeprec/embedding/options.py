"""What a user may ask of an EmbeddingVariable. Names and defaults are DeepRec's; values are checked when given."""

import math
import numbers
import os

from tensorflow.deeprec.embedding import storage_types
from tensorflow.python.framework import dtypes

_GIB = 1 << 30
_TIERS = 4
# The most occurrences that a waiting key can count.
_MAX_FREQUENCY = 2**31 - 1
_MAX_INT32 = 2**31 - 1
_MAX_INT64 = 2**63 - 1
# Of keys that a Bloom filter is made for; that many need terabytes.
_MAX_ELEMENTS = 2**40

_ON_DISK = (
    storage_types.LEVELDB,
    storage_types.SSDHASH,
    storage_types.DRAM_SSDHASH,
    storage_types.DRAM_LEVELDB,
    storage_types.DRAM_PMEM_SSDHASH,
)
# Type that is asked for -> that of the counters. Scripts for DeepRec name tf.int64.
_COUNTERS = {
    **{kind: kind for kind in (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)},
    dtypes.int8: dtypes.uint8,
    dtypes.int16: dtypes.uint16,
    dtypes.int32: dtypes.uint32,
    dtypes.int64: dtypes.uint64,
}


def warn_without_effect(owner: str, why: str, **arguments) -> None:
    """One warning for each argument that is given (not None) and that nothing here acts on."""
    from tensorflow.api_v1 import moved_names

    for name, value in arguments.items():
        if value is not None:
            moved_names.warn_once(f"{owner}: {name}={value!r} has no effect: {why}", stacklevel=4)


def integer_in(argument: str, value, low: int, high: int) -> int:
    """`value` as an int.

    Raises:
      ValueError: it is no integer in [low, high].
    """
    whole = isinstance(value, numbers.Real) and not isinstance(value, bool) and value == value // 1
    if not whole or not low <= value <= high:
        raise ValueError(f"{argument} must be an integer in [{low}, {high}], got {value!r}")
    return int(value)


def _number(argument: str, value) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{argument} must be a number, got {value!r}")
    return value


class InitializerOption:
    """Where the rows of new keys come from.

    Args:
      initializer: initializer, or value of shape `[dim]` or `[rows, dim]`; None: the `initializer` argument of
        `tf.get_embedding_variable`.
      default_value_dim: number of rows of the pool that the initializer fills once; key k starts as row
        `k mod default_value_dim`. A value of one row makes it 1.
      default_value_no_permission: each element of what a key reads as that a filter has not admitted.

    Raises:
      ValueError: default_value_dim is no positive integer, default_value_no_permission no number.
    """

    def __init__(self, initializer=None, default_value_dim=4096, default_value_no_permission=0.0):
        self.initializer = initializer
        self.default_value_dim = integer_in("default_value_dim", default_value_dim, 1, _MAX_INT32)
        self.default_value_no_permission = _number("default_value_no_permission", default_value_no_permission)


class CounterFilter:
    """Admits a key when it has been trained `filter_freq` times, counted exactly.

    Raises:
      ValueError: filter_freq is no integer in [0, 2^31).
    """

    def __init__(self, filter_freq=0):
        self.filter_freq = integer_in("filter_freq", filter_freq, 0, _MAX_FREQUENCY)


class CBFFilter:
    """Admits a key when it has been trained `filter_freq` times, counted by a counting Bloom filter.

    It needs `ceil(n |ln p| / (ln 2)^2)` counters, for n = max_element_size keys and p = false_positive_probability,
    whatever the number of keys; a key may be admitted early, never late. The counts are not saved.

    Args:
      filter_freq: occurrences before a key is admitted.
      max_element_size: number of keys the filter is made for.
      false_positive_probability: in (0, 1); -1 together with max_element_size 0: counts exactly, as CounterFilter.
      counter_type: tf.uint8, tf.uint16, tf.uint32 or tf.uint64, or the signed type of that size, which counts as far; a
        threshold that does not fit acts as the largest value.

    Raises:
      ValueError: a value is out of range, or only one of max_element_size and false_positive_probability is given.
    """

    def __init__(self, filter_freq=0, max_element_size=0, false_positive_probability=-1.0, counter_type=dtypes.uint64):
        max_element_size = integer_in("max_element_size", max_element_size, 0, _MAX_ELEMENTS)
        if _number("false_positive_probability", false_positive_probability) != -1.0 and not (
            0 < false_positive_probability < 1
        ):
            raise ValueError(f"false_positive_probability must be in (0, 1), or -1, got {false_positive_probability!r}")
        if false_positive_probability != -1.0 and max_element_size <= 0:
            raise ValueError(
                f"max_element_size must be positive with false_positive_probability={false_positive_probability!r}, "
                f"got {max_element_size!r}"
            )
        if false_positive_probability == -1.0 and max_element_size != 0:
            raise ValueError(
                f"false_positive_probability must be given with max_element_size={max_element_size!r}, got -1"
            )
        counter = _COUNTERS.get(dtypes.as_dtype(counter_type))
        if counter is None:
            raise ValueError(
                f"counter_type must be tf.uint8, uint16, uint32, uint64 or signed of these sizes, got {counter_type!r}"
            )
        self.filter_freq = integer_in("filter_freq", filter_freq, 0, _MAX_FREQUENCY)
        self.max_element_size = max_element_size
        self.false_positive_probability = false_positive_probability
        self.counter_type = counter


class GlobalStepEvict:
    """Saving removes the keys that were last trained more than `steps_to_live` global steps ago.

    Raises:
      ValueError: steps_to_live is neither a positive integer nor None.
    """

    def __init__(self, steps_to_live=None):
        self.steps_to_live = (
            None if steps_to_live is None else integer_in("steps_to_live", steps_to_live, 1, _MAX_INT64)
        )


class L2WeightEvict:
    """Saving removes the keys with half the squared L2 norm of their row below `l2_weight_threshold`.

    Raises:
      ValueError: l2_weight_threshold is neither positive and finite nor -1 (off).
    """

    def __init__(self, l2_weight_threshold=-1.0):
        if _number("l2_weight_threshold", l2_weight_threshold) != -1.0 and not 0 < l2_weight_threshold < math.inf:
            raise ValueError(f"l2_weight_threshold must be positive and finite, or -1, got {l2_weight_threshold!r}")
        self.l2_weight_threshold = l2_weight_threshold


class StorageOption:
    """Where rows are kept.

    Args:
      storage_type: one of `tensorflow.core.framework.embedding.config_pb2.StorageType`. None, DEFAULT and DRAM: in memory
        alone. DRAM_SSDHASH, DRAM_LEVELDB (files, the same here), DRAM_PMEM (mapped memory) and DRAM_PMEM_SSDHASH: rows that
        memory has no room for are in the tiers below it.
      storage_path: folder of the files of the lower tiers; made if it does not exist. They are temporary: removed with the
        variable, or when the process ends. Needed for all but DRAM_PMEM, whose second tier without it is in anonymous memory.
      storage_size: bytes of rows that each tier holds, a list; missing ones are 1 GiB. The last tier has no bound. A row takes
        its variable's and slots' elements, each rounded up to 16 bytes. Every partition of a variable has so much.
      cache_strategy: which rows stay in the first tier: those used most (`CacheStrategy.LFU`) or last (`LRU`).
      layout: without effect, with a warning, as `storage_size` and a `cache_strategy` other than LFU are where all rows are
        in memory.

    Raises:
      ValueError: a value is of another kind, storage_path is given without storage_type or missing where the type needs it,
        or cannot be made or written.
    """

    def __init__(
        self,
        storage_type=None,
        storage_path=None,
        storage_size=None,
        cache_strategy=storage_types.CacheStrategy.LFU,
        layout=None,
    ):
        if storage_size is not None and not isinstance(storage_size, list):
            raise ValueError(f"storage_size must be a list of bytes per tier, got {storage_size!r}")
        sizes = [integer_in("storage_size", size, 1, _MAX_INT64) for size in storage_size or []]
        if storage_path is not None and storage_type is None:
            raise ValueError(f"storage_type must be given with storage_path={storage_path!r}, got None")
        if storage_type is not None and storage_type not in storage_types.StorageType.values():
            raise ValueError(f"storage_type must be a value of config_pb2.StorageType, got {storage_type!r}")
        if cache_strategy not in storage_types.CacheStrategy.values():
            raise ValueError(f"cache_strategy must be CacheStrategy.LRU (0) or LFU (1), got {cache_strategy!r}")
        if storage_type in _ON_DISK and not storage_path:
            raise ValueError(
                f"storage_path must be given with storage_type {storage_types.StorageType.Name(storage_type)}, got None"
            )
        in_memory = storage_type not in storage_types.MULTI_TIER
        warn_without_effect(
            "tf.StorageOption",
            "rows are in memory alone",
            storage_size=sizes if in_memory and sizes else None,
            cache_strategy=cache_strategy if in_memory and cache_strategy != storage_types.CacheStrategy.LFU else None,
        )
        warn_without_effect("tf.StorageOption", "there is one layout", layout=layout)
        if storage_path:
            storage_path = os.fspath(storage_path)
            _make_folder(storage_path)
        self.storage_type = storage_type
        self.storage_path = storage_path
        self.storage_size = [*sizes, *[_GIB] * (_TIERS - len(sizes))]
        self.cache_strategy = cache_strategy
        self.layout = layout


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise ValueError(f"storage_path must be a folder that exists or can be made, got {path!r}: {error}") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise ValueError(f"storage_path must be a folder that can be written, got {path!r}")


class CheckpointOption:
    """A checkpoint that an EmbeddingVariable starts from.

    Args:
      ckpt_to_load_from: prefix of the checkpoint, or its folder.
      tensor_name_in_ckpt: the variable's name there; None: its own.
      always_load_from_specific_ckpt: whether it is loaded too where the program's own checkpoint is restored.
      init_data_source: without effect, with a warning.
    """

    def __init__(
        self,
        ckpt_to_load_from=None,
        tensor_name_in_ckpt=None,
        always_load_from_specific_ckpt=False,
        init_data_source=None,
    ):
        warn_without_effect("tf.CheckpointOption", "only checkpoints are read", init_data_source=init_data_source)
        self.ckpt_to_load_from = ckpt_to_load_from
        self.tensor_name_in_ckpt = tensor_name_in_ckpt
        self.always_load_from_specific_ckpt = always_load_from_specific_ckpt
        self.init_data_source = init_data_source


class EmbeddingVariableOption:
    """Everything that an EmbeddingVariable may be asked for.

    Args:
      ht_type: without effect, with a warning: there is one kind of table.
      ht_partition_num: buckets that keys are grouped by in checkpoints. Others than 1000, the format's, are without effect,
        with a warning.
      evict_option: GlobalStepEvict, L2WeightEvict or None.
      ckpt: CheckpointOption or None.
      filter_option: CounterFilter, CBFFilter or None.
      storage_option: StorageOption.
      init_option: InitializerOption.

    Raises:
      ValueError: an option is of another class.
    """

    def __init__(
        self,
        ht_type="",
        ht_partition_num=1000,
        evict_option=None,
        ckpt=None,
        filter_option=None,
        storage_option=None,
        init_option=None,
    ):
        _check_class("evict_option", evict_option, GlobalStepEvict, L2WeightEvict)
        _check_class("ckpt", ckpt, CheckpointOption)
        _check_class("filter_option", filter_option, CounterFilter, CBFFilter)
        _check_class("storage_option", storage_option, StorageOption)
        _check_class("init_option", init_option, InitializerOption)
        warn_without_effect("tf.EmbeddingVariableOption", "there is one kind of table", ht_type=ht_type or None)
        warn_without_effect(
            "tf.EmbeddingVariableOption",
            "checkpoints have 1000 buckets",
            ht_partition_num=None if ht_partition_num == 1000 else ht_partition_num,
        )
        self.ht_type = ht_type
        self.ht_partition_num = ht_partition_num
        self.evict = evict_option
        self.ckpt = ckpt
        self.filter_strategy = filter_option
        self.storage_option = storage_option or StorageOption()
        self.init = init_option or InitializerOption()


def _check_class(argument: str, value, *classes: type) -> None:
    if value is not None and not isinstance(value, classes):
        raise ValueError(f"{argument} must be {' or '.join(c.__name__ for c in classes)}, got {value!r}")
