"""Modules and names that DeepRec added to those of 1.15: tables as in core_modules and core_names."""

_API = "tensorflow._api.v2.compat.v1"
_PY = "tensorflow.python"
_EV = "tensorflow.deeprec.embedding"
_FC = "tensorflow.deeprec.feature_columns"
_OPS = "tensorflow.deeprec.ops"
_OPTIMIZERS = "tensorflow.deeprec.optimizers"
_STAGE = "tensorflow.deeprec.stage"

MODULES = {
    "tensorflow.core.framework.embedding": (),
    "tensorflow.core.framework.embedding.config_pb2": f"{_EV}.storage_types",
    f"{_PY}.data.experimental.ops.dataframe": "tensorflow.deeprec.data.dataframe",
    f"{_PY}.data.experimental.ops.parquet_dataset_ops": "tensorflow.deeprec.data.parquet_dataset",
    f"{_PY}.ops.gen_kv_variable_ops": f"{_EV}.gen_kv_variable_ops",
    f"{_PY}.ops.fused_embedding_ops": f"{_EV}.group_lookup",
    f"{_PY}.ops.group_embedding_lookup_ops": f"{_EV}.group_lookup",
    f"{_PY}.ops.hash_table": (),
    f"{_PY}.ops.hash_table.hash_table": f"{_EV}.hash_table",
    f"{_PY}.ops.kv_variable_ops": f"{_EV}.kv_variable_ops",
    f"{_PY}.ops.prefetch": f"{_STAGE}.prefetch",
    f"{_PY}.ops.prefetch_runner": f"{_STAGE}.runner",
    f"{_PY}.ops.work_queue": "tensorflow.deeprec.work_queue.work_queue",
    f"{_PY}.training.incremental_saver": "tensorflow.deeprec.incremental.saver",
    **{
        f"{_PY}.training.{module}": f"{_OPTIMIZERS}.{module}"
        for module in ("adagrad_decay", "adagrad_decay_v2", "adam_async", "weight_decay_optimizers")
    },
}

