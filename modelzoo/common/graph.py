"""The graph around a model: feedable input, loss, counters, evaluation metrics.

One copy of the network serves training and evaluation: the iterator gives training batches unless the handle of the
evaluation iterator is fed. Counters of lines and examples are variables, so that a checkpoint knows where the
input stood.
"""

import argparse
import math
import time
from typing import Callable, Dict, NamedTuple, Optional, Protocol

import tensorflow as tf

from common import checkpoint
from common.cli import StopRequest
from common.errors import InputError
from common.report import cpu_seconds

_EVAL_BATCH = 4096
_AUC_THRESHOLDS = 1000
SKIP_HINT = "--bad_rows=skip leaves such rows out"


class Input(Protocol):
    """Where rows come from. Datasets give (features, labels float32 [B], lines int64 []); see criteo_reader."""

    train_rows: int
    eval_rows: int
    description: dict

    def training(self, start_line: int, end_line: int) -> tf.data.Dataset:
        """Batches of args.batch_size lines: those of the endless training sequence in [start_line, end_line)."""

    def evaluation(self, limit: tf.Tensor, batch_size: int) -> tf.data.Dataset:
        """One pass over the first `limit` (int64 scalar; negative: all) evaluation rows."""

    @property
    def train_failure(self) -> Optional[str]:
        """The malformed row that ended the training data early, or None."""

    @property
    def eval_failure(self) -> Optional[str]:
        """The malformed row that ended an evaluation early, or None."""


class Model(NamedTuple):
    """losses, probabilities: float32 [B]. minimize: makes the op of one step from mean loss and global step."""

    losses: tf.Tensor
    probabilities: tf.Tensor
    minimize: Callable[[tf.Tensor, tf.Variable], tf.Operation]


# (features, labels, training: bool scalar, for batch normalization and the like) -> Model.
ModelFn = Callable[[Dict[str, tf.Tensor], tf.Tensor, tf.Tensor], Model]


class Evaluation(NamedTuple):
    """loss: mean, nats per example. rate: examples per second, without the first batch if there are more (it also
    optimises the graph). bad_rows: malformed lines left out. seconds, cpu_seconds: what all of it took."""

    loss: float
    auc: float
    examples: int
    rate: float
    bad_rows: int
    seconds: float
    cpu_seconds: float


class TrainingGraph:
    """Builds the ops into the current graph.

    Attributes:
      step: fetches of one training step: op, loss, lines, labels, probabilities.
      scaffold: for MonitoredTrainingSession.
    """

    def __init__(self, args: argparse.Namespace, data: Input, model_fn: ModelFn, start_line: int, end_line: int):
        self._data = data
        train = tf.data.make_initializable_iterator(data.training(start_line, end_line))
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, train.initializer)
        self._handle = tf.placeholder_with_default(train.string_handle(), [], name="iterator_handle")
        features, labels, lines = tf.data.Iterator.from_string_handle(
            self._handle, tf.data.get_output_types(train), tf.data.get_output_shapes(train)
        ).get_next()
        self._training = tf.placeholder_with_default(True, [], name="training")
        model = model_fn(features, labels, self._training)

        examples = tf.size(labels, out_type=tf.int64)
        # Not reduce_mean: a batch that lost all its rows as malformed must give 0, not NaN.
        loss = tf.reduce_sum(model.losses) / tf.cast(tf.maximum(examples, 1), tf.float32)
        tf.summary.scalar("loss", loss)
        counters = [
            tf.assign_add(tf.get_variable(name, [], tf.int64, tf.zeros_initializer(), trainable=False), amount)
            for name, amount in ((checkpoint.LINES_READ, lines), (checkpoint.EXAMPLES, examples))
        ]
        self.step = {
            "op": tf.group(model.minimize(loss, tf.train.get_or_create_global_step()), *counters),
            "loss": loss,
            "lines": lines,
            "labels": labels,
            "probabilities": model.probabilities,
        }

        if data.eval_rows:
            self._limit = tf.placeholder_with_default(tf.constant(-1, tf.int64), [], name="eval_limit")
            iterator = tf.data.make_initializable_iterator(
                data.evaluation(self._limit, max(args.batch_size, _EVAL_BATCH))
            )
            self._eval_handle = iterator.string_handle()
            with tf.variable_scope("evaluation"):
                auc, auc_update = tf.metrics.auc(labels, model.probabilities, num_thresholds=_AUC_THRESHOLDS)
                mean, mean_update = tf.metrics.mean(model.losses)
            metric_variables = tf.local_variables("evaluation/")
            self._eval_begin = [tf.variables_initializer(metric_variables), iterator.initializer]
            self._eval_update = [lines, examples, auc_update, mean_update]
            self._eval_result = [mean, auc]
        self.scaffold = tf.train.Scaffold(
            saver=tf.train.Saver(max_to_keep=args.keep_checkpoint_max, save_relative_paths=True)
        )

    def evaluate(self, session: tf.Session, stop: StopRequest, limit: int = -1) -> Evaluation:
        """Runs over the first `limit` evaluation rows (negative: all) with the session's variables.

        `session` must be a plain one: hooks of a monitored session would take the batches for training steps.

        Raises:
          InputError: a malformed row with --bad_rows=fail.
        """
        started, cpu_started = time.monotonic(), cpu_seconds()
        session.run(self._eval_begin, {self._limit: limit})
        feed = {self._handle: session.run(self._eval_handle), self._training: False}
        lines, examples, times = [], [], [time.monotonic()]
        while stop.signum is None:
            try:
                batch_lines, batch_examples, *_ = session.run(self._eval_update, feed)
            except tf.errors.OutOfRangeError:
                break
            lines.append(int(batch_lines))
            examples.append(int(batch_examples))
            times.append(time.monotonic())
        if self._data.eval_failure:
            raise InputError(f"{self._data.eval_failure}; {SKIP_HINT}")
        loss, auc = session.run(self._eval_result) if sum(examples) else (math.nan, math.nan)
        first = 1 if len(lines) > 1 else 0
        rate = sum(examples[first:]) / (times[-1] - times[first]) if lines else math.nan
        return Evaluation(
            float(loss),
            float(auc),
            sum(examples),
            rate,
            bad_rows=sum(lines) - sum(examples),
            seconds=time.monotonic() - started,
            cpu_seconds=cpu_seconds() - cpu_started,
        )


def session_config(args: argparse.Namespace) -> tf.ConfigProto:
    config = tf.ConfigProto(inter_op_parallelism_threads=args.inter, intra_op_parallelism_threads=args.intra)
    if args.xla:
        options = config.graph_options.optimizer_options
        options.global_jit_level = tf.OptimizerOptions.ON_1
        options.cpu_global_jit = True  # without it the level counts for GPUs only
    return config
