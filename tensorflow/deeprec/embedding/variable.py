"""The EmbeddingVariable object: a handle to a table, in a graph."""

import contextlib
import dataclasses

from tensorflow.deeprec import library
from tensorflow.deeprec.embedding import control_flow, storage_types
from tensorflow.python.framework import (
    constant_op,
    dtypes,
    indexed_slices,
    ops,
    tensor_conversion_registry,
    tensor_shape,
)
from tensorflow.python.ops import array_ops, array_ops_stack, math_ops, resource_variable_ops, variables
from tensorflow.python.training import device_setter, training_util

# What keeps DeepRec's hash map from finding a key; every key is legal here, so these are names only.
_INVALID_KEYS = {dtypes.int64: 2**63 - 1, dtypes.int32: -1}

# tf.GraphKeys.EMBEDDING_VARIABLES, which the 2.x root lacks.
COLLECTION = "embedding_variables"

# Attribute of a graph: the variables that a meta graph brought, by the name of their handle.
_IMPORTED = "_deprec_imported_embedding_variables"


@dataclasses.dataclass(frozen=True)
class TableConfig:
    """What the table of an EmbeddingVariable is made of: the attributes of its initializer op.

    Two variables of one name must have the same.
    """

    filter_freq: int = 0
    max_element_size: int = 0
    false_positive_probability: float = -1.0
    counter_type: dtypes.DType = dtypes.uint64
    steps_to_live: int = 0
    l2_weight_threshold: float = -1.0
    default_value_no_permission: float = 0.0
    record_freq: bool = False
    record_version: bool = False
    # Of more than one tier only: DEFAULT stands for DRAM too.
    storage_type: int = storage_types.DEFAULT
    storage_path: str = ""
    storage_size: tuple[int, ...] = ()
    cache_strategy: int = storage_types.LFU

    @classmethod
    def of_op(cls, op: ops.Operation) -> "TableConfig":
        """Reads it back from an initializer op, as an imported graph has it."""
        values = {field.name: op.get_attr(field.name) for field in dataclasses.fields(cls)}
        values["storage_path"] = values["storage_path"].decode()
        values["storage_size"] = tuple(values["storage_size"])
        return cls(**values)


