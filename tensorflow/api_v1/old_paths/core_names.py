"""Names of private modules outside of Keras: module -> {old name: where it is now}.

Written by target: "module: names" reads "these names of the old module are in `module` now"; "name=other" where the name changed.
"""

_PY = "tensorflow.python"
_OURS = "tensorflow.api_v1.restored"

_MOVED = {
    "autograph.impl.api": {"autograph.impl.api": "do_not_convert_internal=do_not_convert"},
    "autograph.utils.ag_logging": {"autograph.utils.ag_logging": "warn=warning"},
    "autograph.pyct.errors": {
        "autograph.pyct.error_utils": "ErrorMetadataBase FrameInfo KNOWN_STRING_CONSTRUCTOR_ERRORS MultilineMessageKeyError"
    },
    "data.experimental.ops.iterator_ops": {f"{_OURS}.checkpoint_input_pipeline": "CheckpointInputPipelineHook"},
    "data.ops.dataset_ops": {
        "autograph.core.ag_ctx": "autograph_ctx=",
        "autograph.impl.api": "autograph=",
        "data.ops.cache_op": "CacheDataset",
        "data.ops.concatenate_op": "ConcatenateDataset=_ConcatenateDataset",
        "data.ops.filter_op": "FilterDataset=_FilterDataset",
        "data.ops.flat_map_op": "FlatMapDataset=_FlatMapDataset",
        "data.ops.from_sparse_tensor_slices_op": "SparseTensorSliceDataset=_SparseTensorSliceDataset",
        "data.ops.from_tensor_slices_op": "TensorSliceDataset=_TensorSliceDataset",
        "data.ops.from_tensors_op": "TensorDataset=_TensorDataset",
        "data.ops.interleave_op": "InterleaveDataset=_InterleaveDataset ParallelInterleaveDataset=_ParallelInterleaveDataset",
        "data.ops.map_op": "MapDataset=_MapDataset ParallelMapDataset=_ParallelMapDataset",
        "data.ops.options": "AutotuneAlgorithm Options",
        "data.ops.padded_batch_op": "PaddedBatchDataset=_PaddedBatchDataset",
        "data.ops.range_op": "RangeDataset=_RangeDataset",
        "data.ops.shard_op": "ShardDataset=_ShardDataset",
        "data.ops.skip_op": "SkipDataset=_SkipDataset",
        "data.ops.take_op": "TakeDataset=_TakeDataset",
        "data.ops.window_op": "WindowDataset=_WindowDataset",
        "data.ops.zip_op": "ZipDataset=_ZipDataset",
    },
    "data.ops.iterator_ops": {"data.ops.iterator_ops": "IteratorV2=OwnedIterator"},
    "data.ops.multi_device_iterator_ops": {
        "data.ops.multi_device_iterator_ops": "MultiDeviceIteratorV2=OwnedMultiDeviceIterator"
    },
    "data.util.nest": {"data.util.nest": "is_sequence=is_nested"},
    "debug.lib.debug_utils": {"debug.lib.debug_utils": "watch_graph_with_blacklists=watch_graph_with_denylists"},
    "distribute.cluster_resolver.tpu_cluster_resolver": {
        "distribute.cluster_resolver.tpu.tpu_cluster_resolver": "DeviceDetails"
    },
    "distribute.distribute_lib": {"distribute.distribute_utils": "create_mirrored_variable get_loss_reduction"},
    "distribute.input_lib": {
        "distribute.input_util": "get_distributed_dataset get_distributed_datasets_from_function",
        "distribute.v1.input_lib": (
            "DatasetIterator DistributedDatasetV1 DistributedDatasetsFromFunctionV1 DistributedIteratorV1 InputFunctionIterator"
        ),
    },
    "distribute.mirrored_strategy": {"distribute.mirrored_run": "MirroredReplicaContext=_MirroredReplicaContext"},
    "distribute.parameter_server_strategy": {
        "distribute.parameter_server_strategy": "ParameterServerStrategy=ParameterServerStrategyV1"
    },
    "distribute.strategy_combinations": {
        "tf_keras.src.distribute.optimizer_combinations": (
            "adagrad_optimizer_keras_v2_fn adagrad_optimizer_v1_fn adam_optimizer_keras_v2_fn adam_optimizer_v1_fn "
            "distributions_and_v1_and_v2_optimizers distributions_and_v1_optimizers distributions_and_v2_optimizers "
            "gradient_descent_optimizer_keras_v2_fn gradient_descent_optimizer_v1_fn optimizers_v1 optimizers_v1_and_v2 "
            "optimizers_v2 rmsprop_optimizer_keras_v2_fn rmsprop_optimizer_v1_fn"
        ),
    },
    "distribute.values": {
        "distribute.distribute_utils": (
            "is_distributed_variable regroup select_replica update_regroup validate_colocate "
            "validate_colocate_distributed_variable value_container"
        ),
        "distribute.ps_values": "AggregatingVariable",
        "distribute.tpu_values": "TPUMirroredVariable TPUSyncOnReadVariable TPUVariableMixin",
    },
    "eager.backprop": {"eager.polymorphic_function.polymorphic_function": "function"},
    "eager.context": {
        "eager.context": "VirtualDeviceConfiguration=LogicalDeviceConfiguration",
        f"{_OURS}.eager_context": "list_devices namescope shared_name",
    },
    "eager.def_function": {
        "eager.polymorphic_function.eager_function_run": "RUN_FUNCTIONS_EAGERLY",
        "eager.polymorphic_function.polymorphic_function": "UnliftedInitializerVariable",
    },
    "eager.forwardprop": {"eager.forwardprop": "ForwardGradientAccumulator=ForwardAccumulator"},
    "eager.function": {
        "autograph.core.ag_ctx": "ag_ctx=",
        "core.function.polymorphism.function_cache": "FunctionCache",
        "eager.polymorphic_function.atomic_function": "_EagerDefinedFunction=AtomicFunction",
        "eager.polymorphic_function.concrete_function": "ConcreteFunctionGarbageCollector",
        "eager.polymorphic_function.function_type_utils": "FunctionSpec is_same_structure",
        "eager.polymorphic_function.polymorphic_function": "Function class_method_to_instance_method defun=function",
    },
    "eager.tape": {
        "distribute.distribute_lib": "distribution_strategy_context=",
        "eager.record": "could_possibly_record record_operation stop_recording",
    },
    "feature_column.feature_column_v2": {
        "feature_column.feature_column_v2_types": "FeatureColumn",
        "tf_keras.src.feature_column.dense_features": "DenseFeatures",
        "tf_keras.src.premade_models.linear": "LinearModel",
    },
    "feature_column.sequence_feature_column": {
        "tf_keras.src.feature_column.sequence_feature_column": "SequenceFeatures"
    },
    "framework.common_shapes": {
        f"{_OURS}.common_shapes": (
            "avg_pool_shape call_cpp_shape_fn conv2d_shape depthwise_conv2d_native_shape get2d_conv_output_size "
            "get_conv_output_size has_fully_defined_shape matmul_shape max_pool_shape no_outputs rank scalar_shape "
            "separable_conv2d_shape unchanged_shape unchanged_shape_with_rank unchanged_shape_with_rank_at_least "
            "unchanged_shape_with_rank_at_most unknown_shape"
        ),
    },
    "framework.config": {
        "framework.config": (
            "get_virtual_device_configuration=get_logical_device_configuration "
            "set_virtual_device_configuration=set_logical_device_configuration"
        ),
    },
    "framework.func_graph": {
        "eager.polymorphic_function.polymorphic_function": "def_function= function",
        "framework.func_graph": "WHITELIST_COLLECTIONS=ALLOWLIST_COLLECTIONS",
    },
    "framework.graph_util": {
        "framework.convert_to_constants": "convert_variables_to_constants",
        "framework.graph_util_impl": "extract_sub_graph must_run_on_cpu remove_training_nodes tensor_shape_from_node_def_name",
    },
    "framework.graph_util_impl": {"framework.convert_to_constants": "convert_variables_to_constants"},
    "framework.indexed_slices": {"ops.math_ops": "math_ops="},
    "framework.op_def_library": {f"{_OURS}.op_def_library": "OpDefLibrary"},
    "framework.op_def_registry": {f"{_OURS}.op_def_library": "get_registered_ops register_op_list"},
    "framework.ops": {
        "autograph.core.ag_ctx": "ag_ctx=",
        "framework.indexed_slices": (
            "IndexedSlices IndexedSlicesValue convert_n_to_tensor_or_indexed_slices convert_to_tensor_or_indexed_slices "
            "internal_convert_n_to_tensor_or_indexed_slices internal_convert_to_tensor_or_indexed_slices"
        ),
        "framework.stack": "default_session",
        "framework.tensor": "Tensor disable_tensor_equality enable_tensor_equality",
        "framework.tensor_conversion": "convert_to_tensor_v2",
        "framework.tensor_conversion_registry": "register_tensor_conversion_function",
        f"{_OURS}.graph_ops": "RegisterShape enter_eager_name_scope register_dense_tensor_like_type",
    },
    "framework.tensor_conversion_registry": {"framework.constant_op": "constant_op="},
    "framework.tensor_shape": {f"{_OURS}.common_shapes": "matrix scalar vector"},
    "framework.tensor_util": {"ops.shape_util": "maybe_set_static_shape shape_tensor"},
    "framework.type_spec": {"framework.ops": "ops=", "framework.tensor_spec": "tensor_spec="},
    "layers.utils": {
        "tf_keras.src.utils.tf_utils": "get_reachable_from_inputs",
        f"{_OURS}.keras_uids": "object_list_uid static_shape",
    },
    "ops.array_ops": {"ops.array_ops_stack": "stack unstack"},
    "ops.control_flow_ops": {
        "ops.cond": "cond cond_for_tf_v2",
        "ops.cond_v2": "cond_v2=",
        "ops.control_flow_assert": "Assert",
        "ops.control_flow_case": "case case_v2",
        "ops.control_flow_switch_case": "switch_case",
        "ops.while_loop": "while_loop while_loop_v2",
        "ops.while_v2": "while_v2=",
    },
    "ops.control_flow_v2_toggles": {"ops.control_flow_util_v2": "output_all_intermediates"},
    "ops.custom_gradient": {"ops.handle_data_util": "copy_handle_data"},
    "ops.gen_dataset_ops": {
        "ops.gen_optional_ops": (
            "OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone optional_from_value optional_get_value "
            "optional_has_value optional_none optional_from_value_eager_fallback optional_get_value_eager_fallback "
            "optional_has_value_eager_fallback optional_none_eager_fallback"
        ),
    },
    "ops.gen_experimental_dataset_ops": {
        "ops.gen_dataset_ops": "DatasetCardinality dataset_cardinality dataset_cardinality_eager_fallback"
    },
    "ops.gen_math_ops": {
        "ops.gen_special_math_ops": (
            "BesselI0e BesselI1e bessel_i0e bessel_i0e_eager_fallback bessel_i1e bessel_i1e_eager_fallback"
        ),
        f"{_OURS}.raw_ops": "CompareAndBitpack compare_and_bitpack",
    },
    "ops.gradients_util": {"eager.backprop_util": "IsTrainable"},
    "ops.linalg.linear_operator_util": {
        "ops.linalg_ops": (
            "cholesky_solve_with_broadcast=cholesky_solve matrix_triangular_solve_with_broadcast=matrix_triangular_solve"
        ),
    },
    "ops.list_ops": {"ops.control_flow_ops": "control_flow_ops="},
    "ops.math_ops": {"ops.bincount_ops": "bincount_v1"},
    "ops.nn_impl": {
        "ops.nn_impl": "l2_normalize_v2=l2_normalize",
        "ops.nn_impl_distribute": "compute_average_loss scale_regularization_loss",
    },
    "ops.parsing_ops": {"ops.parsing_ops": "parse_single_example_v2_unoptimized=parse_single_example_v2"},
    "ops.random_ops": {"ops.random_crop_ops": "random_crop"},
    "ops.resource_variable_ops": {
        "ops.ref_variable": "_from_proto_fn _to_proto_fn",
        "ops.resource_variable_ops": "variable_handle_from_shape_and_dtype=_variable_handle_from_shape_and_dtype",
    },
    "ops.rnn_cell_impl": {
        "tf_keras.src.layers.rnn.legacy_cells": (
            "BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple LayerRNNCell MultiRNNCell RNNCell "
            "_LayerRNNCell=LayerRNNCell"
        ),
        "tf_keras.src.layers.rnn.legacy_cell_wrappers": (
            "ASSERT_LIKE_RNNCELL_ERROR_REGEXP DeviceWrapper DropoutWrapper ResidualWrapper _RNNCellWrapperV1 "
            "_default_dropout_state_filter_visitor _enumerated_map_structure_up_to _parse_config_to_function "
            "_serialize_function_to_config"
        ),
    },
    "ops.summary_ops_v2": {
        "ops.summary_ops_v2": "NoopSummaryWriter=_NoopSummaryWriter ResourceSummaryWriter=_ResourceSummaryWriter"
    },
    "ops.variable_scope": {
        "ops.ref_variable": "default_variable_creator",
        "ops.resource_variables_toggle": "disable_resource_variables enable_resource_variables resource_variables_enabled",
        "ops.variable_v1": "variable=VariableV1",
        "ops.variables": "default_variable_creator_v2",
    },
    "ops.variables": {
        "ops.ref_variable": "RefVariable default_variable_creator",
        "ops.variable_v1": "VariableV1 is_variable_initialized",
        "ops.variables": "AbstractVariable=Variable AbstractVariableMetaclass=VariableMetaclass",
    },
    "platform.build_info": {f"{_OURS}.build_facts": "is_cuda_build is_rocm_build"},
    "pywrap_tensorflow": {
        "client.pywrap_tf_session": (
            "ExtendSession TF_CloseSession TF_DeleteSession TF_DeleteSessionOptions TF_DeleteStatus TF_GetCode "
            "TF_NewSessionOptions TF_NewSessionRef TF_NewStatus TF_OK TF_Reset=TF_Reset_wrapper TF_SessionListDevices "
            "TF_SessionRun_wrapper"
        ),
        "client._pywrap_events_writer": "EventsWriter",
        "pywrap_tfe": "TFE_Py_FastPathExecute TFE_Py_Execute TFE_ContextOptions",
        "training.py_checkpoint_reader": "NewCheckpointReader CheckpointReader",
        "util._pywrap_stat_summarizer": "NewStatSummarizer=StatSummarizer",
        "util._pywrap_util_port": (
            "GpuSupportsHalfMatMulAndConv IsBuiltWithROCm IsBuiltWithXLA IsGoogleCudaEnabled IsMklEnabled"
        ),
        "util._pywrap_utils": "IsSequence=IsNested RegisterType=RegisterPyObject SameNamedtuples",
        f"{_OURS}.wrapped_functions": "EqualGraphDefWrapper TransformGraphWithStringInputs msg",
    },
    "saved_model.constants": {"saved_model.constants": "SAVED_MODEL_FILENAME_JSON=SAVED_MODEL_FILENAME_PBTXT"},
    "saved_model.load": {"saved_model.load": "load_internal=load_partial"},
    "saved_model.nested_structure_coder": {f"{_OURS}.structure_coder": "StructureCoder"},
    "saved_model.utils_impl": {
        "saved_model.path_helpers": (
            "get_assets_dir get_or_create_assets_dir get_or_create_variables_dir get_variables_dir get_variables_path"
        ),
    },
    "tpu.feature_column": {"feature_column.feature_column_lib": "feature_column_lib="},
    "tpu.tpu": {"tpu.tpu_replication": "TPUReplicateContext outside_compilation"},
    "tpu.tpu_strategy_util": {"distribute.cluster_resolver.tpu.tpu_cluster_resolver": "initialize_tpu_system"},
    "training.experimental.mixed_precision": {
        "training.experimental.mixed_precision": (
            "disable_mixed_precision_graph_rewrite=disable_mixed_precision_graph_rewrite_v1 "
            "enable_mixed_precision_graph_rewrite=enable_mixed_precision_graph_rewrite_v1"
        ),
    },
    "training.experimental.mixed_precision_global_state": {
        "training.experimental.mixed_precision_global_state": (
            "mixed_precision_graph_rewrite_is_enabled=is_mixed_precision_graph_rewrite_enabled "
            "using_default_mixed_precision_policy=is_using_mixed_precision_policy"
        ),
    },
    "util.nest": {"util.nest": "is_sequence=is_nested"},
    "util.tf_export": {f"{_OURS}.estimator_export": "ESTIMATOR_API_NAME estimator_export SymbolAlreadyExposedError"},
    "util.tf_should_use": {"util.tf_should_use": "must_use_result_or_fatal=should_use_result"},
    "util.tf_stack": {
        f"{_OURS}.stack_frames": "StackFrame TB_CODEDICT TB_FILENAME TB_FUNCNAME TB_LINENO convert_stack"
    },
}


