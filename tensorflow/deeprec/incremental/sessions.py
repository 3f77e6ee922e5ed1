"""Incremental checkpoints in monitored sessions: written by CheckpointSaverHook, restored after the full one."""

import contextlib
import contextvars
import functools
import inspect
import os

from tensorflow.deeprec.incremental import saver as incremental_saver
from tensorflow.python.framework import ops
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import basic_session_run_hooks, monitored_session, session_manager, training
from tensorflow.python.training import saver as saver_lib

_SECONDS = "save_incremental_checkpoint_secs"

# Of the MonitoredTrainingSession that is being made, for the hook that it makes.
_seconds_of_session = contextvars.ContextVar(_SECONDS, default=None)


def _checked_seconds(name: str, seconds):
    """None for None, 0 and False, which mean that there are to be no incremental checkpoints."""
    if not seconds:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ValueError(f"{name} must be a positive number of seconds, None or 0, got {seconds!r}")
    return seconds


def _check_saver(saver, argument: str) -> None:
    if not incremental_saver.is_incremental(saver):
        raise ValueError(f"{argument} needs a Saver(incremental_save_restore=True), got {saver!r}")


def _with_parameter(call, released, name: str, default):
    """Shows the added parameter to inspect, which does not look at what is wrapped."""
    signature = inspect.signature(released)
    added = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
    call.__signature__ = signature.replace(parameters=[*signature.parameters.values(), added])
    return call


def _init_hook(released):
    @functools.wraps(released)
    def init(self, *args, incremental_save_secs=None, **kwargs):
        seconds = _checked_seconds("incremental_save_secs", incremental_save_secs) or _seconds_of_session.get()
        released(self, *args, **kwargs)
        self._incremental_timer = None
        if seconds is None:
            return
        if self._saver is not None:
            _check_saver(self._saver, "incremental_save_secs")
        self._incremental_timer = basic_session_run_hooks.SecondOrStepTimer(every_secs=seconds)
        self._incremental_path = os.path.join(
            self._checkpoint_dir, incremental_saver.SUB_INCR_CKPT_DIR, incremental_saver.BASENAME
        )

    return _with_parameter(init, released, "incremental_save_secs", None)


def _timer(hook):
    # Of a subclass that does without its base's __init__: none.
    return getattr(hook, "_incremental_timer", None)


def _after_create_session(released):
    @functools.wraps(released)
    def after_create_session(self, session, coord):
        if _timer(self) is not None:
            _check_saver(self._get_saver(), "incremental_save_secs")
            step = session.run(self._global_step_tensor)
            incremental_saver.drop_increments_after(os.path.dirname(self._incremental_path), step)
            self._incremental_timer.reset()
            self._incremental_timer.update_last_triggered_step(step)
        # Saves a full checkpoint, to which the incremental ones are increments.
        released(self, session, coord)

    return after_create_session


def _after_run(released):
    @functools.wraps(released)
    def after_run(self, run_context, run_values):
        if _timer(self) is None:
            return released(self, run_context, run_values)
        before = self._timer.last_triggered_step()
        result = released(self, run_context, run_values)
        timer, session = self._incremental_timer, run_context.session
        if self._timer.last_triggered_step() != before:
            # There is nothing to add to a full checkpoint of this very step.
            timer.update_last_triggered_step(self._timer.last_triggered_step())
        elif timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            step = session.run(self._global_step_tensor)
            if timer.should_trigger_for_step(step):
                timer.update_last_triggered_step(step)
                logging.info("Saving an incremental checkpoint for %d into %s.", step, self._incremental_path)
                incremental_saver.incremental_saver_of(self._get_saver()).incremental_save(
                    session, self._incremental_path, int(step)
                )
        return result

    return after_run


