# ruff: noqa: F401
"""Sequence to sequence: decoders, helpers, attention, beam search."""

from tensorflow.contrib.seq2seq.basic_decoder import BasicDecoder, BasicDecoderOutput
from tensorflow.contrib.seq2seq.decoder import Decoder, dynamic_decode
from tensorflow.contrib.seq2seq.attention_mechanisms import (
    AttentionMechanism,
    BahdanauAttention,
    BahdanauMonotonicAttention,
    LuongAttention,
    LuongMonotonicAttention,
    hardmax,
    monotonic_attention,
    safe_cumprod,
)
from tensorflow.contrib.seq2seq.attention_wrapper import AttentionWrapper, AttentionWrapperState
from tensorflow.contrib.seq2seq.beam_search_decoder import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
    tile_batch,
)
from tensorflow.contrib.seq2seq.beam_search_ops import gather_tree
from tensorflow.contrib.seq2seq.helper import (
    CustomHelper,
    GreedyEmbeddingHelper,
    Helper,
    InferenceHelper,
    SampleEmbeddingHelper,
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
    TrainingHelper,
)
from tensorflow.contrib.seq2seq.loss import sequence_loss

__all__ = (
    "AttentionMechanism AttentionWrapper AttentionWrapperState BahdanauAttention BahdanauMonotonicAttention "
    "BasicDecoder BasicDecoderOutput BeamSearchDecoder BeamSearchDecoderOutput BeamSearchDecoderState "
    "CustomHelper Decoder FinalBeamSearchDecoderOutput GreedyEmbeddingHelper Helper InferenceHelper "
    "LuongAttention LuongMonotonicAttention SampleEmbeddingHelper ScheduledEmbeddingTrainingHelper "
    "ScheduledOutputTrainingHelper TrainingHelper dynamic_decode gather_tree hardmax monotonic_attention "
    "safe_cumprod sequence_loss tile_batch "
).split()
