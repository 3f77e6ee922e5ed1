"""Trains and evaluates a binary classifier: the one loop of all models."""

import argparse
import dataclasses
import math
import os
import platform
import time
from typing import NamedTuple, Optional

import tensorflow as tf

from common import checkpoint, export, report
from common.cli import StopRequest, resume_command
from common.errors import InputError
from common.graph import SKIP_HINT, Evaluation, Input, ModelFn, TrainingGraph, session_config
from common.history import History, Window
from common.progress import Progress, log

_POINTS = 10


class _Stopwatch:
    """Wall and CPU seconds since `start`, without what was left out."""

    def __init__(self):
        self._wall = self._cpu = None

    def start(self) -> None:
        self._wall, self._cpu = time.monotonic(), report.cpu_seconds()

    @property
    def running(self) -> bool:
        return self._wall is not None

    def leave_out(self, evaluation: Evaluation) -> None:
        self._wall += evaluation.seconds
        self._cpu += evaluation.cpu_seconds

    def read(self) -> "tuple[float, float]":
        return time.monotonic() - self._wall, report.cpu_seconds() - self._cpu


class _Run(NamedTuple):
    """What the parts of one run share."""

    args: argparse.Namespace
    data: Input
    graph: TrainingGraph
    history: History
    stop: StopRequest


def train_and_evaluate(
    name: str, args: argparse.Namespace, data: Input, settings: dict, model_fn: ModelFn, stop: StopRequest
) -> None:
    """Trains to the last step, evaluates the last checkpoint on all evaluation rows, prints the table, writes
    `result.json` and `curves.png` into args.output_dir.

    Args:
      name: of the model, for titles and the result file.
      args: flags of common.flags.add_run_flags.
      settings: what decides the model's variables (JSON types); kept with the checkpoints.
      model_fn: (features, labels, training) -> Model.
    Raises:
      InputError: a checkpoint that does not fit, a malformed row with --bad_rows=fail, a loss that is not finite.
      Stopped: by a signal; everything up to the last whole step is saved.
    """
    start = checkpoint.open_directory(args.checkpoint, {"model": name, **settings}, args.restart)
    history = History(os.path.join(args.output_dir, "history.json"), start.step)
    last_step, end_line = _end(args, data, start)
    with tf.Graph().as_default():
        tf.set_random_seed(args.seed)
        graph = TrainingGraph(args, data, model_fn, start.lines_read, end_line)
        run = _Run(args, data, graph, history, stop)
        train = _train(run, start, last_step, end_line)
        evaluation = _evaluate_checkpoint(run) if data.eval_rows else None
    if args.export:
        export.export_and_predict(args, data, model_fn)
    _report(name, run, start, train, evaluation)


def _end(args: argparse.Namespace, data: Input, start: checkpoint.Position) -> "tuple[int, int]":
    """Global step and training line at which the training ends, counted from where the checkpoint stands."""
    if args.steps:
        return args.steps, start.lines_read + max(0, args.steps - start.step) * args.batch_size
    end_line = max(start.lines_read, args.epochs * data.train_rows)
    return start.step + math.ceil((end_line - start.lines_read) / args.batch_size), end_line


def _train(run: _Run, start: checkpoint.Position, last_step: int, end_line: int) -> Optional[report.Measure]:
    args = run.args
    if start.step >= last_step:
        log.info("%s is at step %s already, nothing to train; --restart begins again", args.checkpoint, start.step)
        return None
    if start.step:
        log.info("resuming at step %d of %d from %s", start.step, last_step, args.checkpoint)
    hooks = []
    if args.timeline:
        hooks.append(tf.train.ProfilerHook(save_steps=args.timeline, output_dir=args.output_dir))
    with checkpoint.refused(tf.train.latest_checkpoint(args.checkpoint) or args.checkpoint):
        session = tf.train.MonitoredTrainingSession(
            checkpoint_dir=args.checkpoint,
            scaffold=run.graph.scaffold,
            hooks=hooks,
            config=session_config(args),
            save_checkpoint_steps=args.save_steps,
            summary_dir=args.output_dir,
            save_summaries_steps=args.log_steps,
            log_step_count_steps=args.log_steps,
        )
    with session, Progress("trained", end_line, start.lines_read) as progress:
        position, measure = _loop(run, session, progress, start, last_step)
    run.stop.raise_if_set(
        f"step {position.step} of {last_step} is saved in {args.checkpoint}; go on with: {resume_command()}"
    )
    if position.step < last_step:
        reason = f"{run.data.train_failure}; {SKIP_HINT}" if run.data.train_failure else "the training data ended early"
        raise InputError(f"{reason} (step {position.step} of {last_step} is saved in {args.checkpoint})")
    return measure


