"""The graph around a model: feedable input, loss, counters, evaluation metrics.

One copy of the network serves training and evaluation: the iterator gives training batches unless the handle of the
evaluation iterator is fed. With --smartstaged training batches come out of a stage, which feeding does not reach, so evaluation has
a copy of the network with the same variables. Counters of lines and examples are variables, so that a checkpoint knows where the
input stood.
"""

import argparse
import math
import random
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Protocol, Sequence, Union

import numpy as np
import tensorflow as tf

from common import checkpoint, clusters, flags
from common.cli import StopRequest
from common.errors import InputError
from common.report import cpu_seconds
from common.tasks import by_task, first, of_several

_AUC_THRESHOLDS = 1000
_STAGED_BATCHES = 40
# Read ahead of the step: prefetched, decoded, in the step, and one more.
_BATCHES_AHEAD = 8
SKIP_HINT = "--bad_rows=skip leaves such rows out"


class Input(Protocol):
    """Where rows come from. Datasets give (features, labels, lines); see text_reader.Batch.

    training_only: names of features that the loss alone looks at; a SavedModel does without them.
    """

    training_only: Sequence[str]
    train_rows: int
    eval_rows: int
    description: dict

    def training(self, start_line: int, end_line: int) -> tf.data.Dataset:
        """Batches of args.batch_size lines: those of the endless training sequence in [start_line, end_line)."""

    def works(self) -> List[str]:
        """The training rows in pieces, for --workqueue."""

    def of_works(self, works: tf.data.Dataset) -> tf.data.Dataset:
        """Batches of args.batch_size lines of the pieces."""

    def evaluation(self, limit: tf.Tensor, batch_size: int) -> tf.data.Dataset:
        """One pass over the first `limit` (int64 scalar; negative: all) evaluation rows."""

    @property
    def train_failure(self) -> Optional[str]:
        """The malformed row that ended the training data early, or None."""

    @property
    def eval_failure(self) -> Optional[str]:
        """The malformed row that ended an evaluation early, or None."""


class Model(NamedTuple):
    """losses: float32 [B], of all tasks. probabilities: float32 [B], or a dict of them by label, the main task first.
    minimize: makes the op of one step from mean loss and global step. eval_batch: rows of a step of evaluation, if --batch_size is
    less."""

    losses: tf.Tensor
    probabilities: Union[tf.Tensor, Dict[str, tf.Tensor]]
    minimize: Callable[[tf.Tensor, tf.Variable], tf.Operation]
    eval_batch: int = 4096


# (features, labels, training: bool scalar, for batch normalization and the like) -> Model.
ModelFn = Callable[[Dict[str, tf.Tensor], Union[tf.Tensor, Dict[str, tf.Tensor]], tf.Tensor], Model]


class Evaluation(NamedTuple):
    """loss: mean, nats per example. auc: of the main task. rate: examples per second, without the first batch if there
    are more (it also optimises the graph). bad_rows: malformed lines left out. seconds, cpu_seconds: what all of it took.
    aucs: of each task, if there are several."""

    loss: float
    auc: float
    examples: int
    rate: float
    bad_rows: int
    seconds: float
    cpu_seconds: float
    aucs: Optional[Dict[str, float]] = None


class _Part(NamedTuple):
    """The network on one batch. labels, probabilities: by task. lines, examples: int64 []."""

    model: Model
    labels: Dict[str, tf.Tensor]
    probabilities: Dict[str, tf.Tensor]
    lines: tf.Tensor
    examples: tf.Tensor

    @classmethod
    def of(cls, batch, model_fn: ModelFn, training: tf.Tensor) -> "_Part":
        features, labels, lines = batch
        model = model_fn(features, labels, training)
        probabilities = by_task(model.probabilities)
        labels = {task: by_task(labels)[task] for task in probabilities}
        return cls(model, labels, probabilities, tf.reduce_sum(lines), tf.size(first(labels), out_type=tf.int64))


