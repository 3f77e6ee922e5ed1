# ruff: noqa: F401
"""Recurrent layers with cuDNN's interface and weights."""

from tensorflow.contrib.cudnn_rnn.cudnn_rnn import CudnnGRU, CudnnLSTM, CudnnRNNRelu, CudnnRNNTanh
from tensorflow.contrib.cudnn_rnn.cudnn_rnn_ops import (
    CudnnCompatibleGRUCell,
    CudnnCompatibleLSTMCell,
    CudnnGRUSaveable,
    CudnnLSTMSaveable,
    CudnnParamsFormatConverterGRU,
    CudnnParamsFormatConverterLSTM,
    CudnnParamsFormatConverterRelu,
    CudnnParamsFormatConverterTanh,
    CudnnRNNReluSaveable,
    CudnnRNNTanhSaveable,
)

__all__ = (
    "CudnnCompatibleGRUCell CudnnCompatibleLSTMCell CudnnGRU CudnnGRUSaveable CudnnLSTM CudnnLSTMSaveable "
    "CudnnParamsFormatConverterGRU CudnnParamsFormatConverterLSTM CudnnParamsFormatConverterRelu "
    "CudnnParamsFormatConverterTanh CudnnRNNRelu CudnnRNNReluSaveable CudnnRNNTanh CudnnRNNTanhSaveable "
).split()
