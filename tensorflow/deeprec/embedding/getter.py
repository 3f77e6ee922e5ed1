"""`tf.get_embedding_variable`: makes or reuses an EmbeddingVariable in the variable scope."""

import os

from tensorflow.deeprec.embedding import options as options_lib
from tensorflow.deeprec.embedding import storage_types
from tensorflow.deeprec.embedding.variable import EmbeddingVariable, TableConfig
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, init_ops, variable_scope, variables

_VALUE_DTYPES = (dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.float16)
_KEY_DTYPES = (dtypes.int64, dtypes.int32)
# What a partitioner is told of the rows: keys are spread by their remainder by this, so more parts make no sense.
_ROWS_TO_PARTITION = 1000


class DefaultRows:
    """An initializer of the pool of default rows. The shape it is asked for does not matter."""

    def __init__(self, initializer, rows: int, dim: int):
        self._initializer = initializer
        self._rows = rows
        self._dim = dim

    def __call__(self, shape=None, dtype=None, partition_info=None):
        del shape, partition_info
        initializer = self._initializer
        if isinstance(initializer, type):
            initializer = initializer()
        if callable(initializer):
            return initializer([self._rows, self._dim], dtype=dtype)
        value = ops.convert_to_tensor(initializer, dtype=dtype)
        if value.shape.num_elements() is not None and value.shape.num_elements() % self._dim:
            raise ValueError(
                f"An initial value of an EmbeddingVariable of dim {self._dim} must have shape [dim] or [rows, dim], "
                f"got {value.shape}"
            )
        return array_ops.reshape(value, [-1, self._dim])


def table_config(option: options_lib.EmbeddingVariableOption, steps_to_live=None) -> TableConfig:
    """What `option`, the deprecated `steps_to_live` and the environment ask of a table.

    Raises:
      ValueError: both steps_to_live and an L2WeightEvict are given, or storage_type is none that there is, or goes with a
        CBFFilter.
    """
    values = {"default_value_no_permission": float(option.init.default_value_no_permission)}
    if isinstance(option.evict, options_lib.L2WeightEvict):
        if steps_to_live is not None:
            raise ValueError(
                f"steps_to_live={steps_to_live!r} and evict_option=L2WeightEvict exclude each other: give one of them."
            )
        values["l2_weight_threshold"] = option.evict.l2_weight_threshold
    elif option.evict is not None:
        steps_to_live = option.evict.steps_to_live
    if steps_to_live is not None:
        values["steps_to_live"] = options_lib.GlobalStepEvict(steps_to_live).steps_to_live
    strategy = option.filter_strategy
    if strategy is not None:
        values["filter_freq"] = strategy.filter_freq
    if isinstance(strategy, options_lib.CBFFilter) and strategy.false_positive_probability != -1.0:
        values["max_element_size"] = strategy.max_element_size
        values["false_positive_probability"] = strategy.false_positive_probability
        values["counter_type"] = strategy.counter_type
    values.update(_storage(option))
    values["record_freq"] = (
        bool(values.get("filter_freq")) or "storage_type" in values or _switched_on("TF_RECORD_FREQ")
    )
    values["record_version"] = "steps_to_live" in values or _switched_on("TF_RECORD_VERSION")
    return TableConfig(**values)


def _storage(option: options_lib.EmbeddingVariableOption) -> dict:
    storage = option.storage_option
    if storage.storage_type in (None, storage_types.DEFAULT, storage_types.DRAM):
        return {}
    name = storage_types.StorageType.Name(storage.storage_type)
    if storage.storage_type not in storage_types.MULTI_TIER:
        raise ValueError(
            f"storage_type {name} is not available: "
            + ("there is no GPU. " if "HBM" in name else "the first tier is in memory. ")
            + "Use DRAM, DRAM_PMEM, DRAM_SSDHASH, DRAM_LEVELDB or DRAM_PMEM_SSDHASH."
        )
    strategy = option.filter_strategy
    if isinstance(strategy, options_lib.CBFFilter) and strategy.false_positive_probability != -1.0:
        raise ValueError(
            f"filter_option=CBFFilter and storage_type {name} exclude each other: use CounterFilter, or DRAM."
        )
    return {
        "storage_type": storage.storage_type,
        "storage_path": os.path.abspath(storage.storage_path) if storage.storage_path else "",
        "storage_size": tuple(storage.storage_size),
        "cache_strategy": storage.cache_strategy,
    }


