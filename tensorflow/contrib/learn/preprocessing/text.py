"""Texts as arrays of ids."""

import pickle
import re

import numpy as np

from tensorflow.contrib.learn.preprocessing import categorical_vocabulary
from tensorflow.python.platform import gfile

TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator):
    """Yields the list of words of each text."""
    for value in iterator:
        yield TOKENIZER_RE.findall(value)


class ByteProcessor:
    """Texts as arrays of bytes, cut or filled with zeros.

    Args:
      max_document_length: length of the arrays.
    """

    def __init__(self, max_document_length):
        self.max_document_length = max_document_length

    def fit(self, x):
        """Does nothing; returns this object."""
        return self

    def fit_transform(self, x):
        """`transform(x)`."""
        return self.transform(x)

    def reverse(self, x):
        """Yields the text of each array; bytes that are no UTF-8 give ""."""
        for data in x:
            try:
                yield bytes(bytearray(int(value) for value in data if value > 0)).decode("utf-8")
            except UnicodeDecodeError:
                yield ""

    def transform(self, x):
        """Yields an array of `np.uint8` for each text."""
        for document in x:
            raw = document.encode("utf-8") if isinstance(document, str) else document
            raw = raw[: self.max_document_length]
            yield np.pad(np.frombuffer(raw, dtype=np.uint8), (0, self.max_document_length - len(raw)), "constant")


class VocabularyProcessor:
    """Texts as arrays of word ids, cut or filled with zeros.

    Args:
      max_document_length: length of the arrays.
      min_frequency: how often a word must occur, more than this, to have an id.
      vocabulary: a `CategoricalVocabulary` to start from.
      tokenizer_fn: function of an iterable of texts that yields lists of words.
    """

    def __init__(self, max_document_length, min_frequency=0, vocabulary=None, tokenizer_fn=None):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or categorical_vocabulary.CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents, unused_y=None):
        """Learns the words of texts; returns this object."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents, unused_y=None):
        """`fit`, then `transform`."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        """Yields an int64 array of ids for each text."""
        for tokens in self._tokenizer(raw_documents):
            ids = np.zeros(self.max_document_length, np.int64)
            for i, token in enumerate(tokens[: self.max_document_length]):
                ids[i] = self.vocabulary_.get(token)
            yield ids

    def reverse(self, documents):
        """Yields the text of each array of ids, words with spaces between."""
        for item in documents:
            yield " ".join(self.vocabulary_.reverse(class_id) for class_id in item)

    def save(self, filename):
        """Writes this object to a file, by pickle."""
        with gfile.Open(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename):
        """Reads an object from a file that `save` wrote. Only files that you trust: pickles run code."""
        with gfile.Open(filename, "rb") as file:
            return pickle.loads(file.read())
