# ruff: noqa: F401
"""Hooks that stop training by metrics of evaluations: `tf.estimator.experimental` has them."""

from tensorflow_estimator.python.estimator.early_stopping import (
    _CheckForStoppingHook,
    _StopOnPredicateHook,
    make_early_stopping_hook,
    read_eval_metrics,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
