"""Training, evaluation and inference of a graph that is given as it is, without an estimator."""

import itertools

from tensorflow.contrib.learn import monitors as monitors_lib
from tensorflow.core.framework import summary_pb2
from tensorflow.python.client import session as session_lib
from tensorflow.python.framework import errors, ops
from tensorflow.python.ops import control_flow_ops, lookup_ops, resources, variables
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.summary import summary
from tensorflow.python.training import (
    basic_session_run_hooks,
    coordinator,
    monitored_session,
    queue_runner_impl,
    saver,
    session_run_hook,
    summary_io,
    training_util,
)

get_summary_writer = summary_io.SummaryWriterCache.get


def clear_summary_writers():
    """Forgets (and flushes) the writers that `get_summary_writer` keeps."""
    summary_io.SummaryWriterCache.clear()


class _FeedHook(session_run_hook.SessionRunHook):
    def __init__(self, feed_fn):
        self._feed_fn = feed_fn

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs(None, feed_dict=self._feed_fn())


class _LossHook(session_run_hook.SessionRunHook):
    """Keeps the loss, and logs it."""

    def __init__(self, loss, global_step, every):
        self._fetches, self._every, self._count = (loss, global_step), every, 0
        self.loss = None

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs(self._fetches)

    def after_run(self, run_context, run_values):
        self.loss, step = run_values.results
        if self._every and self._count % self._every == 0:
            logging.info("loss = %s, step = %s", self.loss, step)
        self._count += 1


def _global_step(graph, given):
    step = given if given is not None else training_util.get_global_step(graph)
    if step is None:
        raise ValueError('No "global_step" was provided or found in the graph.')
    return step


def train(
    graph,
    output_dir,
    train_op,
    loss_op,
    global_step_tensor=None,
    init_op=None,
    init_feed_dict=None,
    init_fn=None,
    log_every_steps=10,
    supervisor_is_chief=True,
    supervisor_master="",
    supervisor_save_model_secs=600,
    keep_checkpoint_max=5,
    supervisor_save_summaries_steps=100,
    feed_fn=None,
    steps=None,
    fail_on_nan_loss=True,
    monitors=None,
    max_steps=None,
):
    """Trains a graph from the last checkpoint on, or from its initial values.

    Args:
      graph: `tf.Graph`.
      output_dir: folder of checkpoints and summaries.
      train_op: op that is one step; it must raise the global step.
      loss_op: scalar tensor.
      global_step_tensor: the global step; the graph's by default.
      init_op, init_feed_dict: op that initializes the graph, and what it is fed; by default all variables are initialized.
      init_fn: function of a session, called after the initialization.
      log_every_steps: steps between two lines of log; 0 or None: none.
      supervisor_is_chief: whether this process initializes and saves.
      supervisor_master: address of the session.
      supervisor_save_model_secs: seconds between two checkpoints.
      keep_checkpoint_max: number of checkpoints that stay.
      supervisor_save_summaries_steps: steps between two summaries.
      feed_fn: function that returns a feed dict for each step.
      steps: number of steps; None: until the input ends.
      fail_on_nan_loss: whether a NaN loss raises `NanLossDuringTrainingError` instead of ending training.
      monitors: list of monitors; by default those that `get_default_monitors` returns.
      max_steps: global step at which training ends.

    Returns:
      The last loss; None if there was no step.

    Raises:
      ValueError: if an argument is missing, there is no global step, or both `steps` and `max_steps` are given.
    """
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    if train_op is None:
        raise ValueError("Missing train_op.")
    if loss_op is None:
        raise ValueError("Missing loss_op.")
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    with graph.as_default():
        global_step = _global_step(graph, global_step_tensor)
        if not ops.get_collection(ops.GraphKeys.GLOBAL_STEP):
            ops.add_to_collection(ops.GraphKeys.GLOBAL_STEP, global_step)
        if monitors is None:
            monitors = monitors_lib.get_default_monitors(
                loss_op=loss_op,
                summary_op=summary.merge_all(),
                save_summary_steps=supervisor_save_summaries_steps,
                output_dir=output_dir,
            )
        if not supervisor_is_chief:
            monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
        last = _LossHook(loss_op, global_step, log_every_steps)
        hooks = [basic_session_run_hooks.NanTensorHook(loss_op, fail_on_nan_loss=fail_on_nan_loss), last]
        if feed_fn is not None:
            hooks.append(_FeedHook(feed_fn))
        if monitors:
            hooks.append(monitors_lib.RunHookAdapterForMonitors(monitors))
        if steps is not None or max_steps is not None:
            hooks.append(basic_session_run_hooks.StopAtStepHook(num_steps=steps, last_step=max_steps))
        scaffold = monitored_session.Scaffold(
            init_op=init_op,
            init_feed_dict=init_feed_dict,
            init_fn=None if init_fn is None else lambda _, session: init_fn(session),
            saver=saver.Saver(sharded=True, max_to_keep=keep_checkpoint_max, defer_build=True),
        )
        if supervisor_is_chief:
            save = basic_session_run_hooks.CheckpointSaverHook(
                output_dir, save_secs=supervisor_save_model_secs, scaffold=scaffold
            )
            hooks += [save, basic_session_run_hooks.StepCounterHook(output_dir=output_dir)]
            creator = monitored_session.ChiefSessionCreator(scaffold, supervisor_master, checkpoint_dir=output_dir)
        else:
            creator = monitored_session.WorkerSessionCreator(scaffold, supervisor_master)
        with monitored_session.MonitoredSession(creator, hooks) as session:
            if max_steps is not None and _value(session, global_step) >= max_steps:
                logging.info("Skipping training since max_steps has already been reached.")
                return None
            while not session.should_stop():
                session.run(train_op)
        return last.loss


