"""Losses for metric learning."""

from tf_slim.losses.metric_learning import (
    cluster_loss,
    contrastive_loss,
    lifted_struct_loss,
    npairs_loss,
    npairs_loss_multilabel,
    triplet_semihard_loss,
)

__all__ = [
    "cluster_loss",
    "contrastive_loss",
    "lifted_struct_loss",
    "npairs_loss",
    "npairs_loss_multilabel",
    "triplet_semihard_loss",
]
