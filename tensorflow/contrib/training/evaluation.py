"""Evaluation of checkpoints, once or as they appear."""

from tensorflow.python.training import evaluation
from tf_slim.training.evaluation import (
    SummaryAtEndHook,
    checkpoints_iterator,
    evaluate_repeatedly,
    wait_for_new_checkpoint,
)

StopAfterNEvalsHook = evaluation._StopAfterNEvalsHook
evaluate_once = evaluation._evaluate_once
get_or_create_eval_step = evaluation._get_or_create_eval_step

__all__ = [
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "checkpoints_iterator",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "wait_for_new_checkpoint",
]
