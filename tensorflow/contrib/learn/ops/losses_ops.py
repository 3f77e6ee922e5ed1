"""A linear layer and its loss."""

from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, math_ops, nn
from tensorflow.python.ops.losses import losses


def mean_squared_error_regressor(tensor_in, labels, weights, biases, name=None):
    """Linear regression.

    Args:
      tensor_in: tensor `[batch, n]`.
      labels: tensor `[batch]` or `[batch, outputs]`.
      weights: tensor `[n, outputs]`.
      biases: tensor `[outputs]`.
      name: name of the ops.

    Returns:
      `(predictions, loss)`.
    """
    with ops.name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = nn.xw_plus_b(tensor_in, weights, biases)
        if labels.get_shape().ndims == 1 and predictions.get_shape().ndims == 2:
            predictions = array_ops.squeeze(predictions, axis=[1])
        return predictions, losses.mean_squared_error(labels, predictions)


def softmax_classifier(tensor_in, labels, weights, biases, class_weight=None, name=None):
    """Softmax classification.

    Args:
      tensor_in: tensor `[batch, n]`.
      labels: one-hot tensor `[batch, classes]`.
      weights: tensor `[n, classes]`.
      biases: tensor `[classes]`.
      class_weight: tensor `[classes]` by which logits are multiplied.
      name: name of the ops.

    Returns:
      `(probabilities, loss)`.
    """
    with ops.name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = nn.xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = math_ops.multiply(logits, class_weight)
        return nn.softmax(logits), losses.softmax_cross_entropy(labels, logits)
