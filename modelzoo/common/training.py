"""Trains and evaluates a binary classifier, or several in one network: the one loop of all models."""

import argparse
import math
import os
import platform
import time
from typing import NamedTuple, Optional

import tensorflow as tf

from common import checkpoint, clusters, export, flags, plots, report
from common.cli import StopRequest, resume_command
from common.errors import InputError
from common.graph import SKIP_HINT, Evaluation, Input, ModelFn, TrainingGraph, session_config
from common.history import History, Window
from common.progress import Progress, log

_POINTS = 10
_ENDLESS = 2**62
_WAIT_SECONDS = 0.2


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
    settings = {"model": name, **settings, **({"workqueue": True} if args.workqueue else {})}
    start = checkpoint.open_directory(
        args.checkpoint, settings, args.restart, _is_chief(args), args.incremental_ckpt > 0
    )
    try:
        # The checkpoints may be elsewhere, and nothing be left to train.
        os.makedirs(args.output_dir, exist_ok=True)
    except OSError as error:
        raise InputError(f"{args.output_dir}: {error.strerror}") from None
    history = History(os.path.join(args.output_dir, "history.json"), start.step)
    last_step, end_line = _end(args, data, start)
    with tf.Graph().as_default(), tf.device(clusters.of(args).device if clusters.of(args) else None):
        tf.set_random_seed(args.seed)
        graph = TrainingGraph(args, data, model_fn, start.lines_read, end_line)
        run = _Run(args, data, graph, history, stop)
        train = _train(run, start, last_step, end_line)
        evaluation = _evaluate_checkpoint(run) if data.eval_rows and not clusters.of(args) else None
    if not _is_chief(args):
        _report(name, run, start, train, None)
        return
    if clusters.of(args):
        # By itself: parameter servers may be gone.
        args.workqueue = False
        clusters.leave(args)
        with tf.Graph().as_default():
            if data.eval_rows:
                evaluation = _evaluate_checkpoint(
                    run._replace(graph=TrainingGraph(args, data, model_fn, start.lines_read, end_line))
                )
    if args.export:
        export.export_and_predict(args, data, model_fn)
    _report(name, run, start, train, evaluation)


def _is_chief(args: argparse.Namespace) -> bool:
    cluster = clusters.of(args)
    return cluster is None or cluster.is_chief


def _end(args: argparse.Namespace, data: Input, start: checkpoint.Position) -> "tuple[int, int]":
    """Global step and training line at which the training ends, counted from where the checkpoint stands."""
    if args.workqueue and not args.steps:
        # Until the queue has no more works: those that were open at the checkpoint are trained again.
        return _ENDLESS, max(start.lines_read, args.epochs * data.train_rows)
    if args.steps:
        return args.steps, start.lines_read + max(0, args.steps - start.step) * flags.lines_per_step(args)
    end_line = max(start.lines_read, args.epochs * data.train_rows)
    return start.step + math.ceil((end_line - start.lines_read) / flags.lines_per_step(args)), end_line


def _train(run: _Run, start: checkpoint.Position, last_step: int, end_line: int) -> Optional[report.Measure]:
    args = run.args
    if start.step >= last_step:
        log.info("%s is at step %s already, nothing to train; --restart begins again", args.checkpoint, start.step)
        return None
    of_steps = "" if last_step == _ENDLESS else f" of {last_step}"
    if start.step:
        log.info("resuming at step %d%s from %s", start.step, of_steps, args.checkpoint)
    hooks = [tf.make_prefetch_hook()] if args.smartstaged else []
    if args.timeline:
        hooks.append(tf.train.ProfilerHook(save_steps=args.timeline, output_dir=args.output_dir))
    with checkpoint.refused(tf.train.latest_checkpoint(args.checkpoint) or args.checkpoint):
        session = tf.train.MonitoredTrainingSession(
            master=clusters.of(args).target if clusters.of(args) else "",
            is_chief=_is_chief(args),
            checkpoint_dir=args.checkpoint,
            scaffold=run.graph.scaffold,
            hooks=hooks,
            config=session_config(args),
            save_checkpoint_steps=args.save_steps,
            summary_dir=args.output_dir,
            save_summaries_steps=args.log_steps,
            log_step_count_steps=args.log_steps,
            # An argument that TensorFlow 1.15 does not have.
            **({"save_incremental_checkpoint_secs": args.incremental_ckpt} if args.incremental_ckpt else {}),
        )
    with session, Progress("trained", end_line, start.lines_read) as progress:
        position, measure = _loop(run, session, progress, start, last_step)
    saved = f"step {position.step}{of_steps} is saved in {args.checkpoint}"
    run.stop.raise_if_set(f"{saved}; go on with: {resume_command()}")
    if run.data.train_failure:
        raise InputError(f"{run.data.train_failure}; {SKIP_HINT} ({saved})")
    if measure is None and (args.steps or not args.workqueue):
        raise InputError(f"the training data ended early ({saved})")
    if measure is None:
        log.info("the queue of %s has no work left, nothing to train; --restart begins again", args.checkpoint)
    return measure


