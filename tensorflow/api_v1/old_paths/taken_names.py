"""Names that a module of 1.15 only had of another one, and that code takes from there all the same.

In the notation of `core_names`.
"""

from tensorflow.api_v1.old_paths.core_names import expand

_SRC = "tf_keras.src"
_API = "tf_keras.api._v1.keras"
_ESTIMATOR = "tensorflow_estimator.python.estimator"
_OURS = "tensorflow.api_v1.restored"
_RESOLVERS = "distribute.cluster_resolver"

_LAYER = {f"{_API}.layers": "Layer"}
_LAYER_AND_SPEC = {f"{_API}.layers": "Layer InputSpec"}
_SERIALIZATION = {f"{_SRC}.saving.legacy.serialization": "deserialize_keras_object serialize_keras_object"}
_TRANSPOSED = {
    f"{_API}.layers": (
        "Deconv2D=Conv2DTranspose Deconv3D=Conv3DTranspose Deconvolution2D=Conv2DTranspose Deconvolution3D=Conv3DTranspose"
    )
}
_POOLING_BASES = {
    f"{_SRC}.layers.pooling.base_{kind}pooling{n}d": f"{'Global' if kind else ''}Pooling{n}D"
    for kind in ("", "global_")
    for n in (1, 2, 3)
}
_LOCAL = {
    f"{_SRC}.layers.locally_connected.locally_connected_utils": (
        "get_locallyconnected_mask local_conv_matmul local_conv_sparse_matmul make_2d"
    )
}
_RECURRENT = {f"{_OURS}.keras_recurrent": "ConvLSTM2DCell ConvRNN2D"}
_BITPACK = {f"{_OURS}.raw_ops": "CompareAndBitpack compare_and_bitpack"}

