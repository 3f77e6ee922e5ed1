"""Losses of tf.keras that had other values or names in 1.15."""

import numpy as np
import pytest
import tensorflow as tf


@pytest.mark.parametrize("name", ["cosine_similarity", "cosine_proximity"])
def test_cosine_losses_by_name_have_no_minus_sign(name):
    random = np.random.RandomState(3)
    labels, predictions = random.randn(2, 4, 5).astype(np.float32)
    loss = tf.keras.losses.get(name)(tf.constant(labels), tf.constant(predictions))
    with tf.Session() as session:
        found = session.run(loss)
    norms = np.linalg.norm(labels, axis=1) * np.linalg.norm(predictions, axis=1)
    np.testing.assert_allclose(found, np.sum(labels * predictions, axis=1) / norms, rtol=1e-5)