def _loop(run: _Run, session, progress: Progress, start: checkpoint.Position, last_step: int):
    """Trains until the last step, a signal, or the end of the data (by a malformed row).

    Returns the position reached and, if it is the last step, the measure of the training.
    """
    args, window, clock = run.args, Window(flags.lines_per_step(run.args)), _Stopwatch()
    expected = (
        last_step if last_step < _ENDLESS else math.ceil(args.epochs * run.data.train_rows / flags.lines_per_step(args))
    )
    point_steps = args.eval_steps or math.ceil(expected / _POINTS)
    step, lines_read, examples = start
    own_step = step  # of this worker
    timed_examples, held_out = 0, ""
    while step < last_step and run.stop.signum is None:
        try:
            values = session.run(run.graph.step)
        except tf.errors.OutOfRangeError:
            if args.workqueue and not run.data.train_failure:
                _end_of_queue(run, session)
                last_step = last_step if args.steps else step
            break
        own_step += 1
        step = int(values["step"]) if clusters.of(args) else own_step
        lines_read += int(values["lines"])
        examples += int(values["examples"])
        if not math.isfinite(values["loss"]):
            raise InputError(f"the loss became {values['loss']} at step {step}; try a lower learning rate")
        window.add(float(values["loss"]), values["labels"], values["probabilities"])
        if clock.running:
            timed_examples += int(values["examples"])
        else:
            clock.start()  # behind the first step, which also optimises the graph

        note = ""
        if own_step % args.log_steps == 0 or step >= last_step:
            note = f"step {step}, loss {window.recent_loss(args.log_steps):.4f}{held_out}"
        progress.advance(int(values["lines"]), note, say=bool(note))
        if own_step % point_steps == 0 and step < last_step:
            evaluation = None
            if run.data.eval_rows and not clusters.of(args):
                # run_step_fn passes by the hooks, which would count evaluation batches as steps.
                evaluation = session.run_step_fn(
                    lambda step_context: run.graph.evaluate(step_context.session, run.stop, args.curve_rows)
                )
                clock.leave_out(evaluation)
                progress.leave_out(evaluation.seconds)
                held_out = f", held-out AUC {_show_aucs(evaluation)}"
                _summarise(args, step, evaluation)
            if run.stop.signum is None:
                run.history.add(step, examples, window, evaluation)
    position = checkpoint.Position(step, lines_read, examples)
    if step < last_step or own_step == start.step:
        return position, None
    seconds, cpu = clock.read()
    if window:
        run.history.add(step, examples, window)
    tail = run.history.points[-1]
    measure = report.Measure(
        loss=tail.train_loss,
        auc=tail.train_auc,
        examples=examples,
        rate=timed_examples / seconds if timed_examples else math.nan,
        cpu_seconds=cpu,
        bad_rows=lines_read - examples,
        aucs=tail.train_aucs,
    )
    return position, measure


def _end_of_queue(run: _Run, session) -> None:
    """Ends this worker's works; the chief, whose checkpoint is the last, waits for those of the others."""

    def run_past_hooks(fetch):
        return session.run_step_fn(lambda step_context: step_context.session.run(fetch))

    run_past_hooks(run.graph.finished)
    if not (clusters.of(run.args) and clusters.of(run.args).is_chief):
        return
    said = False
    while run.stop.signum is None and run_past_hooks(run.graph.unfinished):
        if not said:
            log.info("waiting for the other workers to finish their last works")
        said = True
        time.sleep(_WAIT_SECONDS)


def _evaluate_checkpoint(run: _Run) -> Evaluation:
    """Measures what was saved, not what is in memory, so the result is that of the files on disk."""
    path = tf.train.latest_checkpoint(run.args.checkpoint)
    log.info("evaluating %s on %s rows", path, f"{run.data.eval_rows:,}")
    with tf.Session(config=session_config(run.args)) as session:
        with checkpoint.refused(path):
            run.graph.scaffold.saver.restore(session, path)
        session.run(run.graph.tables_initializer)
        evaluation = run.graph.evaluate(session, run.stop)
    run.stop.raise_if_set(f"training is complete; evaluate with: {resume_command()}")
    run.history.evaluated(evaluation)
    _summarise(run.args, run.history.points[-1].step if run.history.points else 0, evaluation)
    return evaluation


def _show_aucs(evaluation: Evaluation) -> str:
    if not evaluation.aucs:
        return f"{evaluation.auc:.4f}"
    return " ".join(f"{task} {auc:.4f}" for task, auc in evaluation.aucs.items())


def _summarise(args: argparse.Namespace, step: int, evaluation: Evaluation) -> None:
    """Event files for TensorBoard, in a folder beside those of the training."""
    writer = tf.summary.FileWriterCache.get(os.path.join(args.output_dir, "eval"))
    writer.add_summary(
        tf.Summary(
            value=[
                tf.Summary.Value(tag="loss", simple_value=evaluation.loss),
                tf.Summary.Value(tag="auc", simple_value=evaluation.auc),
                *(
                    tf.Summary.Value(tag=f"auc/{task}", simple_value=auc)
                    for task, auc in (evaluation.aucs or {}).items()
                ),
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
            evaluation.aucs,
        )
    resources = {
        "wall_seconds": report.wall_seconds(),
        "cpu_seconds": report.cpu_seconds(),
        "peak_memory_mib": report.peak_memory_mib(),
    }
    result = {
        "model": name,
        "flags": {name: value for name, value in vars(args).items() if name != clusters.ATTRIBUTE},
        "data": run.data.description,
        "resumed_from_step": start.step,
        "checkpoint": tf.train.latest_checkpoint(args.checkpoint),
        "train": report.as_dict(train) if train else None,
        "eval": report.as_dict(held_out) if held_out else None,
        "curve": [report.as_dict(point) for point in run.history.points],
        "resources": resources,
        "versions": {"tensorflow": tf.__version__, "python": platform.python_version()},
    }
    result_path, plot_path = (os.path.join(args.output_dir, file) for file in ("result.json", "curves.png"))
    report.write_json(result_path, result)
    drawn = run.history.points and plots.curves(plot_path, f"{name}, {args.optimizer}", run.history.points)
    print(report.table(train, held_out, resources))
    print(f"details: {result_path}" + (f"   plot: {plot_path}" if drawn else ""))