class TrainingGraph:
    """Builds the ops into the current graph.

    Attributes:
      step: fetches of one training step: op, loss, lines, examples; labels and probabilities by task; in a cluster the global
        step behind it, which counts those of all workers.
      queue: the WorkQueue of --workqueue, or None. finished: the op that ends its last works. unfinished: how many there are.
      scaffold: for MonitoredTrainingSession.
      tables_initializer: op that reads vocabularies; a monitored session runs it by itself.
    """

    def __init__(self, args: argparse.Namespace, data: Input, model_fn: ModelFn, start_line: int, end_line: int):
        self._data = data
        self.queue = _queue(args, data, end_line) if args.workqueue else None
        rows = data.of_works(self.queue.input_dataset()) if self.queue else data.training(start_line, end_line)
        train = tf.data.make_initializable_iterator(rows)
        self._eval_feed = {}
        if args.smartstaged:
            # One thread: the order of the rows is that of the input, so their number says where to go on.
            batch, training = tf.staged(train.get_next(), capacity=_STAGED_BATCHES), tf.constant(True)
        else:
            handle = tf.placeholder_with_default(train.string_handle(), [], name="iterator_handle")
            types = tf.data.get_output_types(train), tf.data.get_output_shapes(train)
            batch = tf.data.Iterator.from_string_handle(handle, *types).get_next()
            training = tf.placeholder_with_default(True, [], name="training")
        part = _Part.of(batch, model_fn, training)

        # Not reduce_mean: a batch that lost all its rows as malformed must give 0, not NaN.
        loss = tf.reduce_sum(part.model.losses) / tf.cast(tf.maximum(part.examples, 1), tf.float32)
        tf.summary.scalar("loss", loss)
        lines_read, examples = _counter(checkpoint.LINES_READ), _counter(checkpoint.EXAMPLES)
        counters = [tf.assign_add(lines_read, part.lines), tf.assign_add(examples, part.examples)]
        global_step = tf.train.get_or_create_global_step()
        trained = tf.group(part.model.minimize(loss, global_step), *counters)
        self.step = {
            "op": trained,
            "loss": loss,
            "lines": part.lines,
            "examples": part.examples,
            "labels": part.labels,
            "probabilities": part.probabilities,
        }
        if clusters.of(args):
            with tf.control_dependencies([trained]):
                self.step["step"] = tf.identity(global_step.read_value())
        if self.queue:
            self.finished, self.unfinished = self.queue.finished(), self.queue.unfinished()

        if data.eval_rows and not clusters.of(args):
            self._limit = tf.placeholder_with_default(tf.constant(-1, tf.int64), [], name="eval_limit")
            iterator = tf.data.make_initializable_iterator(
                data.evaluation(self._limit, max(args.batch_size, part.model.eval_batch))
            )
            if args.smartstaged:
                with tf.variable_scope(tf.get_variable_scope(), reuse=True), tf.name_scope("evaluation_network"):
                    part = _Part.of(iterator.get_next(), model_fn, tf.constant(False))
            else:
                self._eval_feed = {handle: iterator.string_handle(), training: False}
            with tf.variable_scope("evaluation"):
                aucs = {
                    task: tf.metrics.auc(part.labels[task], part.probabilities[task], num_thresholds=_AUC_THRESHOLDS)
                    for task in part.probabilities
                }
                mean, mean_update = tf.metrics.mean(part.model.losses)
            metric_variables = tf.local_variables("evaluation/")
            self._eval_begin = [tf.variables_initializer(metric_variables), iterator.initializer]
            self._eval_update = [part.lines, part.examples, mean_update, *(update for _, update in aucs.values())]
            self._eval_result = [mean, {task: auc for task, (auc, _) in aucs.items()}]
            self._no_result = [math.nan, dict.fromkeys(aucs, math.nan)]
        # Behind the evaluation's copy of the network, which may have tables of its own.
        self.tables_initializer = tf.tables_initializer()
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, train.initializer)
        local_init = None
        if self.queue and args.steps and not (clusters.of(args) and not clusters.of(args).is_chief):
            local_init = tf.group(
                tf.train.Scaffold.default_local_init_op(), _refill(self.queue, data, args, lines_read, end_line)
            )
        self.scaffold = tf.train.Scaffold(
            local_init_op=local_init,
            saver=tf.train.Saver(
                max_to_keep=args.keep_checkpoint_max,
                save_relative_paths=True,
                sharded=clusters.of(args) is not None,
                **({"incremental_save_restore": True} if args.incremental_ckpt else {}),
            ),
        )

    def evaluate(self, session: tf.Session, stop: StopRequest, limit: int = -1) -> Evaluation:
        """Runs over the first `limit` evaluation rows (negative: all) with the session's variables.

        `session` must be a plain one: hooks of a monitored session would take the batches for training steps.

        Raises:
          InputError: a malformed row with --bad_rows=fail.
        """
        started, cpu_started = time.monotonic(), cpu_seconds()
        session.run(self._eval_begin, {self._limit: limit})
        feed = {
            tensor: session.run(value) if isinstance(value, tf.Tensor) else value
            for tensor, value in self._eval_feed.items()
        }
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
        loss, aucs = session.run(self._eval_result) if sum(examples) else self._no_result
        timed = 1 if len(lines) > 1 else 0
        rate = sum(examples[timed:]) / (times[-1] - times[timed]) if lines else math.nan
        return Evaluation(
            float(loss),
            float(first(aucs)),
            sum(examples),
            rate,
            bad_rows=sum(lines) - sum(examples),
            seconds=time.monotonic() - started,
            cpu_seconds=cpu_seconds() - cpu_started,
            aucs=of_several(aucs, float),
        )


