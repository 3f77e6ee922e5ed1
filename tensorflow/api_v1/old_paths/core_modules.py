"""Modules outside of Keras that moved, were split, or are written anew in `api_v1.restored`."""

_ESTIMATOR = "tensorflow_estimator.python.estimator"
_OURS = "tensorflow.api_v1.restored"
_PY = "tensorflow.python"

_ESTIMATOR_MODULES = """
canned.baseline canned.boosted_trees canned.boosted_trees_utils canned.dnn canned.dnn_linear_combined canned.head canned.linear
canned.metric_keys canned.optimizers canned.parsing_utils canned.prediction_keys estimator estimator_lib export.export
export.export_lib export.export_output exporter gc inputs.inputs inputs.numpy_io inputs.pandas_io inputs.queues.feeding_functions
inputs.queues.feeding_queue_runner model_fn run_config training util
""".split()
_ESTIMATOR_API = (".experimental", ".export", ".inputs", ".tpu")
_ESTIMATOR_PACKAGES = "canned export inputs inputs.queues".split()
# 1.15 had moved its TPUEstimator to the estimator package already and left the old paths behind.
_TPU_ESTIMATOR_MODULES = "_tpu_estimator_embedding error_handling tpu_config tpu_context tpu_estimator util".split()

MODULES = {
    **{f"tensorflow.compat.v1.estimator{m}": f"tensorflow.estimator{m}" for m in ("", *_ESTIMATOR_API)},
    "tensorflow.compat.v2.estimator": f"{_OURS}.estimator_v2",
    "tensorflow.compat.v2.estimator.experimental": f"{_OURS}.estimator_v2.experimental",
    f"{_ESTIMATOR}.canned.boosted_trees": f"{_OURS}.estimator_boosted_trees",
    f"{_ESTIMATOR}.canned.boosted_trees_utils": f"{_OURS}.estimator_boosted_trees",
    "tensorflow.core.kernels": (),
    "tensorflow.core.kernels.boosted_trees": (),
    "tensorflow.core.kernels.boosted_trees.boosted_trees_pb2": f"{_OURS}.boosted_trees_proto",
    "tensorflow.compat.v2.estimator.export": f"{_OURS}.estimator_v2.export",
    "tensorflow.compiler.xla.experimental": (),
    "tensorflow.compiler.xla.experimental.xla_sharding": (f"{_PY}.compiler.xla.experimental.xla_sharding",),
    "tensorflow.compiler.xla.experimental.xla_sharding.xla_sharding": f"{_PY}.compiler.xla.experimental.xla_sharding",
    "tensorflow.core.protobuf.data": (),
    "tensorflow.core.protobuf.data.experimental": (),
    "tensorflow.core.protobuf.data.experimental.snapshot_pb2": "tensorflow.core.protobuf.snapshot_pb2",
    "tensorflow.core.protobuf.graph_debug_info_pb2": "tensorflow.core.framework.graph_debug_info_pb2",
    "tensorflow.core.protobuf.trace_events_pb2": "tensorflow.tsl.profiler.protobuf.trace_events_pb2",
    "tensorflow.lite.python.interpreter_wrapper.tensorflow_wrap_interpreter_wrapper": (
        "tensorflow.lite.python.interpreter_wrapper._pywrap_tensorflow_interpreter_wrapper"
    ),
    "tensorflow.lite.python.optimize.tensorflow_lite_wrap_calibration_wrapper": (
        "tensorflow.lite.python.optimize._pywrap_tensorflow_lite_calibration_wrapper"
    ),
    "tensorflow.lite.toco.model_flags_pb2": "tensorflow.compiler.mlir.lite.model_flags_pb2",
    f"{_PY}.autograph.converters.function_scopes": f"{_PY}.autograph.converters.functions",
    f"{_PY}.autograph.converters.list_comprehensions": f"{_PY}.autograph.converters.lists",
    f"{_PY}.autograph.core.naming": f"{_PY}.autograph.pyct.naming",
    f"{_PY}.autograph.operators.special_values": f"{_PY}.autograph.operators.variables",
    f"{_PY}.autograph.pyct.compiler": (f"{_PY}.autograph.pyct.loader", f"{_PY}.autograph.pyct.parser"),
    f"{_PY}.autograph.utils.py_func": f"{_PY}.ops.script_ops",
    f"{_PY}.data.experimental.ops.distribute_options": f"{_PY}.data.ops.options",
    f"{_PY}.data.experimental.ops.optimization_options": (f"{_PY}.data.ops.options", f"{_OURS}.data_options"),
    f"{_PY}.data.experimental.ops.stats_aggregator": f"{_OURS}.data_stats",
    f"{_PY}.data.experimental.ops.stats_ops": f"{_OURS}.data_stats",
    f"{_PY}.data.experimental.ops.stats_options": f"{_OURS}.data_stats",
    f"{_PY}.data.experimental.ops.threading_options": f"{_PY}.data.ops.options",
    f"{_PY}.distribute.all_reduce": f"{_PY}.distribute.v1.all_reduce",
    f"{_PY}.distribute.distribution_strategy_context": (
        f"{_PY}.distribute.distribute_lib",
        f"{_OURS}.distribution_context",
    ),
    f"{_PY}.distribute.estimator_training": f"{_OURS}.estimator_training",
    f"{_PY}.eager.profiler": f"{_OURS}.eager_profiler",
    f"{_PY}.eager.profiler_client": f"{_PY}.profiler.profiler_client",
    f"{_PY}.estimator": (),
    **{f"{_PY}.estimator.{m}": (f"{_ESTIMATOR}.{m}",) for m in _ESTIMATOR_PACKAGES},
    **{f"{_PY}.estimator.{m}": f"{_ESTIMATOR}.{m}" for m in _ESTIMATOR_MODULES},
    f"{_PY}.estimator.keras": f"{_ESTIMATOR}.keras_lib",
    f"{_PY}.feature_column.dense_features": "tf_keras.src.feature_column.dense_features",
    f"{_PY}.feature_column.dense_features_v2": "tf_keras.src.feature_column.dense_features_v2",
    f"{_PY}.framework.composite_tensor_utils": f"{_PY}.framework.composite_tensor",
    f"{_PY}.framework.tensor_like": f"{_OURS}.tensor_like",
    f"{_PY}.ops.linalg.adjoint_registrations": f"{_PY}.ops.linalg.linear_operator",
    f"{_PY}.ops.linalg.cholesky_registrations": f"{_PY}.ops.linalg.linear_operator",
    f"{_PY}.ops.linalg.inverse_registrations": f"{_PY}.ops.linalg.linear_operator",
    f"{_PY}.ops.linalg.matmul_registrations": f"{_PY}.ops.linalg.linear_operator",
    f"{_PY}.ops.linalg.registrations_util": f"{_PY}.ops.linalg.property_hint_util",
    f"{_PY}.ops.linalg.solve_registrations": f"{_PY}.ops.linalg.linear_operator",
    f"{_PY}.ops.losses.loss_reduction": f"{_PY}.ops.losses.losses_impl",
    f"{_PY}.ops.gen_user_ops": f"{_PY}.user_ops.ops.gen_user_ops",
    f"{_PY}.ops.rnn_cell_wrapper_impl": "tf_keras.src.layers.rnn.legacy_cell_wrappers",
    f"{_PY}.platform.control_imports": f"{_OURS}.control_imports",
    f"{_PY}.profiler.profile_context": f"{_OURS}.profile_context",
    f"{_PY}.pywrap_tensorflow_internal": f"{_PY}.pywrap_tensorflow",
    f"{_PY}.tpu.async_checkpoint": f"{_ESTIMATOR}.hooks.basic_session_run_hooks",
    f"{_PY}.tpu.tpu_embedding": f"{_OURS}.tpu_embedding",
    f"{_PY}.tpu.tpu_embedding_gradient": f"{_OURS}.tpu_embedding_gradient",
    f"{_PY}.tpu.session_support": f"{_OURS}.tpu_session_support",
    **{f"{_PY}.tpu.{m}": f"{_ESTIMATOR}.tpu.{m}" for m in _TPU_ESTIMATOR_MODULES},
    f"{_PY}.training.distribute": (f"{_PY}.distribute.distribute_lib", f"{_OURS}.distribution_context"),
    f"{_PY}.training.distribution_strategy_context": (
        f"{_PY}.distribute.distribute_lib",
        f"{_OURS}.distribution_context",
    ),
    f"{_PY}.training.gen_training_ops": f"{_PY}.ops.gen_training_ops",
    f"{_PY}.training.saving.functional_saver": f"{_PY}.checkpoint.functional_saver",
    f"{_PY}.training.tracking": (),
    f"{_PY}.training.tracking.base": (
        f"{_PY}.trackable.base",
        f"{_PY}.trackable.constants",
        f"{_PY}.checkpoint.restore",
        f"{_PY}.trackable.python_state",
        f"{_PY}.training.saving.saveable_object_util",
        f"{_OURS}.tracking",
    ),
    f"{_PY}.training.tracking.data_structures": f"{_PY}.trackable.data_structures",
    f"{_PY}.training.tracking.graph_view": f"{_PY}.checkpoint.graph_view",
    f"{_PY}.training.tracking.layer_utils": f"{_PY}.trackable.layer_utils",
    f"{_PY}.training.tracking.python_state": f"{_PY}.trackable.python_state",
    f"{_PY}.training.tracking.tracking": (
        f"{_PY}.trackable.autotrackable",
        f"{_PY}.trackable.resource",
        f"{_PY}.trackable.asset",
        f"{_PY}.trackable.base",
        f"{_PY}.trackable.base_delegate",
    ),
    f"{_PY}.training.tracking.util": (f"{_OURS}.tracking", f"{_PY}.checkpoint.checkpoint", f"{_PY}.checkpoint.util"),
    f"{_PY}.training.training_ops": f"{_PY}.ops.gen_training_ops",
    f"{_PY}.util.compat_internal": f"{_OURS}.compat_internal",
    f"{_PY}.util.deprecation_wrapper": (f"{_PY}.util.module_wrapper", f"{_OURS}.deprecation_wrapper"),
    "tensorflow.tools.graph_transforms": f"{_OURS}.graph_transforms",
}
