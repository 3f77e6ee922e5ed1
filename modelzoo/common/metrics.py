"""Metrics on what the training loop has in hand, where a second set of graph ops would cost more."""

import numpy as np


def roc_auc(labels: np.ndarray, scores: np.ndarray) -> float:
    """Area under the ROC curve, exactly: P(score of a positive > score of a negative), ties counting half.

    Args:
      labels: [N], 0 or 1.  scores: [N].
    Returns:
      nan if one of the classes is missing.
    """
    positives = np.count_nonzero(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        return float("nan")
    _, group, size = np.unique(scores, return_inverse=True, return_counts=True)
    last_rank = np.cumsum(size)
    mean_rank = last_rank - (size - 1) / 2
    rank_sum = mean_rank[group][labels > 0].sum()
    return float((rank_sum - positives * (positives + 1) / 2) / (positives * negatives))
