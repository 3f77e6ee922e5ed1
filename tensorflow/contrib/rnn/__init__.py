# ruff: noqa: F401
"""RNN cells and layers."""

from tensorflow.python.ops.rnn import (
    _best_effort_input_batch_size as best_effort_input_batch_size,
    _transpose_batch_time as transpose_batch_time,
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
)
from tensorflow.python.ops.rnn_cell_impl import (
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LayerRNNCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    ResidualWrapper,
    RNNCell,
)

from tensorflow.contrib.rnn.core_rnn_cell import EmbeddingWrapper, InputProjectionWrapper, OutputProjectionWrapper
from tensorflow.contrib.rnn.fused_rnn_cell import FusedRNNCell, FusedRNNCellAdaptor, TimeReversedFusedRNN
from tensorflow.contrib.rnn.gru_ops import GRUBlockCell, GRUBlockCellV2
from tensorflow.contrib.rnn.lstm_ops import LSTMBlockCell, LSTMBlockFusedCell, LSTMBlockWrapper
from tensorflow.contrib.rnn.rnn import stack_bidirectional_dynamic_rnn, stack_bidirectional_rnn
from tensorflow.contrib.rnn.conv_lstm_cells import Conv1DLSTMCell, Conv2DLSTMCell, Conv3DLSTMCell, ConvLSTMCell
from tensorflow.contrib.rnn.normalized_cells import CoupledInputForgetGateLSTMCell, LayerNormBasicLSTMCell
from tensorflow.contrib.rnn.rnn_cell import (
    AttentionCellWrapper,
    BidirectionalGridLSTMCell,
    CompiledWrapper,
    GLSTMCell,
    GridLSTMCell,
    HighwayWrapper,
    IndRNNCell,
    IndyGRUCell,
    IndyLSTMCell,
    IntersectionRNNCell,
    NASCell,
    PhasedLSTMCell,
    SRUCell,
    TimeFreqLSTMCell,
    UGRNNCell,
)

__all__ = (
    "AttentionCellWrapper BasicLSTMCell BasicRNNCell BidirectionalGridLSTMCell CompiledWrapper Conv1DLSTMCell "
    "Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell CoupledInputForgetGateLSTMCell DeviceWrapper DropoutWrapper "
    "EmbeddingWrapper FusedRNNCell FusedRNNCellAdaptor GLSTMCell GRUBlockCell GRUBlockCellV2 GRUCell "
    "GridLSTMCell HighwayWrapper IndRNNCell IndyGRUCell IndyLSTMCell InputProjectionWrapper "
    "IntersectionRNNCell LSTMBlockCell LSTMBlockFusedCell LSTMBlockWrapper LSTMCell LSTMStateTuple "
    "LayerNormBasicLSTMCell LayerRNNCell MultiRNNCell NASCell OutputProjectionWrapper PhasedLSTMCell RNNCell "
    "ResidualWrapper SRUCell TimeFreqLSTMCell TimeReversedFusedRNN UGRNNCell best_effort_input_batch_size "
    "stack_bidirectional_dynamic_rnn stack_bidirectional_rnn static_bidirectional_rnn static_rnn "
    "static_state_saving_rnn transpose_batch_time "
).split()