def _loop(run: _Run, session, progress: Progress, start: checkpoint.Position, last_step: int):
    """Trains until the last step, a signal, or the end of the data (by a malformed row).

    Returns the position reached and, if it is the last step, the measure of the training.
    """
    args, window, clock = run.args, Window(run.args.batch_size), _Stopwatch()
    point_steps = args.eval_steps or math.ceil(last_step / _POINTS)
    step, lines_read, examples = start
    timed_examples, held_out = 0, ""
    while step < last_step and run.stop.signum is None:
        try:
            values = session.run(run.graph.step)
        except tf.errors.OutOfRangeError:
            break
        step += 1
        lines_read += int(values["lines"])
        examples += len(values["labels"])
        if not math.isfinite(values["loss"]):
            raise InputError(f"the loss became {values['loss']} at step {step}; try a lower learning rate")
        window.add(float(values["loss"]), values["labels"], values["probabilities"])
        if clock.running:
            timed_examples += len(values["labels"])
        else:
            clock.start()  # behind the first step, which also optimises the graph

        note = ""
        if step % args.log_steps == 0 or step == last_step:
            note = f"step {step}, loss {window.recent_loss(args.log_steps):.4f}{held_out}"
        progress.advance(int(values["lines"]), note, say=bool(note))
        if step % point_steps == 0 and step < last_step:
            evaluation = None
            if run.data.eval_rows:
                # run_step_fn passes by the hooks, which would count evaluation batches as steps.
                evaluation = session.run_step_fn(
                    lambda step_context: run.graph.evaluate(step_context.session, run.stop, args.curve_rows)
                )
                clock.leave_out(evaluation)
                progress.leave_out(evaluation.seconds)
                held_out = f", held-out AUC {evaluation.auc:.4f}"
                _summarise(args, step, evaluation)
            if run.stop.signum is None:
                run.history.add(step, examples, window, evaluation)
    position = checkpoint.Position(step, lines_read, examples)
    if step < last_step:
        return position, None
    seconds, cpu = clock.read()
    measure = report.Measure(
        loss=window.loss(),
        auc=window.auc(),
        examples=examples,
        rate=timed_examples / seconds if timed_examples else math.nan,
        cpu_seconds=cpu,
        bad_rows=lines_read - examples,
    )
    run.history.add(step, examples, window)
    return position, measure


def _evaluate_checkpoint(run: _Run) -> Evaluation:
    """Measures what was saved, not what is in memory, so the result is that of the files on disk."""
    path = tf.train.latest_checkpoint(run.args.checkpoint)
    log.info("evaluating %s on %s rows", path, f"{run.data.eval_rows:,}")
    with tf.Session(config=session_config(run.args)) as session:
        with checkpoint.refused(path):
            run.graph.scaffold.saver.restore(session, path)
        evaluation = run.graph.evaluate(session, run.stop)
    run.stop.raise_if_set(f"training is complete; evaluate with: {resume_command()}")
    run.history.evaluated(evaluation)
    _summarise(run.args, run.history.points[-1].step if run.history.points else 0, evaluation)
    return evaluation


def _summarise(args: argparse.Namespace, step: int, evaluation: Evaluation) -> None:
    """Event files for TensorBoard, in a folder beside those of the training."""
    writer = tf.summary.FileWriterCache.get(os.path.join(args.output_dir, "eval"))
    writer.add_summary(
        tf.Summary(
            value=[
                tf.Summary.Value(tag="loss", simple_value=evaluation.loss),
                tf.Summary.Value(tag="auc", simple_value=evaluation.auc),
            ]
        ),
        step,
    )
    writer.flush()


def _report(
    name: str, run: _Run, start: checkpoint.Position, train: Optional[report.Measure], evaluation: Optional[Evaluation]
) -> None:
    args = run.args
    held_out = None
    if evaluation:
        held_out = report.Measure(
            evaluation.loss,
            evaluation.auc,
            evaluation.examples,
            evaluation.rate,
            evaluation.cpu_seconds,
            evaluation.bad_rows,
        )
    resources = {
        "wall_seconds": report.wall_seconds(),
        "cpu_seconds": report.cpu_seconds(),
        "peak_memory_mib": report.peak_memory_mib(),
    }
    result = {
        "model": name,
        "flags": vars(args),
        "data": run.data.description,
        "resumed_from_step": start.step,
        "checkpoint": tf.train.latest_checkpoint(args.checkpoint),
        "train": dataclasses.asdict(train) if train else None,
        "eval": dataclasses.asdict(held_out) if held_out else None,
        "curve": [dataclasses.asdict(point) for point in run.history.points],
        "resources": resources,
        "versions": {"tensorflow": tf.__version__, "python": platform.python_version()},
    }
    result_path, plot_path = (os.path.join(args.output_dir, file) for file in ("result.json", "curves.png"))
    report.write_json(result_path, result)
    drawn = run.history.points and report.plot(plot_path, f"{name}, {args.optimizer}", run.history.points)
    print(report.table(train, held_out, resources))
    print(f"details: {result_path}" + (f"   plot: {plot_path}" if drawn else ""))