def _switched_on(variable: str) -> bool:
    return os.environ.get(variable, "0").lower() in ("1", "true")


def get_embedding_variable(
    name,
    embedding_dim,
    key_dtype=dtypes.int64,
    value_dtype=None,
    initializer=None,
    regularizer=None,
    trainable=True,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    custom_getter=None,
    constraint=None,
    steps_to_live=None,
    init_data_source=None,
    ev_option=None,
):
    """Gets an EmbeddingVariable of the variable scope, or makes it.

    Args:
      name: its name in the scope.
      embedding_dim: elements of a row, positive.
      key_dtype: tf.int64 or tf.int32.
      value_dtype: tf.float32 (None), tf.float64, tf.bfloat16 or tf.float16.
      initializer: of the default rows; `ev_option.init_option.initializer` goes before it. Both None: the scope's, else a
        truncated normal.
      regularizer: must be None, that of the scope too: there is no value to regularize.
      trainable: whether optimizers find it.
      collections: None: GLOBAL_VARIABLES. EMBEDDING_VARIABLES is always added.
      caching_device: without effect, with a warning: rows are read where they are.
      partitioner: as `tf.fixed_size_partitioner(n)`: n parts `name/part_0` ...; key k is in part `(k mod 1000) mod n`.
      validate_shape: without effect, with a warning if False: a row's size is known.
      custom_getter: as in `tf.get_variable`.
      constraint: must be None, that of the scope too: there is no value to project.
      steps_to_live: deprecated form of `ev_option.evict_option=tf.GlobalStepEvict(...)`.
      init_data_source: without effect, with a warning.
      ev_option: tf.EmbeddingVariableOption.

    Returns:
      EmbeddingVariable, or PartitionedVariable of them.

    Raises:
      ValueError: an argument is out of range, or the name is in use with other options.
      RuntimeError: eager execution is enabled.
    """
    why = "rows are read where they are, and start from default rows or a checkpoint"
    options_lib.warn_without_effect(
        "tf.get_embedding_variable", why, caching_device=caching_device, init_data_source=init_data_source
    )
    options_lib.warn_without_effect(
        "tf.get_embedding_variable", "a row's size is known", validate_shape=None if validate_shape else validate_shape
    )
    option = ev_option if ev_option is not None else options_lib.EmbeddingVariableOption()
    if not isinstance(option, options_lib.EmbeddingVariableOption):
        raise ValueError(f"ev_option must be a tf.EmbeddingVariableOption, got {ev_option!r}")
    embedding_dim = options_lib.integer_in("embedding_dim", embedding_dim, 1, 2**31 - 1)
    key_dtype = _one_of("key_dtype", key_dtype, _KEY_DTYPES)
    value_dtype = _one_of("value_dtype", value_dtype or dtypes.float32, _VALUE_DTYPES)
    config = table_config(option, steps_to_live)

    scope = variable_scope.get_variable_scope()
    _check_no_whole_value("regularizer", regularizer, scope.regularizer, "Regularize what is looked up.")
    _check_no_whole_value("constraint", constraint, scope.constraint, "Use max_norm of the lookup.")
    chosen = next((i for i in (option.init.initializer, initializer, scope.initializer) if i is not None), None)
    rows = DefaultRows(
        init_ops.truncated_normal_initializer() if chosen is None else chosen,
        option.init.default_value_dim,
        embedding_dim,
    )

    def create(next_creator, **kwargs):
        del next_creator
        variable_name = kwargs["name"]
        made = EmbeddingVariable(
            variable_name,
            kwargs["initial_value"],
            embedding_dim,
            key_dtype,
            value_dtype,
            config,
            trainable=kwargs["trainable"],
            collections=kwargs["collections"],
            constraint=kwargs["constraint"],
            storage_type=option.storage_option.storage_type or storage_types.DEFAULT,
        )
        made.default_value_dim = option.init.default_value_dim
        made.counts_in_lookups = kwargs["trainable"] and _switched_on("TF_EMBEDDING_FBJ_OPT")
        new.append(made)
        return made

    new = []
    partitioned = partitioner if partitioner is not None else scope.partitioner
    if partitioned is not None:
        partitioned = _by_keys(partitioned)
    with variable_scope.variable_creator_scope_v1(create):
        found = variable_scope.get_variable(
            name,
            shape=[_ROWS_TO_PARTITION, embedding_dim] if partitioned is not None else [embedding_dim],
            dtype=value_dtype,
            initializer=rows,
            trainable=trainable,
            collections=collections,
            caching_device=caching_device,
            partitioner=partitioned,
            validate_shape=False,
            use_resource=True,
            custom_getter=custom_getter,
            constraint=constraint,
        )
    for part in found if isinstance(found, variables.PartitionedVariable) else [found]:
        _check_same(part, key_dtype, config, option.init.default_value_dim)
    for part in new:
        part.number_of_parts = len(new)
    if new and option.ckpt is not None and option.ckpt.ckpt_to_load_from:
        _start_from_checkpoint(new, option.ckpt, _whole_name(found))
    return found


