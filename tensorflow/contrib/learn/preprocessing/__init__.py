"""Preprocessing of texts and categories."""

from tensorflow.contrib.learn.preprocessing.categorical import CategoricalProcessor
from tensorflow.contrib.learn.preprocessing.categorical_vocabulary import CategoricalVocabulary
from tensorflow.contrib.learn.preprocessing.text import TOKENIZER_RE, ByteProcessor, VocabularyProcessor, tokenizer
from tensorflow.contrib.learn.learn_io.data_feeder import setup_processor_data_feeder


__all__ = [
    "ByteProcessor",
    "CategoricalProcessor",
    "CategoricalVocabulary",
    "TOKENIZER_RE",
    "VocabularyProcessor",
    "setup_processor_data_feeder",
    "tokenizer",
]