NAMES = expand(
    {
        "autograph": {
            "autograph.core.converter": "ConversionOptions Feature",
            "autograph.impl.api": "AutoGraphError StackTraceMapper convert converted_call do_not_convert to_code to_graph",
            "autograph.lang.directives": "set_element_type set_loop_options",
            "autograph.lang.special_functions": "stack",
        },
        "autograph.utils": {"framework.tensor_util": "is_tensor"},
        "data.experimental": {
            f"{_OURS}.checkpoint_input_pipeline": "CheckpointInputPipelineHook",
            f"{_OURS}.data_options": "MapVectorizationOptions",
            f"{_OURS}.data_stats": "StatsAggregator StatsOptions bytes_produced_stats latency_stats",
        },
        "debug": {"debug.lib.debug_utils": "watch_graph_with_blacklists=watch_graph_with_denylists"},
        "distribute.cluster_resolver.tpu_cluster_resolver": {
            f"{_RESOLVERS}.cluster_resolver": "ClusterResolver format_master_url get_accelerator_devices"
        },
        "distribute.collective_all_reduce_strategy": {
            f"{_RESOLVERS}.cluster_resolver": "SimpleClusterResolver",
            f"{_RESOLVERS}.tfconfig_cluster_resolver": "TFConfigClusterResolver",
        },
        "distribute.mirrored_strategy": {f"{_RESOLVERS}.tfconfig_cluster_resolver": "TFConfigClusterResolver"},
        "distribute.parameter_server_strategy": {
            f"{_RESOLVERS}.cluster_resolver": "SimpleClusterResolver",
            f"{_RESOLVERS}.tfconfig_cluster_resolver": "TFConfigClusterResolver",
        },
        "distribute.tpu_strategy": {f"{_RESOLVERS}.tpu.tpu_cluster_resolver": "TPUClusterResolver"},
        "eager.function": {"eager.graph_only_ops": "graph_placeholder"},
        "feature_column.feature_column_lib": {
            **_LAYER,
            "feature_column.feature_column_v2_types": "FeatureColumn",
            f"{_SRC}.feature_column.dense_features": "DenseFeatures",
            f"{_SRC}.feature_column.sequence_feature_column": "SequenceFeatures",
            f"{_SRC}.premade_models.linear": "LinearModel",
        },
        "feature_column.feature_column_v2": _LAYER,
        "framework.framework_lib": {f"{_OURS}.graph_ops": "RegisterShape"},
        "framework.func_graph": {
            "eager.graph_only_ops": "graph_placeholder",
            "framework.auto_control_deps": "AutomaticControlDependencies",
        },
        "ops.control_flow_grad": {
            "ops.cond": "cond cond_for_tf_v2",
            "ops.control_flow_assert": "Assert",
            "ops.control_flow_case": "case case_v2",
            "ops.control_flow_switch_case": "switch_case",
            "ops.while_loop": "while_loop while_loop_v2",
        },
        "ops.control_flow_v2_func_graphs": {"framework.func_graph": "FuncGraph"},
        "ops.gradients_util": {"framework.func_graph": "FuncGraph"},
        "ops.losses.losses_impl": {f"{_SRC}.utils.losses_utils": "ReductionV2"},
        "ops.math_ops": {
            **_BITPACK,
            "ops.gen_special_math_ops": (
                "BesselI0e BesselI1e bessel_i0e bessel_i0e_eager_fallback bessel_i1e bessel_i1e_eager_fallback"
            ),
        },
        "ops.nn": {
            "ops.nn_impl": "l2_normalize_v2=l2_normalize",
            "ops.rnn": "bidirectional_dynamic_rnn dynamic_rnn raw_rnn static_rnn static_state_saving_rnn",
        },
        "ops.parallel_for": {
            "ops.parallel_for.control_flow_ops": "for_loop",
            "ops.parallel_for.gradients": "batch_jacobian jacobian",
        },
        "ops.resource_variable_ops": {"util.deprecation": "deprecated_args"},
        "ops.rnn_cell_impl": {"util.deprecation": "deprecated"},
        "ops.standard_ops": {
            **_BITPACK,
            "ops.gen_functional_ops": "partitioned_call",
            "ops.gen_special_math_ops": ("BesselI0e BesselI1e bessel_i0e_eager_fallback bessel_i1e_eager_fallback"),
        },
        "tools.freeze_graph": {"core.protobuf.meta_graph_pb2": "MetaGraphDef"},
        "tpu.tpu_strategy_util": {f"{_RESOLVERS}.tpu.tpu_cluster_resolver": "TPUClusterResolver"},
        "trackable.layer_utils": {f"{_OURS}.keras_kernels": "gather_non_trainable_weights gather_trainable_weights"},
        "training.training": {
            "training.experimental.mixed_precision": (
                "enable_mixed_precision_graph_rewrite=enable_mixed_precision_graph_rewrite_v1"
            ),
            "training.quantize_training": "do_quantize_training_on_graphdef",
        },
        f"{_API}.__internal__.legacy.layers": {
            f"{_SRC}.legacy_tf_layers.convolutional": (
                "Convolution1D Convolution2D Convolution2DTranspose Convolution3D Convolution3DTranspose SeparableConvolution2D"
            )
        },
        f"{_ESTIMATOR}.estimator_lib": {
            f"{_OURS}.estimator_boosted_trees": "BoostedTreesClassifier BoostedTreesRegressor"
        },
        f"{_ESTIMATOR}.model_fn": {f"{_API}.metrics": "Metric"},
        f"{_OURS}.keras_export": {f"{_SRC}.saving.legacy.model_config": "model_from_json"},
        f"{_OURS}.keras_multi_gpu": {f"{_API}": "Model"},
        f"{_OURS}.keras_network": {f"{_SRC}.utils.io_utils": "ask_to_proceed_with_overwrite"},
        f"{_OURS}.keras_scikit_learn": {f"{_SRC}.utils.generic_utils": "has_arg"},
        f"{_SRC}.activations": _SERIALIZATION,
        f"{_SRC}.applications": {f"{_SRC}.applications.imagenet_utils": "decode_predictions preprocess_input"},
        f"{_SRC}.engine": {
            **_LAYER_AND_SPEC,
            f"{_SRC}.engine.input_layer": "Input InputLayer",
            f"{_SRC}.utils.layer_utils": "get_source_inputs",
        },
        f"{_SRC}.engine.base_layer": {
            f"{_API}.layers": "InputSpec",
            f"{_SRC}.saving.legacy.serialization": "serialize_keras_object",
        },
        f"{_SRC}.initializers": _SERIALIZATION,
        f"{_SRC}.layers": {
            f"{_SRC}.layers.rnn.gru": "GRUCell_v2=GRUCell GRU_v2=GRU",
            f"{_SRC}.layers.rnn.lstm": "LSTMCell_v2=LSTMCell LSTM_v2=LSTM",
            f"{_OURS}.keras_recurrent": "PeepholeLSTMCell",
        },
        f"{_SRC}.layers.activation": _LAYER_AND_SPEC,
        f"{_SRC}.layers.attention": _LAYER,
        f"{_SRC}.layers.convolutional": _TRANSPOSED,
        f"{_SRC}.layers.core": _LAYER_AND_SPEC,
        f"{_SRC}.layers.locally_connected": {**_LAYER_AND_SPEC, **_LOCAL},
        f"{_SRC}.layers.pooling": {**_LAYER_AND_SPEC, **_POOLING_BASES},
        f"{_SRC}.layers.regularization": _LAYER,
        f"{_SRC}.layers.rnn.base_conv_rnn": _RECURRENT,
        f"{_SRC}.layers.rnn.base_rnn": _LAYER,
        f"{_SRC}.layers.serialization": {
            **_SERIALIZATION,
            **_TRANSPOSED,
            **_POOLING_BASES,
            **_LOCAL,
            f"{_OURS}.keras_recurrent": "ConvLSTM2DCell ConvRNN2D PeepholeLSTMCell",
        },
        f"{_SRC}.legacy_tf_layers.base": {f"{_API}.layers": "InputSpec"},
        f"{_SRC}.metrics": {
            **_LAYER,
            f"{_SRC}.utils.generic_utils": "to_list",
            f"{_SRC}.utils.tf_utils": "is_tensor_or_variable",
        },
        f"{_SRC}.models": {f"{_OURS}.keras_network": "Network"},
        f"{_SRC}.preprocessing.image": {f"{_SRC}.utils.image_utils": "array_to_img img_to_array load_img save_img"},
        f"{_SRC}.saving.legacy.saved_model.load": {f"{_SRC}.saving.legacy.serialization": "deserialize_keras_object"},
        f"{_SRC}.utils": {f"{_SRC}.utils.layer_utils": "print_summary"},
    }
)