_OPTIONS = {
    name: f"{_EV}.options:{name}"
    for name in (
        "CBFFilter",
        "CheckpointOption",
        "CounterFilter",
        "EmbeddingVariableOption",
        "GlobalStepEvict",
        "InitializerOption",
        "L2WeightEvict",
        "StorageOption",
    )
}
_GETTERS = {
    "get_dynamic_dimension_embedding_variable": f"{_EV}.dynamic_dimension:get_dynamic_dimension_embedding_variable",
    "get_embedding_variable": f"{_EV}.getter:get_embedding_variable",
    "get_hash_table": f"{_EV}.hash_table:get_hash_table",
    "get_multihash_variable": f"{_EV}.multihash:get_multihash_variable",
}
_LOOKUPS = {
    "adaptive_embedding_lookup_sparse": f"{_EV}.adaptive:adaptive_embedding_lookup_sparse",
    **{
        name: f"{_EV}.group_lookup:{name}"
        for name in (
            "fused_embedding_lookup_sparse",
            "fused_safe_embedding_lookup_sparse",
            "group_embedding_lookup_sparse",
        )
    },
    "embedding_lookup_sparse_multi_dim": f"{_EV}.lookup_multi_dim:embedding_lookup_sparse_multi_dim",
    "safe_adaptive_embedding_lookup_sparse": f"{_EV}.adaptive:safe_adaptive_embedding_lookup_sparse",
    "safe_embedding_lookup_multi_dim": f"{_EV}.lookup_multi_dim:safe_embedding_lookup_multi_dim",
}
_COLUMNS = {
    name: f"{_EV}.columns:{name}"
    for name in (
        "categorical_column_with_adaptive_embedding",
        "categorical_column_with_embedding",
        "categorical_column_with_multihash",
        "sequence_categorical_column_with_embedding",
    )
}
_COLUMNS.update(
    {name: f"{_EV}.fusion:{name}" for name in ("coalesced_embedding_scope", "group_embedding_column_scope")}
)
_STAGES = {
    "make_prefetch_hook": f"{_STAGE}.hook:make_prefetch_hook",
    "prefetch_join": f"{_STAGE}.public:prefetch_join",
    "staged": f"{_STAGE}.public:staged",
}
_CONFIG = {
    "ExecutorPolicy": "tensorflow.deeprec.config.executor_policy:ExecutorPolicy",
    "SmartStageOptions": f"{_STAGE}.smart_options:SmartStageOptions",
    "graph_optimizer": "tensorflow.deeprec.graph_optimizer",
}
_MORE_COLUMNS = {
    name: f"{_FC}.{module}:{name}"
    for module, names in {
        "cutoff": ("CutoffCategoricalColumn", "cutoff_categorical_column"),
        "hashed": ("HashOnlyCategoricalColumn", "categorical_column_with_hash"),
        "multi_hash": (
            "MultiHashedCategoricalColumn",
            "WeightedMultiHashedCategoricalColumn",
            "categorical_column_with_multi_hash_bucket",
            "weighted_categorical_column_with_multi_hash_bucket",
        ),
        "multi_hash_embedding": ("SharedMultiHashEmbeddingColumn", "multi_hash_embedding_column"),
        "sparse_numeric": (
            "SparseBucketizedColumn",
            "SparseNumericColumn",
            "sparse_bucketized_column",
            "sparse_numeric_column",
        ),
    }.items()
    for name in names
}
_COLUMNS.update({name: target for name, target in _MORE_COLUMNS.items() if name.islower()})
_LAYERS = {
    name: f"{_OPS}.nn_ops:{name}" for name in ("dice", "fused_l2_normalize", "fused_layer_normalize", "logical_sum")
}
_STRINGS = {
    name: f"{_OPS}.string_ops:{name}"
    for name in (
        "string_split_and_pad",
        "trans_csv_id2dense",
        "trans_csv_id2sparse",
        "trans_csv_kv2dense",
        "trans_csv_kv2sparse",
        "trans_csv_to_dense",
    )
}
_DECODERS = {
    name: f"{_OPS}.string_ops:{name}"
    for name in (
        "dense_decode",
        "kv2dense_decode",
        "kv2sparse_decode",
        "sparse_decode",
        "string_to_hash",
        "string_to_hash64",
    )
}
_KAFKA = {name: f"tensorflow.deeprec.kafka.datasets:{name}" for name in ("KafkaDataset", "KafkaGroupIODataset")}
_STITCH = {"dynamic_stitch_fast": f"{_OPS}.nn_ops:dynamic_stitch_fast"}
_ROOT = {**_OPTIONS, **_GETTERS, **_STAGES, **_CONFIG, **_STRINGS}
_TRAIN = {
    "AdagradDecayOptimizer": f"{_OPTIMIZERS}.adagrad_decay:AdagradDecayOptimizer",
    "AdagradDecayOptimizerV2": f"{_OPTIMIZERS}.adagrad_decay_v2:AdagradDecayOptimizerV2",
    "AdamAsyncOptimizer": f"{_OPTIMIZERS}.adam_async:AdamAsyncOptimizer",
    "AdamWOptimizer": f"{_OPTIMIZERS}.weight_decay_optimizers:AdamWOptimizer",
    "DecoupledWeightDecayExtension": f"{_OPTIMIZERS}.weight_decay_optimizers:DecoupledWeightDecayExtension",
    "mark_target_node": f"{_STAGE}.targets:mark_target_node",
    "extend_with_decoupled_weight_decay": f"{_OPTIMIZERS}.weight_decay_optimizers:extend_with_decoupled_weight_decay",
}

NAMES = {
    "tensorflow": _ROOT,
    _API: _ROOT,
    f"{_API}.data": _KAFKA,
    f"{_API}.feature_column": _COLUMNS,
    f"{_API}.nn": {**_LOOKUPS, **_LAYERS, "gelu": f"{_OPS}.nn_ops:gelu"},
    f"{_API}.train": _TRAIN,
    "tensorflow.contrib.layers.feature_column": {
        name: f"tensorflow.contrib.layers.table_columns:{name}"
        for name in ("sparse_column_with_dynamic_dimension_embedding", "sparse_column_with_embedding")
    },
    f"{_PY}.data.ops.readers": {**_KAFKA, "write_kafka": "tensorflow.deeprec.kafka.datasets:write_kafka"},
    f"{_PY}.feature_column.feature_column_lib": _COLUMNS,
    f"{_PY}.feature_column.feature_column_v2": {**_COLUMNS, **_MORE_COLUMNS},
    f"{_PY}.feature_column.sequence_feature_column": {
        "sequence_categorical_column_with_embedding": _COLUMNS["sequence_categorical_column_with_embedding"]
    },
    f"{_PY}.ops.data_flow_ops": _STITCH,
    f"{_PY}.ops.embedding_ops": _LOOKUPS,
    f"{_PY}.ops.nn": {**_LOOKUPS, **_LAYERS},
    f"{_PY}.ops.nn_impl": _LAYERS,
    f"{_PY}.ops.nn_ops": _LAYERS,
    f"{_PY}.ops.sparse_ops": {
        name: f"{_OPS}.sparse_ops:{name}" for name in ("sparse_inner_flatten", "sparse_reverse", "sparse_valid_cutoff")
    },
    f"{_PY}.ops.string_ops": {**_STRINGS, **_DECODERS},
    f"{_PY}.ops.variable_scope": _GETTERS,
    f"{_PY}.ops.variables": _OPTIONS,
    f"{_PY}.training.training": _TRAIN,
}
