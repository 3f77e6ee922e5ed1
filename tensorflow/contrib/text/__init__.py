# ruff: noqa: F401
"""Skip-gram pairs."""

from tensorflow.contrib.text.skip_gram_ops import skip_gram_sample, skip_gram_sample_with_text_vocab

__all__ = ("skip_gram_sample skip_gram_sample_with_text_vocab ").split()
