"""Gradients of TPU embeddings: raise RuntimeError, there is no TPU."""

from tensorflow.api_v1.restored import tpu_embedding

TPU_EMBEDDING_ACTIVATIONS_COLLECTION = "tpu_embedding_activations"


def get_gradients_through_compute_gradients(optimizer, loss, activations):
    raise RuntimeError(tpu_embedding._NO_TPU)


def create_dummy_table_variables(tpu_embedding_):
    raise RuntimeError(tpu_embedding._NO_TPU)


hook_dummy_table_variables_to_activations = create_dummy_table_variables
get_gradients_through_dummy_table_variables = create_dummy_table_variables
