"""Training: hyperparameters, batching, sampling, training and evaluation loops."""

from tensorflow.contrib.training.bucket_ops import (
    bucket,
    bucket_by_sequence_length,
)
from tensorflow.contrib.training.device_setter import (
    GreedyLoadBalancingStrategy,
    RandomStrategy,
    byte_size_load_fn,
)
from tensorflow.contrib.training.evaluation import (
    SummaryAtEndHook,
    checkpoints_iterator,
    evaluate_repeatedly,
    wait_for_new_checkpoint,
)
from tensorflow.contrib.training.hparam import (
    HParams,
    parse_values,
)
from tensorflow.contrib.training.resample import (
    resample_at_rate,
    weighted_resample,
)
from tensorflow.contrib.training.sampling_ops import (
    rejection_sample,
    stratified_sample,
)
from tensorflow.contrib.training.sequence_queueing_state_saver import (
    NextQueuedSequenceBatch,
    SequenceQueueingStateSaver,
    batch_sequences_with_states,
)
from tensorflow.contrib.training.training import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)
from tensorflow.python.training.evaluation import (
    _StopAfterNEvalsHook as StopAfterNEvalsHook,
    _evaluate_once as evaluate_once,
    _get_or_create_eval_step as get_or_create_eval_step,
)

__all__ = [
    "FeedingQueueRunner",
    "GreedyLoadBalancingStrategy",
    "HParams",
    "NextQueuedSequenceBatch",
    "RandomStrategy",
    "SequenceQueueingStateSaver",
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "add_gradients_summaries",
    "batch_sequences_with_states",
    "bucket",
    "bucket_by_sequence_length",
    "byte_size_load_fn",
    "checkpoints_iterator",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "multiply_gradients",
    "parse_values",
    "rejection_sample",
    "resample_at_rate",
    "stratified_sample",
    "train",
    "wait_for_new_checkpoint",
    "weighted_resample",
]


def __getattr__(name):
    if name == "FeedingQueueRunner":
        # In the estimator package, which takes long to import.
        from tensorflow.contrib.training import feeding_queue_runner

        return feeding_queue_runner.FeedingQueueRunner
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