class EmbeddingVariable(resource_variable_ops.BaseResourceVariable):
    """A table of rows of `[dim]` found by int64 or int32 keys; it has no fixed size.

    A key without a row reads as its default row, and gets a row of its own when an optimizer first updates it. The slots
    of the optimizer live with the rows. Made by `tf.get_embedding_variable`; graph mode only.

    `value()`, `read_value()` and the assign methods raise NotImplementedError: look keys up instead.
    """

    # What `tables.is_table` asks.
    is_embedding_table = True

    def __init__(
        self,
        name,
        initial_value,
        dim,
        key_dtype,
        value_dtype,
        config,
        trainable=True,
        collections=None,
        primary=None,
        constraint=None,
        storage_type=0,
        block_num=1,
    ):
        """Adds the variable to the default graph.

        Args:
          name: name in the graph, made unique.
          initial_value: callable that gives the default rows, a `[rows, dim]` tensor.
          dim: elements of a row.
          key_dtype: tf.int64 or tf.int32.
          value_dtype: tf.float32, float64, bfloat16 or float16.
          config: TableConfig.
          trainable: whether optimizers find it.
          collections: collections it is added to; None: GLOBAL_VARIABLES.
          primary: for a slot, the EmbeddingVariable it belongs to.
          constraint: must be None for a trainable variable; kept as an attribute.
          storage_type: a StorageType, kept as an attribute.
          block_num: number of blocks of a dynamic-dimension variable, kept as an attribute.
        """
        ops_ = library.ops()
        with ops.init_scope():
            if not ops.get_default_graph().building_function and ops.executing_eagerly_outside_functions():
                raise RuntimeError(f"EmbeddingVariable {name!r} needs graph mode: eager execution is enabled.")
            with ops.name_scope(name, "EmbeddingVariable") as scope:
                handle_name = ops.name_from_scope_name(scope)
                # Part of the primary's table, a slot is where that is.
                place = contextlib.nullcontext() if primary is None else ops.colocate_with(primary.op)
                with place:
                    handle = ops_.kv_var_handle_op(
                        dtype=value_dtype, shape=[dim], Tkeys=key_dtype, shared_name=handle_name, name=scope
                    )
                with ops.name_scope("Initializer"), ops.device(None):
                    value = ops.convert_to_tensor(initial_value(), dtype=value_dtype, name="initial_value")
                with ops.colocate_with(handle.op):
                    # A slot becomes part of the table, so that has to be there.
                    with ops.control_dependencies([primary.initializer] if primary is not None else []):
                        initializer = ops_.initialize_kv_variable_v2_op(
                            handle,
                            handle if primary is None else primary.handle,
                            value,
                            constant_op.constant(_INVALID_KEYS[key_dtype], key_dtype),
                            name="Assign",
                            **dataclasses.asdict(config),
                        )
                    is_initialized = ops_.kv_var_is_initialized_op(handle, name="IsInitialized")
            super().__init__(
                trainable=trainable,
                shape=[dim],
                dtype=value_dtype,
                handle=handle,
                name=name,
                unique_id=handle_name,
                handle_name=handle_name,
                graph_element=handle,
                initial_value=value,
                initializer_op=initializer,
                is_initialized_op=is_initialized,
                constraint=constraint,
                in_graph_mode=True,
            )
        self._finish(key_dtype, config, primary, storage_type, block_num)
        graph = ops.get_default_graph()
        keys = [ops.GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if trainable and ops.GraphKeys.TRAINABLE_VARIABLES not in keys:
            keys.append(ops.GraphKeys.TRAINABLE_VARIABLES)
        if COLLECTION not in keys:
            keys.append(COLLECTION)
        graph.add_to_collections(keys, self)

    @classmethod
    def _variable_call(cls, *unused_args, **unused_kwargs):
        """Tells the metaclass of variables to call this class, not the creators of `tf.Variable`."""
        return None

    def _finish(self, key_dtype, config, primary, storage_type, block_num):
        self._key_dtype = key_dtype
        self._config = config
        self._primary = primary
        # Of a variable: the slots that it has got.
        self.slots = []
        if primary is not None:
            primary.slots.append(self)
        self._storage_type = storage_type
        self._block_num = block_num
        # Lookups whose keys' counts the optimizer will want: (ids, counts or None) of each.
        self._counted_lookups = []
        # Whether a lookup itself inserts and counts (TF_EMBEDDING_FBJ_OPT).
        self.counts_in_lookups = False
        # A CheckpointSource, or None.
        self.checkpoint_source = None
        self._restore_initializer = None
        # Of the partitioned variable that this is a part of, where it is known.
        self.number_of_parts = None
        # As asked for; None where that is not known, in an imported graph.
        self.default_value_dim = None

    # The graph elements.

    @property
    def handle(self):
        """Scalar tensor of dtype tf.resource."""
        return self._handle

    @property
    def op(self):
        return self._handle.op

    @property
    def invalid_key(self):
        """DeepRec's marker of no key. Here it is a key as any other."""
        return _INVALID_KEYS[self._key_dtype]

    @property
    def key_dtype(self):
        """tf.int64 or tf.int32."""
        return self._key_dtype

    @property
    def config(self) -> TableConfig:
        """What its table is made of."""
        return self._config

    @property
    def primary(self) -> "EmbeddingVariable | None":
        """For an optimizer slot, the variable it belongs to; else None."""
        return self._primary

    @property
    def steps_to_live(self):
        """Global steps after which saving removes keys not trained, or None."""
        return self._config.steps_to_live or None

    @property
    def storage_type(self):
        return self._storage_type or self._config.storage_type

    @property
    def block_num(self):
        return self._block_num

    @property
    def _initializer_for_restore(self):
        """The op that makes the table an import fills. The variable counts as initialized when that has been."""
        if self._restore_initializer is None:
            primary = self._primary
            attributes = dataclasses.asdict(self._config)
            with ops.colocate_with(self._handle.op), ops.control_dependencies(None):
                with ops.control_dependencies([primary._initializer_for_restore] if primary is not None else []):
                    self._restore_initializer = library.ops().initialize_kv_variable_v2_op(
                        self._handle,
                        self._handle if primary is None else primary.handle,
                        self._initial_value,
                        constant_op.constant(self.invalid_key, self._key_dtype),
                        for_restore=True,
                        name=f"{self.op.name}/PrepareRestore",
                        **attributes,
                    )
        return self._restore_initializer

    def is_initialized(self, name=None):
        """Whether its table is there, a scalar bool tensor."""
        return library.ops().kv_var_is_initialized_op(self._handle, name=name)

    def need_counts(self) -> bool:
        """Whether lookups should tell how often each key occurs."""
        return self._config.record_freq or self._config.filter_freq > 0

    # Reading.

    def sparse_read(self, indices, name=None, ev_init_value=None, counts=None):
        """Looks keys up.

        Args:
          indices: keys of the variable's key dtype, any shape.
          name: name of the op.
          ev_init_value: rows of shape `indices.shape + [dim]` that keys without a row start from, instead of their
            default rows. They are inserted by the lookup.
          counts: int tensor of the shape of `indices`: the occurrences that each stands for; None: one. Used where the
            variable records frequencies or has a filter.

        Returns:
          `indices.shape + [dim]`, of the value dtype.

        Raises:
          ValueError: indices are of another dtype than the keys.
          tf.errors.FailedPreconditionError: (when run) the variable is not initialized.
        """
        with ops.name_scope("Gather" if name is None else name) as scope:
            indices = ops.convert_to_tensor(indices, name="indices", dtype_hint=self._key_dtype)
            if indices.dtype != self._key_dtype:
                raise ValueError(
                    f"indices of EmbeddingVariable {self.name} must be {self._key_dtype.name}, got {indices.dtype.name}"
                )
            if self.counts_in_lookups and ev_init_value is None:
                return self._read_and_count(indices, counts, scope)
            rows = library.ops().kv_resource_gather(
                self._handle,
                indices,
                constant_op.constant(0, self._dtype) if ev_init_value is None else ev_init_value,
                is_use_default_value_tensor=ev_init_value is not None,
                name=scope,
            )
            self._count(indices, counts)
        return rows

    def _read_and_count(self, indices, counts, scope):
        """The read of TF_EMBEDDING_FBJ_OPT: inserts and counts, so that the optimizer need not."""
        step = training_util.get_global_step(self._handle.graph)
        rows, _ = library.ops().kv_resource_gather_and_count(
            self._handle,
            indices,
            constant_op.constant([], dtypes.int64) if counts is None else math_ops.cast(counts, dtypes.int64),
            constant_op.constant(-1, dtypes.int64) if step is None else math_ops.cast(step, dtypes.int64),
            dtype=self._dtype,
            name=scope,
        )
        return rows

    def gather_nd(self, indices, name=None):
        raise NotImplementedError("gather_nd is not defined for EmbeddingVariables: use tf.nn.embedding_lookup.")

    def _count(self, indices, counts):
        if not self.need_counts():
            return
        graph = ops.get_default_graph()
        # Tensors of a loop or branch are of no use to an optimizer outside: there each position counts as one.
        if graph._get_control_flow_context() is not None or graph is not self._handle.graph:  # pylint: disable=protected-access
            return
        self._counted_lookups.append((indices, counts))

    def total_count(self, name=None):
        """`[number of keys, dim]`, int32. Keys that wait for admission count."""
        return library.ops().kv_variable_shape(self._handle, out_type=dtypes.int32, name=name)

    get_dynamic_shape = total_count

    def get_frequency(self, ids, name=None):
        """How often each of `ids` was trained, int64 of their shape: 0 if unknown or not recorded."""
        return library.ops().ev_get_frequency(self._handle, self._keys(ids), name=name)

    def get_version(self, ids, name=None):
        """The global step at which each of `ids` was last trained, int64 of their shape: -1 if unknown or not recorded."""
        return library.ops().ev_get_version(self._handle, self._keys(ids), name=name)

    def lookup_tier(self, ids, name=None):
        """The tier that holds the row of each of `ids`, int32 of their shape: 0 the first, -1 no row. Rows that the first tier
        has no room for go down before."""
        return library.ops().kv_resource_lookup_tier(self._handle, self._keys(ids), name=name)

    def export(self, name=None):
        """All keys that have rows: `(keys [n], values [n, dim], versions, freqs)`, the last two `[n]` int64, or `[0]` if
        not recorded."""
        return library.ops().kv_resource_export(self._handle, dtype=self._dtype, Tkeys=self._key_dtype, name=name)

    def _keys(self, ids):
        return ops.convert_to_tensor(ids, dtype=self._key_dtype, name="ids")

    # What a table cannot do.

    def _refuse(self, *unused_args, **unused_kwargs):
        raise NotImplementedError(
            f"EmbeddingVariable {self.name} has no value as a whole: look keys up (tf.nn.embedding_lookup), or export() it."
        )

    value = read_value = assign = assign_add = assign_sub = _read_variable_op = numpy = _refuse
    batch_scatter_update = scatter_add = scatter_sub = scatter_update = scatter_min = scatter_max = _refuse
    scatter_mul = scatter_div = scatter_nd_add = scatter_nd_sub = scatter_nd_update = count_up_to = _refuse
    initialized_value = load = _refuse

    def _dense_var_to_tensor(self, dtype=None, name=None, as_ref=False):
        del dtype, name, as_ref
        self._refuse()

    def _as_graph_element(self):
        return self._handle

    def __repr__(self):
        return f"<tf.EmbeddingVariable {self.name!r} dim={self._shape[0]} dtype={self._dtype.name} keys={self._key_dtype.name}>"

    # Meta graphs.

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        """The variable of a VariableDef, in a graph that has been imported: one object for all collections it is in."""
        graph = ops.get_default_graph()
        if not hasattr(graph, _IMPORTED):
            setattr(graph, _IMPORTED, {})
        made = getattr(graph, _IMPORTED)
        name = ops.prepend_name_scope(variable_def.variable_name, import_scope=import_scope)
        if name not in made:
            made[name] = EmbeddingVariable.__new__(EmbeddingVariable)
            made[name]._init_from_proto(variable_def, import_scope)  # pylint: disable=protected-access
        return made[name]

    def _init_from_proto(self, variable_def, import_scope=None, validate_shape=True):
        del validate_shape
        graph = ops.get_default_graph()

        def element(name, **kwargs):
            return graph.as_graph_element(ops.prepend_name_scope(name, import_scope=import_scope), **kwargs)

        handle = element(variable_def.variable_name, allow_operation=False)
        initializer = element(variable_def.initializer_name)
        op = initializer if isinstance(initializer, ops.Operation) else initializer.op
        resource_variable_ops.BaseResourceVariable.__init__(
            self,
            trainable=variable_def.trainable,
            shape=tensor_shape.TensorShape(handle.op.get_attr("shape")),
            dtype=handle.op.get_attr("dtype"),
            handle=handle,
            unique_id=handle.op.name,
            handle_name=handle.op.name,
            graph_element=handle,
            initial_value=element(variable_def.initial_value_name),
            initializer_op=op,
            is_initialized_op=library.ops().kv_var_is_initialized_op(handle),
            in_graph_mode=True,
        )
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = variables.Variable.SaveSliceInfo(
                save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope
            )
        primary = None
        if op.inputs[1] is not op.inputs[0]:
            primary = next(
                (v for v in graph.get_collection(ops.GraphKeys.EMBEDDING_VARIABLES) if v.handle is op.inputs[1]), None
            )
        self._finish(handle.op.get_attr("Tkeys"), TableConfig.of_op(op), primary, storage_type=0, block_num=1)


def is_embedding_variable(var) -> bool:
    """Whether `var` is an EmbeddingVariable, or all parts of a partitioned one are."""
    if isinstance(var, variables.PartitionedVariable):
        return all(isinstance(part, EmbeddingVariable) for part in var)
    return isinstance(var, EmbeddingVariable)


@ops.RegisterGradient("KvResourceGather")
def _gather_gradient(op, grad):
    handle, indices = op.inputs[0], op.inputs[1]
    control_flow.check_gradient_of_table(handle)
    # Of the dtype that zeros in other branches have, which it must fit.
    shape = library.ops().kv_variable_shape(handle, out_type=dtypes.int32)
    static_dim = tensor_shape.dimension_value(op.outputs[0].shape[-1])
    # Not known: ids of any rank, or a handle whose data got lost on the way.
    dim = array_ops.shape(grad)[-1] if static_dim is None else static_dim
    values = array_ops.reshape(grad, array_ops_stack.stack([array_ops.size(indices), dim]))
    values.set_shape([None, static_dim])
    return indexed_slices.IndexedSlices(values, array_ops.reshape(indices, [-1]), shape), None, None


@ops.RegisterGradient("KvResourceGatherAndCount")
def _counting_gather_gradient(op, grad, unused_grad):
    """Of the positions that saw a row: what others saw is a constant."""
    slices, *_ = _gather_gradient(op, grad)
    admitted = array_ops.reshape(op.outputs[1], [-1])
    of_rows = indexed_slices.IndexedSlices(
        array_ops.boolean_mask(slices.values, admitted),
        array_ops.boolean_mask(slices.indices, admitted),
        slices.dense_shape,
    )
    return of_rows, None, None, None


def _from_proto(released):
    def from_proto(variable_def, import_scope=None):
        """A ResourceVariable, or the EmbeddingVariable whose handle the VariableDef names."""
        graph = ops.get_default_graph()
        name = ops.prepend_name_scope(variable_def.variable_name, import_scope=import_scope)
        if graph.as_graph_element(name, allow_operation=False).op.type == "KvVarHandleOp":
            return EmbeddingVariable.from_proto(variable_def, import_scope)
        return released(variable_def, import_scope=import_scope)

    return staticmethod(from_proto)


def install() -> None:
    """Adds DeepRec's collections, and the variables to what meta graphs can hold."""
    for name, key in (
        ("EMBEDDING_VARIABLES", COLLECTION),
        ("EV_INIT_VAR_OPS", "ev_init_var_ops"),
        ("EV_INIT_SLOT_OPS", "ev_init_slot_ops"),
    ):
        setattr(ops.GraphKeys, name, key)
    # `tf.train.replica_device_setter` puts the handles onto parameter servers.
    device_setter.STANDARD_PS_OPS = (*device_setter.STANDARD_PS_OPS, "KvVarHandleOp")
    cls = resource_variable_ops.ResourceVariable
    cls.from_proto = _from_proto(cls.from_proto)
    from tensorflow.core.framework import variable_pb2

    ops.register_proto_function(
        ops.GraphKeys.EMBEDDING_VARIABLES,
        proto_type=variable_pb2.VariableDef,
        to_proto=ops.get_to_proto_function(ops.GraphKeys.GLOBAL_VARIABLES),
        from_proto=ops.get_from_proto_function(ops.GraphKeys.GLOBAL_VARIABLES),
    )
    tensor_conversion_registry.register_tensor_conversion_function(
        EmbeddingVariable, lambda value, dtype=None, name=None, as_ref=False: value._refuse(), 0
    )
