"""Names of tf_keras modules that 1.15's module of the same place had."""

_SRC = "tf_keras.src"
_OURS = "tensorflow.api_v1.restored"

NAMES = {
    f"{_SRC}.backend": {
        "freezable_variable": f"{_OURS}.keras_variables:freezable_variable",
        "EagerExecutionFunction": f"{_SRC}.backend:GraphExecutionFunction",
    },
    f"{_SRC}.engine.base_layer": {"KerasHistory": f"{_SRC}.engine.node:KerasHistory"},
    f"{_SRC}.distribute.distributed_training_utils": {"is_tpu_strategy": f"{_SRC}.backend:is_tpu_strategy"},
    f"{_SRC}.engine.base_layer_utils": {"default": f"{_SRC}.utils.generic_utils:default"},
    f"{_SRC}.engine.training": {"_keras_api_gauge": f"{_OURS}.keras_gauge:_keras_api_gauge"},
    f"{_SRC}.preprocessing.sequence": {"pad_sequences": f"{_SRC}.utils.data_utils:pad_sequences"},
    f"{_SRC}.utils.tf_utils": {
        "constant_value": "tensorflow.python.framework.smart_cond:smart_constant_value",
        "smart_cond": "tensorflow.python.framework.smart_cond:smart_cond",
    },
    f"{_SRC}.layers.rnn.legacy_cells": {"_LayerRNNCell": f"{_SRC}.layers.rnn.legacy_cells:LayerRNNCell"},
    f"{_SRC}.legacy_tf_layers.normalization": {
        "BatchNorm": f"{_SRC}.legacy_tf_layers.normalization:BatchNormalization",
        "batch_norm": f"{_SRC}.legacy_tf_layers.normalization:batch_normalization",
    },
}
