"""Constructors, functions and methods of Keras whose arguments had other names or another order in 1.15.

"module:Class", "module:function" or "module:Class.method" -> arguments, in the notation of `signatures.with_old_arguments`.
"""

_SRC = "tf_keras.src"
_CONV_END = (
    "activation use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer "
    "kernel_constraint bias_constraint"
)
_CONV = f"filters kernel_size strides padding data_format dilation_rate {_CONV_END}"
_RNN_START = "units activation recurrent_activation use_bias kernel_initializer recurrent_initializer bias_initializer"
_RNN_CONSTRAINTS = "kernel_constraint recurrent_constraint bias_constraint dropout recurrent_dropout implementation"
_REGULARIZERS = "kernel_regularizer recurrent_regularizer bias_regularizer"
_RNN_END = "return_sequences return_state go_backwards stateful unroll"
_IMAGES = "data_format save_to_dir save_prefix save_format"
_NORM = (
    "axis momentum epsilon center scale beta_initializer gamma_initializer moving_mean_initializer "
    "moving_variance_initializer beta_regularizer gamma_regularizer beta_constraint gamma_constraint renorm "
    "renorm_clipping renorm_momentum fused trainable virtual_batch_size adjustment name"
)

_SAVE = "filepath overwrite include_optimizer save_format signatures"

ARGUMENTS = {
    # The layers of graph mode have these methods as they were; their models save as the others do.
    f"{_SRC}.engine.base_layer:Layer.add_loss": "losses inputs",
    f"{_SRC}.engine.base_layer:Layer.add_metric": "value aggregation name",
    f"{_SRC}.engine.base_layer:Layer.add_weight": (
        "name shape dtype initializer regularizer trainable constraint partitioner use_resource synchronization aggregation"
    ),
    f"{_SRC}.engine.training:Model.compile": (
        "optimizer loss metrics loss_weights sample_weight_mode weighted_metrics target_tensors distribute"
    ),
    f"{_SRC}.engine.training:Model.fit": (
        "x y batch_size epochs verbose callbacks validation_split validation_data shuffle class_weight sample_weight "
        "initial_epoch steps_per_epoch validation_steps validation_freq max_queue_size workers use_multiprocessing"
    ),
    f"{_SRC}.engine.training:Model.load_weights": "filepath by_name",
    f"{_SRC}.engine.training:Model.save": _SAVE,
    f"{_SRC}.layers.convolutional.conv1d:Conv1D": _CONV,
    f"{_SRC}.layers.convolutional.conv2d:Conv2D": _CONV,
    f"{_SRC}.layers.convolutional.conv3d:Conv3D": _CONV,
    f"{_SRC}.layers.convolutional.conv3d_transpose:Conv3DTranspose": (
        f"filters kernel_size strides padding output_padding data_format {_CONV_END}"
    ),
    f"{_SRC}.layers.convolutional.depthwise_conv2d:DepthwiseConv2D": (
        "kernel_size strides padding depth_multiplier data_format activation use_bias depthwise_initializer bias_initializer "
        "depthwise_regularizer bias_regularizer activity_regularizer depthwise_constraint bias_constraint"
    ),
    f"{_SRC}.layers.normalization.batch_normalization_v1:BatchNormalization": _NORM,
    f"{_SRC}.layers.normalization.layer_normalization:LayerNormalization": (
        "axis epsilon center scale beta_initializer gamma_initializer beta_regularizer gamma_regularizer beta_constraint "
        "gamma_constraint trainable name"
    ),
    f"{_SRC}.layers.rnn.conv_lstm2d:ConvLSTM2D": (
        "filters kernel_size strides padding data_format dilation_rate activation recurrent_activation use_bias "
        "kernel_initializer recurrent_initializer bias_initializer unit_forget_bias kernel_regularizer recurrent_regularizer "
        "bias_regularizer activity_regularizer kernel_constraint recurrent_constraint bias_constraint return_sequences "
        "go_backwards stateful dropout recurrent_dropout"
    ),
    f"{_SRC}.layers.rnn.gru_v1:GRU": (
        f"{_RNN_START} {_REGULARIZERS} activity_regularizer {_RNN_CONSTRAINTS} {_RNN_END} reset_after"
    ),
    f"{_SRC}.layers.rnn.gru_v1:GRUCell": f"{_RNN_START} {_REGULARIZERS} {_RNN_CONSTRAINTS} reset_after",
    f"{_SRC}.layers.rnn.lstm_v1:LSTM": (
        f"{_RNN_START} unit_forget_bias {_REGULARIZERS} activity_regularizer {_RNN_CONSTRAINTS} {_RNN_END}"
    ),
    f"{_SRC}.layers.rnn.lstm_v1:LSTMCell": f"{_RNN_START} unit_forget_bias {_REGULARIZERS} {_RNN_CONSTRAINTS}",
    f"{_SRC}.losses:BinaryCrossentropy": "from_logits label_smoothing reduction name",
    f"{_SRC}.losses:CategoricalCrossentropy": "from_logits label_smoothing reduction name",
    f"{_SRC}.losses:SparseCategoricalCrossentropy": "from_logits reduction name",
    f"{_SRC}.metrics.confusion_metrics:SensitivityAtSpecificity": "specificity num_thresholds name dtype",
    f"{_SRC}.metrics.confusion_metrics:SpecificityAtSensitivity": "sensitivity num_thresholds name dtype",
    f"{_SRC}.metrics.probabilistic_metrics:SparseCategoricalCrossentropy": "name dtype from_logits axis",
    f"{_SRC}.preprocessing.image:DirectoryIterator": (
        f"directory image_data_generator target_size color_mode classes class_mode batch_size shuffle seed {_IMAGES} "
        "follow_links subset interpolation dtype"
    ),
    f"{_SRC}.preprocessing.image:ImageDataGenerator": (
        "featurewise_center samplewise_center featurewise_std_normalization samplewise_std_normalization zca_whitening "
        "zca_epsilon rotation_range width_shift_range height_shift_range brightness_range shear_range zoom_range "
        "channel_shift_range fill_mode cval horizontal_flip vertical_flip rescale preprocessing_function data_format "
        "validation_split dtype"
    ),
    f"{_SRC}.preprocessing.image:ImageDataGenerator.flow": (
        "x y batch_size shuffle sample_weight seed save_to_dir save_prefix save_format subset"
    ),
    f"{_SRC}.preprocessing.image:NumpyArrayIterator": (
        f"x y image_data_generator batch_size shuffle sample_weight seed {_IMAGES} subset dtype"
    ),
    f"{_SRC}.preprocessing.text:Tokenizer": "num_words filters lower split char_level oov_token document_count",
    f"{_SRC}.preprocessing.text:one_hot": "text=input_text n filters lower split",
    f"{_SRC}.preprocessing.text:text_to_word_sequence": "text=input_text filters lower split",
    f"{_SRC}.regularizers:l1": "l=l1",
    f"{_SRC}.regularizers:l2": "l=l2",
    f"{_SRC}.saving.legacy.save:save_model": f"model {_SAVE}",
    f"{_SRC}.saving.saving_api:save_model": f"model {_SAVE}",
    f"{_SRC}.utils.data_utils:GeneratorEnqueuer": "sequence=generator use_multiprocessing random_seed",
    f"{_SRC}.utils.vis_utils:model_to_dot": "model show_shapes show_layer_names rankdir expand_nested dpi subgraph",
    f"{_SRC}.utils.vis_utils:plot_model": "model to_file show_shapes show_layer_names rankdir expand_nested dpi",
}
