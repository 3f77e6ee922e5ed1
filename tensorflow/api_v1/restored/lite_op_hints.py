"""RNN cells of `tf.lite.experimental.nn`: exist, and raise, because TF Lite lost the op hints that they were made of."""

from tensorflow.python.ops import rnn_cell_impl

_GONE = (
    "{} was built on TF Lite's op hints, which are gone: build the model with tf.nn.rnn_cell or tf.keras.layers.LSTM, and "
    "convert with tf.lite.TFLiteConverter"
)


class TFLiteLSTMCell(rnn_cell_impl.LSTMCell):
    """Raises NotImplementedError."""

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        num_unit_shards=None,
        num_proj_shards=None,
        forget_bias=1.0,
        state_is_tuple=True,
        activation=None,
        reuse=None,
        name=None,
        dtype=None,
    ):
        raise NotImplementedError(_GONE.format("TFLiteLSTMCell"))


class TfLiteRNNCell(rnn_cell_impl.BasicRNNCell):
    """Raises NotImplementedError."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        raise NotImplementedError(_GONE.format("TfLiteRNNCell"))


def dynamic_rnn(
    cell,
    inputs,
    sequence_length=None,
    initial_state=None,
    dtype=None,
    parallel_iterations=None,
    swap_memory=False,
    time_major=True,
    scope=None,
):
    """Raises NotImplementedError."""
    raise NotImplementedError(_GONE.format("tf.lite.experimental.nn.dynamic_rnn"))


def get_potentially_supported_ops():
    """Raises NotImplementedError."""
    raise NotImplementedError(
        "the list of ops that TF Lite may support is gone; tf.lite.TFLiteConverter names those it lacks"
    )
