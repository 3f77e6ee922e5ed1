"""Modules of 1.15 that nothing takes the place of, and why. A package stands for all that was below it."""

_GPU = "it wraps TensorRT, which needs a GPU build"
_TEST = "it is part of TensorFlow's own tests"
_XLA = "the XLA client is its own package (jaxlib) now; in graphs use tf.xla.experimental"
_DOCS = "the docs generator is its own package now: pip install tensorflow-docs"
_DEBUG = (
    "it is an example or a text user interface that was dropped; write dumps with tf_debug.DumpingDebugHook instead"
)
_PROFILE = "the profiler's own package (tensorboard-plugin-profile) has its messages now"
_DATA = "tf.data lost it; tf.data.Options (options.threading, options.autotune) sets what is left"
_AUTOGRAPH = "AutoGraph was rewritten without it; tf.autograph is the API"
_TFLITE = "the op hints of TF Lite were removed; convert with tf.lite.TFLiteConverter"
_FOREST = "the ops of tensor_forest were removed; tensorflow-decision-forests is the successor"
_HASH_TABLE = "hash tables have no filters here; use tf.get_embedding_variable with tf.CounterFilter and its like"

GONE = {
    "tensorflow.compiler.tf2tensorrt.wrap_py_utils": _GPU,
    "tensorflow.compiler.xla.python_api": _XLA,
    "tensorflow.core.framework.remote_fused_graph_execute_info_pb2": "execution on Hexagon processors was removed",
    "tensorflow.core.profiler.op_profile_pb2": _PROFILE,
    "tensorflow.core.profiler.profiler_analysis_pb2": _PROFILE,
    "tensorflow.core.profiler.profiler_analysis_pb2_grpc": _PROFILE,
    "tensorflow.core.profiler.profiler_service_pb2": _PROFILE,
    "tensorflow.core.profiler.profiler_service_pb2_grpc": _PROFILE,
    "tensorflow.core.protobuf.tpu.tpu_embedding_output_layout_pb2": "the TPU embedding engine of today lays its output out itself",
    "tensorflow.examples.saved_model": _TEST,
    "tensorflow.lite.experimental.examples": _TFLITE,
    "tensorflow.lite.experimental.tensorboard": _TFLITE,
    "tensorflow.lite.python.wrap_toco": "the converter is part of tf.lite.TFLiteConverter now",
    "tensorflow.lite.toco.python": "the converter is part of tf.lite.TFLiteConverter now",
    "tensorflow.python.autograph.converters.arg_defaults": _AUTOGRAPH,
    "tensorflow.python.autograph.operators.symbols": _AUTOGRAPH,
    "tensorflow.python.autograph.utils.type_check": _AUTOGRAPH,
    "tensorflow.python.data.experimental.kernel_tests": _TEST,
    "tensorflow.python.data.experimental.ops.optimization": _DATA,
    "tensorflow.python.data.experimental.ops.sleep": _DATA,
    "tensorflow.python.data.experimental.ops.threadpool": _DATA,
    "tensorflow.python.debug.cli.curses_ui": _DEBUG,
    "tensorflow.python.debug.cli.curses_widgets": _DEBUG,
    "tensorflow.python.debug.examples": _DEBUG,
    "tensorflow.python.distribute.model_collection": _TEST,
    "tensorflow.python.distribute.model_combinations": _TEST,
    "tensorflow.python.distribute.saved_model_test_base": _TEST,
    "tensorflow.python.eager.execution_callbacks": "callbacks of eager ops are tf.debugging.enable_check_numerics now",
    "tensorflow.python.keras.distribute.distribute_strategy_test": _TEST,
    "tensorflow.python.keras.distribute.keras_correctness_test_base": _TEST,
    "tensorflow.python.keras.distribute.keras_dnn_correctness_test": _TEST,
    "tensorflow.python.keras.distribute.keras_embedding_model_correctness_test": _TEST,
    "tensorflow.python.keras.distribute.keras_image_model_correctness_test": _TEST,
    "tensorflow.python.keras.distribute.keras_lstm_model_correctness_test": _TEST,
    "tensorflow.python.keras.distribute.keras_stateful_lstm_model_correctness_test": _TEST,
    "tensorflow.python.keras.distribute.keras_utils_test": _TEST,
    "tensorflow.python.keras.engine.training_v2": "the training loop of tf.function has no place in a session; see training_v1",
    "tensorflow.python.keras.engine.training_v2_utils": "the training loop of tf.function has no place in a session; see training_v1",
    "tensorflow.python.keras.model_subclassing_test_util": _TEST,
    "tensorflow.python.ops.distributions.transformed_distribution": "use tensorflow_probability's TransformedDistribution",
    "tensorflow.python.ops.gen_tensor_forest_ops": _FOREST,
    "tensorflow.python.ops.hash_table.admit_strategy": _HASH_TABLE,
    "tensorflow.python.ops.hash_table.embedding": _HASH_TABLE,
    "tensorflow.python.ops.hash_table.hash_filter": _HASH_TABLE,
    "tensorflow.python.ops.linalg.linear_operator_algebra": "linear operators compute products and inverses themselves now; register with tf.linalg's operators' methods",
    "tensorflow.python.ops.spectral_ops_test_util": _TEST,
    "tensorflow.python.ops.tensor_forest_ops": _FOREST,
    "tensorflow.python.platform.parameterized": "use absl.testing.parameterized",
    "tensorflow.python.platform.status_bar": "it was empty outside of Google",
    "tensorflow.python.tpu.profiler": _PROFILE,
    "tensorflow.python.training.tensorboard_logging": "log with tf.logging, or write text with tf.summary.text",
    "tensorflow.python.util.future_api": "it was an internal switch of the 2.0 preview",
    "tensorflow.python.util.memory": "it freed reference cycles of Python 2's ordered dictionaries",
    "tensorflow.tools.docs.doc_generator_visitor": _DOCS,
    "tensorflow.tools.docs.generate_lib": _DOCS,
    "tensorflow.tools.docs.parser": _DOCS,
    "tensorflow.tools.docs.pretty_docs": _DOCS,
    "tensorflow.tools.docs.py_guide_parser": _DOCS,
    "tensorflow.tools.pip_package": "it was the prompt of a demonstration image",
}
