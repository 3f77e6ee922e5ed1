"""Categorical data as ids."""

import numpy as np

from tensorflow.contrib.learn.preprocessing import categorical_vocabulary


class CategoricalProcessor:
    """Rows of categories as rows of ids, a vocabulary for each column.

    Args:
      min_frequency: how often a category must occur, more than this, to have an id.
      share: whether all columns have one vocabulary.
      vocabularies: vocabularies to start from.
    """

    def __init__(self, min_frequency=0, share=False, vocabularies=None):
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze=True):
        """Stops (or lets) new categories get ids."""
        for vocabulary in self.vocabularies_:
            vocabulary.freeze(freeze)

    def fit(self, x, unused_y=None):
        """Learns the categories of rows; returns this object."""
        for row in np.array(x):
            if self.vocabularies_ is None:
                make = categorical_vocabulary.CategoricalVocabulary
                shared = make()
                self.vocabularies_ = [shared if self.share else make() for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row):
                # NaN is not a category.
                if value == value:
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_:
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x, unused_y=None):
        """`fit`, then `transform`."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x):
        """Yields an int64 array of ids for each row."""
        self.freeze()
        for row in np.array(x):
            ids = [v.get(value) if value == value else 0 for v, value in zip(self.vocabularies_, row)]
            yield np.array(ids, dtype=np.int64)