def _init_scaffold(released):
    @functools.wraps(released)
    def init(self, *args, incremental_save_restore=None, **kwargs):
        released(self, *args, **kwargs)
        if incremental_save_restore is None:
            copied = inspect.signature(released).bind(self, *args, **kwargs).arguments.get("copy_from_scaffold")
            incremental_save_restore = getattr(copied, "_incremental_save_restore", False)
        _make_incremental(self, incremental_save_restore)

    return _with_parameter(init, released, "incremental_save_restore", None)


def _make_incremental(scaffold, incremental_save_restore) -> None:
    scaffold._incremental_save_restore = bool(incremental_save_restore)
    if incremental_save_restore and scaffold._saver is not None:
        _check_saver(scaffold._saver, "incremental_save_restore of a Scaffold")


def _finalize(released):
    @functools.wraps(released)
    def finalize(self):
        if getattr(self, "_incremental_save_restore", False) and self._saver is None:
            savers = ops.get_collection(ops.GraphKeys.SAVERS)
            if savers:
                _check_saver(savers[0], "incremental_save_restore of a Scaffold")
            else:
                saver = saver_lib.Saver(sharded=True, allow_empty=True, incremental_save_restore=True)
                ops.add_to_collection(ops.GraphKeys.SAVERS, saver)
        return released(self)

    return finalize


def _restore_checkpoint(released):
    @functools.wraps(released)
    def restore_checkpoint(self, master, saver=None, checkpoint_dir=None, *args, **kwargs):
        session, restored = released(self, master, saver, checkpoint_dir, *args, **kwargs)
        incremental = incremental_saver.incremental_saver_of(saver)
        if restored and checkpoint_dir and incremental is not None:
            with contextlib.ExitStack() as on_failure:
                on_failure.callback(session.close)
                incremental.recover_incr_checkpoints(session, checkpoint_dir)
                on_failure.pop_all()
        return session, restored

    return restore_checkpoint


def _monitored_training_session(released):
    signature = inspect.signature(released)

    @functools.wraps(released)
    def monitored_training_session(*args, save_incremental_checkpoint_secs=None, **kwargs):
        seconds = _checked_seconds(_SECONDS, save_incremental_checkpoint_secs)
        if seconds is None:
            return released(*args, **kwargs)
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        arguments = given.arguments
        if arguments["is_chief"]:
            if not arguments["checkpoint_dir"]:
                raise ValueError(f"{_SECONDS} is {seconds!r}, but checkpoint_dir is {arguments['checkpoint_dir']!r}")
            if not arguments["save_checkpoint_secs"] and not arguments["save_checkpoint_steps"]:
                raise ValueError(
                    f"{_SECONDS} is {seconds!r}, but there are no full checkpoints to add to: save_checkpoint_secs and "
                    f"save_checkpoint_steps are {arguments['save_checkpoint_secs']!r} and "
                    f"{arguments['save_checkpoint_steps']!r}"
                )
        # Workers that are not chief too: their graphs record as well.
        arguments["scaffold"] = arguments["scaffold"] or monitored_session.Scaffold()
        _make_incremental(arguments["scaffold"], True)
        token = _seconds_of_session.set(seconds)
        try:
            return released(*given.args, **given.kwargs)
        finally:
            _seconds_of_session.reset(token)

    return _with_parameter(monitored_training_session, released, _SECONDS, None)


def install() -> None:
    """Adds the arguments to the classes and functions of `tf.train`."""
    from tensorflow._api.v2.compat.v1 import train as api

    hook = basic_session_run_hooks.CheckpointSaverHook
    hook.__init__ = _init_hook(hook.__init__)
    hook.after_create_session = _after_create_session(hook.after_create_session)
    hook.after_run = _after_run(hook.after_run)
    scaffold = monitored_session.Scaffold
    scaffold.__init__ = _init_scaffold(scaffold.__init__)
    scaffold.finalize = _finalize(scaffold.finalize)
    manager = session_manager.SessionManager
    manager._restore_checkpoint = _restore_checkpoint(manager._restore_checkpoint)
    function = _monitored_training_session(monitored_session.MonitoredTrainingSession)
    for module in (monitored_session, training, api):
        module.MonitoredTrainingSession = function