def _value(session, tensor):
    # Past the hooks: this look is no step of the training.
    return session.run_step_fn(lambda context: context.session.run(tensor))


def _prepare(session, checkpoint_path):
    """Initializes the session, then restores the checkpoint, if there is one."""
    session.run(control_flow_ops.group(variables.global_variables_initializer(), resources.initialize_resources(
        resources.shared_resources()
    )))  # fmt: skip
    if checkpoint_path:
        saver.Saver().restore(session, checkpoint_path)
    session.run([variables.local_variables_initializer(), lookup_ops.tables_initializer()])


def evaluate(
    graph,
    output_dir,
    checkpoint_path,
    eval_dict,
    update_op=None,
    global_step_tensor=None,
    supervisor_master="",
    log_every_steps=10,
    feed_fn=None,
    max_steps=None,
):
    """Evaluates a graph, and writes the values as summaries.

    Args:
      graph: `tf.Graph`.
      output_dir: folder of the summaries; None: they are not written.
      checkpoint_path: checkpoint; None: initial values.
      eval_dict: dict: name -> tensor, read after the last step.
      update_op: op that is one step; None: `eval_dict` is what runs.
      global_step_tensor: the global step; the graph's by default.
      supervisor_master: address of the session.
      log_every_steps: steps between two lines of log; 0 or None: none.
      feed_fn: function that returns a feed dict for each step.
      max_steps: number of steps; None: until the input ends.

    Returns:
      `(dict of values, global step)`.

    Raises:
      ValueError: if there is no global step.
    """
    with graph.as_default():
        global_step = _global_step(graph, global_step_tensor)
        results, fetch = None, eval_dict if update_op is None else update_op
        with session_lib.Session(supervisor_master) as session:
            _prepare(session, checkpoint_path)
            current = int(session.run(global_step))
            coord = coordinator.Coordinator(clean_stop_exception_types=(errors.OutOfRangeError, errors.CancelledError))
            threads = queue_runner_impl.start_queue_runners(session, coord)
            try:
                for step in itertools.count() if max_steps is None else range(max_steps):
                    values = session.run(fetch, feed_dict=feed_fn() if feed_fn is not None else None)
                    results = values if update_op is None else results
                    if log_every_steps and (step + 1) % log_every_steps == 0:
                        logging.info("Results after %d steps: %s.", step + 1, results)
            except (errors.OutOfRangeError, StopIteration):
                logging.info("Input queue is exhausted.")
            if results is None:
                # The values that update_op gathered need no input; tensors of the input need one more.
                results = session.run(eval_dict, feed_dict=feed_fn() if feed_fn is not None else None)
            coord.request_stop()
            coord.join(threads, ignore_live_threads=True)
    if output_dir:
        _write_results(output_dir, results, current)
    return results, current


def _write_results(output_dir, results, step):
    proto = summary_pb2.Summary()
    for name in sorted(results):
        try:
            proto.value.add(tag=name, simple_value=float(results[name]))
        except (TypeError, ValueError):
            logging.warning("Skipping summary for %s, must be a number.", name)
    writer = get_summary_writer(output_dir)
    writer.add_summary(proto, step)
    writer.flush()


def run_feeds_iter(output_dict, feed_dicts, restore_checkpoint_path=None):
    """Runs tensors once for each of several feed dicts.

    Args:
      output_dict: dict: name -> tensor, all of one graph.
      feed_dicts: iterable of feed dicts.
      restore_checkpoint_path: checkpoint; None: initial values.

    Yields:
      dict: name -> value.

    Raises:
      ValueError: if `output_dict` or `feed_dicts` is missing.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    return _run_feeds(output_dict, feed_dicts, restore_checkpoint_path)


def _run_feeds(output_dict, feed_dicts, restore_checkpoint_path):
    graph = next(iter(output_dict.values())).graph
    with session_lib.Session(graph=graph) as session:
        with graph.as_default():
            _prepare(session, restore_checkpoint_path)
            coord = coordinator.Coordinator()
            threads = queue_runner_impl.start_queue_runners(session, coord)
        try:
            for feed_dict in feed_dicts:
                yield session.run(output_dict, feed_dict)
        finally:
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=120, ignore_live_threads=True)


def run_feeds(*args, **kwargs):
    """`run_feeds_iter`, as a list."""
    return list(run_feeds_iter(*args, **kwargs))


def run_n(output_dict, feed_dict=None, restore_checkpoint_path=None, n=1):
    """Runs tensors `n` times.

    Args:
      output_dict: dict: name -> tensor.
      feed_dict: feed dict of each run.
      restore_checkpoint_path: checkpoint; None: initial values.
      n: number of runs.

    Returns:
      List of `n` dicts: name -> value.
    """
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


def infer(restore_checkpoint_path, output_dict, feed_dict=None):
    """Runs tensors once.

    Args:
      restore_checkpoint_path: checkpoint; None: initial values.
      output_dict: dict: name -> tensor.
      feed_dict: feed dict.

    Returns:
      dict: name -> value.
    """
    return run_n(output_dict, feed_dict, restore_checkpoint_path)[0]