def _counter(name: str):
    # A resource: workers of a cluster add to it at the same time.
    return tf.get_variable(name, [], tf.int64, tf.zeros_initializer(), trainable=False, use_resource=True)


def _queue(args: argparse.Namespace, data: Input, end_line: int):
    from tensorflow.python.ops.work_queue import WorkQueue, parse_slice  # the released TensorFlow has none

    works = data.works()
    # With --steps, as many passes as they can take.
    passes = math.ceil(end_line / data.train_rows) if args.steps else args.epochs
    # A work counts as trained when its rows can not be in a buffer any more.
    ahead = (_BATCHES_AHEAD + (_STAGED_BATCHES if args.smartstaged else 0)) * flags.lines_per_step(args)
    least = min(piece.end - piece.start for piece in map(parse_slice, works))
    return WorkQueue(
        works,
        num_epochs=passes,
        shuffle=args.shuffle_buffer > 1,
        seed=args.seed,
        num_clients=1 + math.ceil(ahead / least),
        name="files",
    )


def _refill(queue, data: Input, args: argparse.Namespace, lines_read: tf.Variable, end_line: int) -> tf.Operation:
    """Puts further passes behind the works that a checkpoint left, where they are too few for its --steps.

    Run when the checkpoint is restored and no work is taken yet.
    """
    from tensorflow.python.ops.work_queue import parse_slice

    def more(left, lines):
        left, every = left.tolist(), [work.encode() for work in data.works()]
        rows = sum(piece.end - piece.start for piece in map(parse_slice, left))
        enough = rows >= end_line - lines
        order = random.Random(f"{args.seed} {lines}")
        while rows < end_line - lines:
            left += order.sample(every, len(every)) if args.shuffle_buffer > 1 else every
            rows += data.train_rows
        return np.array(left, object), enough

    with tf.name_scope("refill"):
        works, enough = tf.py_func(more, [queue.remaining(), lines_read.read_value()], [tf.string, tf.bool])

        def put():
            with tf.control_dependencies([queue.replace(tf.reshape(works, [-1]))]):
                return tf.constant(True)

        return tf.cond(enough, lambda: tf.constant(False), put).op


def session_config(args: argparse.Namespace) -> tf.ConfigProto:
    config = tf.ConfigProto(inter_op_parallelism_threads=args.inter, intra_op_parallelism_threads=args.intra)
    options = config.graph_options.optimizer_options
    if args.op_fusion:
        options.do_op_fusion = True
    if args.smartstaged:
        options.do_smart_stage = True
    if args.micro_batch > 1:
        options.micro_batch_num = args.micro_batch
    if clusters.of(args):
        config.device_filters.extend(clusters.of(args).filters)
    if args.xla:
        options.global_jit_level = tf.OptimizerOptions.ON_1
        options.cpu_global_jit = True  # without it the level counts for GPUs only
    return config
