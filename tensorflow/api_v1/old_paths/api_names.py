"""Names of the public API of 1.15 that 2.21 lacks, by module of the API."""

_API = "tensorflow._api.v2.compat.v1"
_KERAS = "tf_keras.api._v1.keras"
_OURS = "tensorflow.api_v1.restored"
_TPU_TABLES = ("ADAM", "Adadelta", "Adagrad", "FTRL", "Momentum", "ProximalAdagrad", "RMSProp")
_ROOT = {"pywrap_tensorflow": "tensorflow.python.pywrap_tensorflow"}

NAMES = {
    "tensorflow": _ROOT,
    _API: _ROOT,
    f"{_API}.config": {"experimental_list_devices": f"{_OURS}.eager_context:list_devices"},
    f"{_API}.data.experimental": {
        "CheckpointInputPipelineHook": f"{_OURS}.checkpoint_input_pipeline:CheckpointInputPipelineHook",
        "MapVectorizationOptions": f"{_OURS}.data_options:MapVectorizationOptions",
        "StatsAggregator": f"{_OURS}.data_stats:StatsAggregator",
        "StatsOptions": f"{_OURS}.data_stats:StatsOptions",
        "bytes_produced_stats": f"{_OURS}.data_stats:bytes_produced_stats",
        "latency_stats": f"{_OURS}.data_stats:latency_stats",
    },
    f"{_API}.lite.experimental": {
        "get_potentially_supported_ops": f"{_OURS}.lite_op_hints:get_potentially_supported_ops",
        "nn": f"{_OURS}.lite_op_hints",
    },
    f"{_API}.raw_ops": {
        "CompareAndBitpack": f"{_OURS}.raw_ops:CompareAndBitpack",
        **{
            name: f"{_OURS}.tpu_raw_ops:{name}"
            for kind in _TPU_TABLES
            for way in ("Load", "Retrieve")
            for name in [f"{way}TPUEmbedding{kind}ParametersGradAccumDebug"]
        },
    },
    f"{_API}.tpu.experimental": {
        name: f"{_OURS}.tpu_embedding:{name}"
        for name in ("AdagradParameters", "AdamParameters", "StochasticGradientDescentParameters")
    },
    _KERAS: {
        "__version__": f"{_OURS}.keras_version:__version__",
        "wrappers": "tensorflow.keras.wrappers",
    },
    f"{_KERAS}.experimental": {
        "LinearCosineDecay": f"{_OURS}.keras_schedules:LinearCosineDecay",
        "NoisyLinearCosineDecay": f"{_OURS}.keras_schedules:NoisyLinearCosineDecay",
        "PeepholeLSTMCell": f"{_OURS}.keras_recurrent:PeepholeLSTMCell",
        "export_saved_model": f"{_OURS}.keras_export:export_saved_model",
        "load_from_saved_model": f"{_OURS}.keras_export:load_from_saved_model",
        "terminate_keras_multiprocessing_pools": (
            f"{_OURS}.keras_multiprocessing:terminate_keras_multiprocessing_pools"
        ),
    },
    f"{_KERAS}.mixed_precision": {"experimental": f"{_OURS}.keras_policy"},
    f"{_KERAS}.utils": {
        "HDF5Matrix": f"{_OURS}.keras_hdf5_matrix:HDF5Matrix",
        "convert_all_kernels_in_model": f"{_OURS}.keras_kernels:convert_all_kernels_in_model",
        "multi_gpu_model": f"{_OURS}.keras_multi_gpu:multi_gpu_model",
    },
}

# 1.15's tf.compat.v2 had these too; and a few that 2.x kept for tf.compat.v1 only.
_V2 = "tensorflow._api.v2.compat.v2"
for _part in ("config", "data.experimental", "raw_ops"):
    NAMES[f"{_V2}.{_part}"] = dict(NAMES[f"{_API}.{_part}"])
for _part in ("", ".experimental", ".mixed_precision", ".utils"):
    NAMES[f"tf_keras.api._v2.keras{_part}"] = dict(NAMES[f"{_KERAS}{_part}"])
NAMES[f"{_V2}.train.experimental"] = {
    name: f"{_API}.train.experimental:{name}"
    for name in (
        "DynamicLossScale",
        "FixedLossScale",
        "LossScale",
        "disable_mixed_precision_graph_rewrite",
        "enable_mixed_precision_graph_rewrite",
    )
}
