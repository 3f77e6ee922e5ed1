"""The import paths that tf.contrib had in 1.15: module -> what could be imported below it.

Facts for `contrib_paths`, which maps each to where its content is now.
"""

# fmt: off
PATHS = {
    "all_reduce": "python python.all_reduce",
    "autograph": "",
    "batching": "python python.ops python.ops.batch_ops python.ops.batch_ops_test",
    "bayesflow": "python python.ops python.ops.monte_carlo python.ops.monte_carlo_impl",
    "bigtable": "ops ops.gen_bigtable_ops python python.ops python.ops.bigtable_api",
    "boosted_trees": (
        "python python.ops python.ops.batch_ops_utils python.ops.boosted_trees_ops_loader python.ops.gen_model_ops "
        "python.ops.gen_prediction_ops python.ops.gen_quantile_ops python.ops.gen_split_handler_ops "
        "python.ops.gen_stats_accumulator_ops python.ops.gen_training_ops python.ops.model_ops "
        "python.ops.prediction_ops python.ops.quantile_ops python.ops.split_handler_ops "
        "python.ops.stats_accumulator_ops python.ops.training_ops python.utils python.utils.losses"
    ),
    "checkpoint": "python python.containers python.python_state python.split_dependency python.visualize",
    "cloud": (
        "python python.ops python.ops.bigquery_reader_ops python.ops.gcs_config_ops "
        "python.ops.gen_bigquery_reader_ops python.ops.gen_gcs_config_ops"
    ),
    "cluster_resolver": (
        "python python.training python.training.cluster_resolver python.training.gce_cluster_resolver "
        "python.training.kubernetes_cluster_resolver python.training.slurm_cluster_resolver "
        "python.training.tfconfig_cluster_resolver python.training.tpu_cluster_resolver"
    ),
    "cmake": "tools tools.create_def_file",
    "compiler": "jit xla",
    "constrained_optimization": (
        "python python.candidates python.constrained_minimization_problem python.constrained_optimizer "
        "python.external_regret_optimizer python.swap_regret_optimizer"
    ),
    "copy_graph": "python python.util python.util.copy_elements",
    "crf": "python python.ops python.ops.crf",
    "cudnn_rnn": "python python.layers python.layers.cudnn_rnn python.ops python.ops.cudnn_rnn_ops",
    "data": (
        "python python.ops python.ops.batching python.ops.counter python.ops.enumerate_ops python.ops.error_ops "
        "python.ops.get_single_element python.ops.grouping python.ops.interleave_ops python.ops.iterator_ops "
        "python.ops.parsing_ops python.ops.prefetching_ops python.ops.random_ops python.ops.readers "
        "python.ops.resampling python.ops.scan_ops python.ops.shuffle_ops python.ops.sliding python.ops.threadpool "
        "python.ops.unique python.ops.writers"
    ),
    "decision_trees": "proto proto.generic_tree_model_pb2",
    "deprecated": "",
    "distribute": (
        "python python.collective_all_reduce_strategy python.mirrored_strategy python.monitor "
        "python.one_device_strategy python.parameter_server_strategy python.tpu_strategy"
    ),
    "distributions": (
        "python python.ops python.ops.autoregressive python.ops.batch_reshape python.ops.bijectors "
        "python.ops.bijectors.absolute_value python.ops.bijectors.affine "
        "python.ops.bijectors.affine_linear_operator python.ops.bijectors.affine_scalar "
        "python.ops.bijectors.batch_normalization python.ops.bijectors.chain "
        "python.ops.bijectors.cholesky_outer_product python.ops.bijectors.conditional_bijector "
        "python.ops.bijectors.exp python.ops.bijectors.fill_triangular python.ops.bijectors.gumbel "
        "python.ops.bijectors.inline python.ops.bijectors.invert python.ops.bijectors.kumaraswamy "
        "python.ops.bijectors.masked_autoregressive python.ops.bijectors.matrix_inverse_tril "
        "python.ops.bijectors.ordered python.ops.bijectors.permute python.ops.bijectors.power_transform "
        "python.ops.bijectors.real_nvp python.ops.bijectors.reshape python.ops.bijectors.scale_tril "
        "python.ops.bijectors.sigmoid python.ops.bijectors.sinh_arcsinh python.ops.bijectors.softmax_centered "
        "python.ops.bijectors.softplus python.ops.bijectors.softsign python.ops.bijectors.square "
        "python.ops.bijectors.transform_diagonal python.ops.bijectors.weibull python.ops.binomial "
        "python.ops.cauchy python.ops.chi2 python.ops.conditional_distribution "
        "python.ops.conditional_transformed_distribution python.ops.deterministic python.ops.distribution_util "
        "python.ops.estimator python.ops.geometric python.ops.gumbel python.ops.half_normal python.ops.independent "
        "python.ops.inverse_gamma python.ops.kumaraswamy python.ops.logistic python.ops.mixture "
        "python.ops.mixture_same_family python.ops.moving_stats python.ops.mvn_diag "
        "python.ops.mvn_diag_plus_low_rank python.ops.mvn_full_covariance python.ops.mvn_linear_operator "
        "python.ops.mvn_tril python.ops.negative_binomial python.ops.normal_conjugate_posteriors "
        "python.ops.onehot_categorical python.ops.poisson python.ops.poisson_lognormal "
        "python.ops.quantized_distribution python.ops.relaxed_bernoulli python.ops.relaxed_onehot_categorical "
        "python.ops.sample_stats python.ops.seed_stream python.ops.shape python.ops.sinh_arcsinh "
        "python.ops.statistical_testing python.ops.test_util python.ops.vector_diffeomixture "
        "python.ops.vector_exponential_diag python.ops.vector_exponential_linear_operator "
        "python.ops.vector_laplace_diag python.ops.vector_laplace_linear_operator "
        "python.ops.vector_sinh_arcsinh_diag python.ops.vector_student_t python.ops.wishart"
    ),
    "eager": (
        "python python.datasets python.metrics python.metrics_impl python.network python.parameter_server "
        "python.saver python.tfe"
    ),
    "estimator": (
        "python python.estimator python.estimator.boosted_trees python.estimator.dnn_with_layer_annotations "
        "python.estimator.early_stopping python.estimator.export python.estimator.exporter "
        "python.estimator.extenders python.estimator.head python.estimator.hooks python.estimator.logit_fns "
        "python.estimator.multi_head python.estimator.replicate_model_fn python.estimator.rnn "
        "python.estimator.saved_model_estimator"
    ),
    "factorization": (
        "python python.ops python.ops.clustering_ops python.ops.factorization_ops "
        "python.ops.factorization_ops_test_utils python.ops.gen_factorization_ops python.ops.gmm "
        "python.ops.gmm_ops python.ops.kmeans python.ops.wals"
    ),
    "feature_column": "python python.feature_column python.feature_column.sequence_feature_column",
    "ffmpeg": (
        "ffmpeg_ops ops ops.gen_decode_audio_op_py ops.gen_decode_video_op_py ops.gen_encode_audio_op_py"
    ),
    "framework": (
        "python python.framework python.framework.checkpoint_utils python.framework.experimental "
        "python.framework.graph_util python.framework.tensor_util python.ops python.ops.arg_scope "
        "python.ops.audio_ops python.ops.checkpoint_ops python.ops.gen_variable_ops python.ops.ops "
        "python.ops.prettyprint_ops python.ops.script_ops python.ops.sort_ops python.ops.variables"
    ),
    "fused_conv": (
        "ops ops.gen_fused_conv2d_bias_activation_op python python.ops "
        "python.ops.fused_conv2d_bias_activation_benchmark python.ops.fused_conv2d_bias_activation_op "
        "python.ops.fused_conv2d_bias_activation_op_test python.ops.fused_conv2d_bias_activation_op_test_base "
        "python.ops.tensorrt_fused_conv_test"
    ),
    "graph_editor": "edit reroute select subgraph transform util",
    "grid_rnn": "python python.ops python.ops.grid_rnn_cell",
    "hadoop": (
        "python python.ops python.ops.gen_dataset_ops python.ops.hadoop_dataset_ops python.ops.hadoop_op_loader"
    ),
    "hooks": "python python.training python.training.profiler_hook",
    "ignite": (
        "python python.ops python.ops.gen_dataset_ops python.ops.gen_igfs_ops python.ops.igfs_op_loader "
        "python.ops.igfs_ops python.ops.ignite_dataset_ops python.ops.ignite_op_loader"
    ),
    "image": (
        "ops ops.gen_distort_image_ops ops.gen_image_ops ops.gen_single_image_random_dot_stereograms_ops python "
        "python.ops python.ops.dense_image_warp python.ops.distort_image_ops python.ops.image_ops "
        "python.ops.interpolate_spline python.ops.single_image_random_dot_stereograms python.ops.sparse_image_warp"
    ),
    "input_pipeline": (
        "ops ops.gen_input_pipeline_ops python python.ops python.ops.input_pipeline_ops "
        "python.ops.input_pipeline_ops_test"
    ),
    "integrate": "python python.ops python.ops.odes",
    "kafka": (
        "python python.ops python.ops.gen_dataset_ops python.ops.kafka_dataset_ops python.ops.kafka_op_loader"
    ),
    "keras": (
        "api api.keras api.keras.activations api.keras.applications api.keras.applications.inception_v3 "
        "api.keras.applications.mobilenet api.keras.applications.resnet50 api.keras.applications.vgg16 "
        "api.keras.applications.vgg19 api.keras.applications.xception api.keras.backend api.keras.callbacks "
        "api.keras.constraints api.keras.datasets api.keras.datasets.boston_housing api.keras.datasets.cifar10 "
        "api.keras.datasets.cifar100 api.keras.datasets.imdb api.keras.datasets.mnist api.keras.datasets.reuters "
        "api.keras.initializers api.keras.layers api.keras.losses api.keras.metrics api.keras.models "
        "api.keras.optimizers api.keras.preprocessing api.keras.preprocessing.image "
        "api.keras.preprocessing.sequence api.keras.preprocessing.text api.keras.regularizers api.keras.utils "
        "api.keras.wrappers api.keras.wrappers.scikit_learn"
    ),
    "kernel_methods": (
        "python python.kernel_estimators python.losses python.mappers python.mappers.dense_kernel_mapper "
        "python.mappers.random_fourier_features"
    ),
    "kinesis": (
        "python python.ops python.ops.gen_dataset_ops python.ops.kinesis_dataset_ops python.ops.kinesis_op_loader"
    ),
    "labeled_tensor": (
        "python python.ops python.ops._typecheck python.ops.core python.ops.io_ops python.ops.nn python.ops.ops "
        "python.ops.sugar"
    ),
    "layers": (
        "ops ops.gen_sparse_feature_cross_op python python.layers python.layers.embedding_ops "
        "python.layers.encoders python.layers.feature_column python.layers.feature_column_ops "
        "python.layers.initializers python.layers.layers python.layers.normalization python.layers.optimizers "
        "python.layers.regularizers python.layers.rev_block_lib python.layers.summaries "
        "python.layers.target_column python.layers.utils python.ops python.ops.bucketization_op "
        "python.ops.sparse_feature_cross_op python.ops.sparse_ops"
    ),
    "learn": (
        "python python.learn python.learn.basic_session_run_hooks python.learn.datasets python.learn.datasets.base "
        "python.learn.datasets.mnist python.learn.datasets.produce_small_datasets python.learn.datasets.synthetic "
        "python.learn.datasets.text_datasets python.learn.estimators python.learn.estimators._sklearn "
        "python.learn.estimators.composable_model python.learn.estimators.constants python.learn.estimators.debug "
        "python.learn.estimators.dnn python.learn.estimators.dnn_linear_combined "
        "python.learn.estimators.dynamic_rnn_estimator python.learn.estimators.estimator "
        "python.learn.estimators.estimator_test_utils python.learn.estimators.head "
        "python.learn.estimators.head_test python.learn.estimators.kmeans python.learn.estimators.linear "
        "python.learn.estimators.logistic_regressor python.learn.estimators.metric_key "
        "python.learn.estimators.model_fn python.learn.estimators.prediction_key "
        "python.learn.estimators.rnn_common python.learn.estimators.run_config "
        "python.learn.estimators.state_saving_rnn_estimator python.learn.estimators.svm "
        "python.learn.estimators.tensor_signature python.learn.estimators.test_data python.learn.evaluable "
        "python.learn.experiment python.learn.export_strategy python.learn.graph_actions python.learn.learn_io "
        "python.learn.learn_io.dask_io python.learn.learn_io.data_feeder python.learn.learn_io.generator_io "
        "python.learn.learn_io.graph_io python.learn.learn_io.numpy_io python.learn.learn_io.pandas_io "
        "python.learn.learn_runner python.learn.learn_runner_lib python.learn.metric_spec python.learn.models "
        "python.learn.monitored_session python.learn.monitors python.learn.ops python.learn.ops.embeddings_ops "
        "python.learn.ops.losses_ops python.learn.ops.seq2seq_ops python.learn.preprocessing "
        "python.learn.preprocessing.categorical python.learn.preprocessing.categorical_vocabulary "
        "python.learn.preprocessing.tests python.learn.preprocessing.text python.learn.session_run_hook "
        "python.learn.summary_writer_cache python.learn.trainable python.learn.utils python.learn.utils.export "
        "python.learn.utils.gc python.learn.utils.input_fn_utils python.learn.utils.inspect_checkpoint "
        "python.learn.utils.saved_model_export_utils"
    ),
    "legacy_seq2seq": "python python.ops python.ops.seq2seq",
    "libsvm": "ops ops.gen_libsvm_ops python python.ops python.ops.libsvm_ops",
    "linear_optimizer": (
        "python python.ops python.ops.sdca_ops python.ops.sharded_mutable_dense_hashtable "
        "python.ops.sparse_feature_column python.sdca_estimator python.sdca_optimizer"
    ),
    "lookup": "lookup_ops",
    "losses": (
        "python python.losses python.losses.loss_ops python.metric_learning python.metric_learning.metric_loss_ops"
    ),
    "memory_stats": "ops ops.gen_memory_stats_ops python python.ops python.ops.memory_stats_ops",
    "meta_graph_transform": "meta_graph_transform",
    "metrics": (
        "python python.metrics python.metrics.classification python.ops python.ops.confusion_matrix_ops "
        "python.ops.histogram_ops python.ops.metric_ops python.ops.set_ops"
    ),
    "mixed_precision": "python python.loss_scale_manager python.loss_scale_optimizer",
    "model_pruning": (
        "python python.layers python.layers.core_layers python.layers.layers python.layers.rnn_cells "
        "python.learning python.pruning python.pruning_utils python.strip_pruning_vars_lib"
    ),
    "nearest_neighbor": "python python.ops python.ops.nearest_neighbor_ops",
    "nn": (
        "python python.ops python.ops.alpha_dropout python.ops.cross_entropy python.ops.fwd_gradients "
        "python.ops.sampling_ops python.ops.scaled_softplus"
    ),
    "opt": (
        "python python.training python.training.adam_gs_optimizer python.training.adamax python.training.addsign "
        "python.training.agn_optimizer python.training.drop_stale_gradient_optimizer "
        "python.training.elastic_average_optimizer python.training.external_optimizer python.training.ggt "
        "python.training.lars_optimizer python.training.lazy_adam_gs_optimizer python.training.lazy_adam_optimizer "
        "python.training.matrix_functions python.training.model_average_optimizer "
        "python.training.moving_average_optimizer python.training.multitask_optimizer_wrapper "
        "python.training.nadam_optimizer python.training.powersign python.training.reg_adagrad_optimizer "
        "python.training.shampoo python.training.sign_decay python.training.variable_clipping_optimizer "
        "python.training.weight_decay_optimizers"
    ),
    "optimizer_v2": "adadelta adagrad adam gradient_descent momentum optimizer_v2 optimizer_v2_symbols rmsprop",
    "periodic_resample": "python python.ops python.ops.gen_periodic_resample_op python.ops.periodic_resample_op",
    "predictor": (
        "contrib_estimator_predictor core_estimator_predictor predictor predictor_factories saved_model_predictor"
    ),
    "proto": "python python.ops python.ops.decode_proto_op python.ops.encode_proto_op",
    "quantization": "python python.array_ops python.math_ops python.nn_ops",
    "quantize": (
        "python python.common python.fold_batch_norms python.graph_matcher python.input_to_ops python.quant_ops "
        "python.quantize python.quantize_graph"
    ),
    "receptive_field": (
        "python python.util python.util.graph_compute_order python.util.parse_layer_parameters "
        "python.util.receptive_field receptive_field_api"
    ),
    "recurrent": "python python.ops python.ops.functional_rnn python.ops.recurrent python.recurrent_api",
    "reduce_slice_ops": "ops ops.gen_reduce_slice_ops python python.ops python.ops.reduce_slice_ops",
    "remote_fused_graph": (
        "pylib pylib.python pylib.python.ops pylib.python.ops.gen_remote_fused_graph_ops "
        "pylib.python.ops.remote_fused_graph_ops pylib.python.ops.remote_fused_graph_ops_test"
    ),
    "resampler": (
        "ops ops.gen_resampler_ops python python.ops python.ops.resampler_ops python.ops.resampler_ops_test"
    ),
    "rnn": (
        "python python.kernel_tests python.kernel_tests.benchmarking python.ops python.ops.core_rnn_cell "
        "python.ops.fused_rnn_cell python.ops.gru_ops python.ops.lstm_ops python.ops.rnn python.ops.rnn_cell "
        "python.tools python.tools.checkpoint_convert"
    ),
    "rpc": "python python.ops python.ops.gen_rpc_op python.ops.rpc_op",
    "saved_model": "python python.saved_model python.saved_model.keras_saved_model python.saved_model.reader",
    "seq2seq": (
        "ops ops.gen_beam_search_ops python python.ops python.ops.attention_wrapper python.ops.basic_decoder "
        "python.ops.beam_search_decoder python.ops.beam_search_ops python.ops.decoder python.ops.helper "
        "python.ops.loss python.ops.sampler"
    ),
    "session_bundle": "constants exporter gc manifest_pb2",
    "signal": "",
    "slim": (
        "nets python python.slim python.slim.data python.slim.data.data_decoder python.slim.data.data_provider "
        "python.slim.data.dataset python.slim.data.dataset_data_provider python.slim.data.parallel_reader "
        "python.slim.data.prefetch_queue python.slim.data.tfexample_decoder python.slim.evaluation "
        "python.slim.learning python.slim.model_analyzer python.slim.nets python.slim.nets.alexnet "
        "python.slim.nets.inception python.slim.nets.inception_v1 python.slim.nets.inception_v2 "
        "python.slim.nets.inception_v3 python.slim.nets.overfeat python.slim.nets.resnet_utils "
        "python.slim.nets.resnet_v1 python.slim.nets.resnet_v2 python.slim.nets.vgg python.slim.queues "
        "python.slim.summaries"
    ),
    "solvers": (
        "python python.ops python.ops.lanczos python.ops.least_squares python.ops.linear_equations python.ops.util"
    ),
    "sparsemax": "python python.ops python.ops.sparsemax python.ops.sparsemax_loss",
    "specs": "python python.params_ops python.specs python.specs_lib python.specs_ops python.summaries",
    "staging": "",
    "stat_summarizer": "",
    "stateless": "",
    "summary": "summary",
    "tensor_forest": (
        "client client.eval_metrics client.random_forest proto proto.fertile_stats_pb2 "
        "proto.tensor_forest_params_pb2 python python.ops python.ops.data_ops python.ops.gen_model_ops "
        "python.ops.gen_stats_ops python.ops.gen_tensor_forest_ops python.ops.model_ops python.ops.stats_ops "
        "python.ops.tensor_forest_ops python.tensor_forest"
    ),
    "tensorboard": "plugins plugins.projector plugins.projector.projector_config_pb2",
    "tensorrt": "python python.trt_convert",
    "testing": "python python.framework python.framework.fake_summary_writer python.framework.util_test",
    "text": "python python.ops python.ops.gen_skip_gram_ops python.ops.skip_gram_ops",
    "tfprof": "model_analyzer tfprof_logger",
    "timeseries": (
        "python python.timeseries python.timeseries.ar_model python.timeseries.estimators "
        "python.timeseries.feature_keys python.timeseries.head python.timeseries.input_pipeline "
        "python.timeseries.math_utils python.timeseries.model python.timeseries.model_utils "
        "python.timeseries.saved_model_utils python.timeseries.state_management "
        "python.timeseries.state_space_models python.timeseries.state_space_models.filtering_postprocessor "
        "python.timeseries.state_space_models.kalman_filter python.timeseries.state_space_models.level_trend "
        "python.timeseries.state_space_models.periodic python.timeseries.state_space_models.state_space_model "
        "python.timeseries.state_space_models.structural_ensemble python.timeseries.state_space_models.varma"
    ),
    "tpu": (
        "python python.ops python.ops.tpu_ops python.profiler python.tpu python.tpu._tpu_estimator_embedding "
        "python.tpu.async_checkpoint python.tpu.bfloat16 python.tpu.datasets python.tpu.device_assignment "
        "python.tpu.error_handling python.tpu.feature_column python.tpu.functional python.tpu.keras_support "
        "python.tpu.keras_tpu_variables python.tpu.session_support python.tpu.tensor_tracer python.tpu.topology "
        "python.tpu.tpu python.tpu.tpu_config python.tpu.tpu_context python.tpu.tpu_embedding "
        "python.tpu.tpu_embedding_gradient python.tpu.tpu_estimator python.tpu.tpu_feed python.tpu.tpu_function "
        "python.tpu.tpu_optimizer python.tpu.tpu_sharding python.tpu.tpu_system_metadata python.tpu.training_loop "
        "python.tpu.util"
    ),
    "training": (
        "python python.training python.training.bucket_ops python.training.device_setter "
        "python.training.evaluation python.training.feeding_queue_runner python.training.hparam "
        "python.training.hparam_pb2 python.training.resample python.training.sampling_ops "
        "python.training.sequence_queueing_state_saver python.training.training python.training.tuner"
    ),
    "util": "loader",
}
# fmt: on
