# ruff: noqa: F401
"""Linear chain conditional random fields."""

from tensorflow.contrib.crf.crf import (
    CrfDecodeBackwardRnnCell,
    CrfDecodeForwardRnnCell,
    CrfForwardRnnCell,
    crf_binary_score,
    crf_decode,
    crf_log_likelihood,
    crf_log_norm,
    crf_multitag_sequence_score,
    crf_sequence_score,
    crf_unary_score,
    viterbi_decode,
)

__all__ = (
    "CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell CrfForwardRnnCell crf_binary_score crf_decode "
    "crf_log_likelihood crf_log_norm crf_multitag_sequence_score crf_sequence_score crf_unary_score "
    "viterbi_decode "
).split()
