# ruff: noqa: F401
"""Signal processing, as in tf.signal."""

from tensorflow.python.ops.signal.mel_ops import linear_to_mel_weight_matrix
from tensorflow.python.ops.signal.mfcc_ops import mfccs_from_log_mel_spectrograms
from tensorflow.python.ops.signal.reconstruction_ops import overlap_and_add
from tensorflow.python.ops.signal.shape_ops import frame
from tensorflow.python.ops.signal.spectral_ops import inverse_stft, inverse_stft_window_fn, stft
from tensorflow.python.ops.signal.window_ops import hamming_window, hann_window


__all__ = (
    "frame hamming_window hann_window inverse_stft inverse_stft_window_fn linear_to_mel_weight_matrix "
    "mfccs_from_log_mel_spectrograms overlap_and_add stft "
).split()