def _one_of(argument, value, allowed):
    try:
        dtype = dtypes.as_dtype(value)
    except TypeError:
        dtype = None
    if dtype not in allowed:
        raise ValueError(f"{argument} must be {', '.join('tf.' + d.name for d in allowed)}, got {value!r}")
    return dtype


def _check_no_whole_value(argument, given, of_scope, instead):
    for where, value in (("", given), (" of the variable scope", of_scope)):
        if value is not None:
            raise ValueError(
                f"{argument}{where} must be None, got {value!r}: an EmbeddingVariable has no value as a whole. {instead}"
            )


def _by_keys(partitioner):
    """The partitioner, held to what makes sense here: parts are sets of keys."""

    def checked(shape, dtype):
        parts = list(partitioner(shape=shape, dtype=dtype))
        if any(number != 1 for number in parts[1:]):
            raise ValueError(f"partitioner must cut axis 0, the keys, alone; it gave {parts} parts of the axes.")
        return parts

    return checked


def _whole_name(variable) -> str:
    return variable.name if isinstance(variable, variables.PartitionedVariable) else variable.op.name


def _start_from_checkpoint(parts, option: options_lib.CheckpointOption, name: str) -> None:
    from tensorflow.deeprec.embedding import initial_checkpoints

    source = initial_checkpoints.source_in(
        option.ckpt_to_load_from, option.tensor_name_in_ckpt or name, option.always_load_from_specific_ckpt
    )
    for part in parts:
        initial_checkpoints.start_from(part, source)


def _check_same(variable, key_dtype, config, default_value_dim) -> None:
    if not isinstance(variable, EmbeddingVariable):
        raise ValueError(f"{variable.name} exists already and is no EmbeddingVariable.")
    if (variable.key_dtype, variable.config) != (key_dtype, config):
        raise ValueError(
            f"EmbeddingVariable {variable.name} exists already with keys of {variable.key_dtype.name} and "
            f"{variable.config}; got {key_dtype.name} and {config}."
        )
    if variable.default_value_dim not in (None, default_value_dim):
        raise ValueError(
            f"EmbeddingVariable {variable.name} exists already with default_value_dim {variable.default_value_dim}; got "
            f"{default_value_dim}."
        )
