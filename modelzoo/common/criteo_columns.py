"""Criteo's columns as the inputs of a network."""

from typing import Dict, List

import tensorflow as tf

from common import criteo


def numeric_columns() -> list:
    """Columns of I1..I13, scaled by the format's constants."""
    return [
        tf.feature_column.numeric_column(name, normalizer_fn=_scaler(minimum, span))
        for name, minimum, span in zip(criteo.NUMERIC, criteo.NUMERIC_MINIMUM, criteo.NUMERIC_RANGE)
    ]


def numbers(features: Dict[str, tf.Tensor]) -> tf.Tensor:
    """float32 [B, 13]: the numeric columns."""
    return tf.feature_column.input_layer(features, numeric_columns())


def vectors(features: Dict[str, tf.Tensor], embeddings) -> List[tf.Tensor]:
    """float32 [B, dim] of each of the 26 categories; embeddings: embeddings.Embeddings."""
    with embeddings.scope():
        columns = [embeddings.column(name) for name in criteo.CATEGORICAL]
    with embeddings.variable_scope("embeddings"):
        outputs = embeddings.look_up(features, columns)
    return [outputs[column] for column in columns]


def _scaler(minimum: float, span: float):
    return lambda x: (x - minimum) / span