def _full(module: str) -> str:
    if module.startswith("core."):
        return f"tensorflow.{module}"
    return module if module.startswith(("tensorflow.", "tensorflow_estimator.", "tf_keras.")) else f"{_PY}.{module}"


def expand(moved: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The table in the form of NAMES: module -> old name -> "module:name"."""
    table = {}
    for module, targets in moved.items():
        names = table.setdefault(_full(module), {})
        for target, words in targets.items():
            for word in words.split():
                old, equals, new = word.partition("=")
                # "name=" stands for the target module itself.
                names[old] = f"{_full(target)}:{new or old}" if new or not equals else _full(target)
    return table


_TPU_RAW_OPS = [
    f"{way}TPUEmbedding{kind}ParametersGradAccumDebug"
    for way in ("Load", "Retrieve")
    for kind in ("ADAM", "Adadelta", "Adagrad", "FTRL", "Momentum", "ProximalAdagrad", "RMSProp")
]

NAMES = {
    **expand(_MOVED),
    f"{_PY}.ops.gen_tpu_ops": {name: f"{_OURS}.tpu_raw_ops:{name}" for name in _TPU_RAW_OPS},
    "tensorflow._api.v2.compat.v2.nn": {
        f"RNNCell{n}": f"tf_keras.src.layers.rnn.cell_wrappers:{n}"
        for n in ("DeviceWrapper", "DropoutWrapper", "ResidualWrapper")
    },
}
