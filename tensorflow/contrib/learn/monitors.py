"""Monitors: objects that are called in each step of training; and hooks under the names of 1.15's monitors."""

import time

import numpy as np

from tensorflow.contrib.learn import base_monitor
from tensorflow.contrib.learn.saving_monitors import (
    CheckpointSaver,
    ExportMonitor,
    GraphDump,
    LoggingTrainable,
    StepCounter,
    SummarySaver,
    get_default_monitors,
)
from tensorflow.python.framework import ops
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import basic_session_run_hooks, checkpoint_management, session_run_hook, training_util

BaseMonitor = base_monitor.BaseMonitor
EveryN = base_monitor.EveryN
NanLossDuringTrainingError = basic_session_run_hooks.NanLossDuringTrainingError

__all__ = [
    "BaseMonitor",
    "CaptureVariable",
    "CheckpointSaver",
    "EveryN",
    "ExportMonitor",
    "GraphDump",
    "LoggingTrainable",
    "NanLoss",
    "NanLossDuringTrainingError",
    "PrintTensor",
    "RunHookAdapterForMonitors",
    "StepCounter",
    "StopAtStep",
    "SummarySaver",
    "ValidationMonitor",
    "get_default_monitors",
    "replace_monitors_with_hooks",
]


class PrintTensor(EveryN):
    """Logs tensors.

    Args:
      tensor_names: list of names, or dict: tag -> name.
      every_n: steps between two logs.
      first_n: number of steps at the start that are all logged.
    """

    def __init__(self, tensor_names, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._tensor_names = tensor_names if isinstance(tensor_names, dict) else {name: name for name in tensor_names}

    def every_n_step_begin(self, step):
        return list(self._tensor_names.values())

    def every_n_step_end(self, step, outputs):
        values = [f"{tag} = {base_monitor.extract_output(outputs, name)}" for tag, name in self._tensor_names.items()]
        logging.info("Step %d: %s", step, ", ".join(values))


class CaptureVariable(EveryN):
    """Keeps the values of a variable, by step.

    Args:
      var_name: name of the variable, with ":0".
      every_n, first_n: as for `PrintTensor`.
    """

    def __init__(self, var_name, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values = {}

    @property
    def values(self):
        """dict: step -> value."""
        return self._var_values

    def every_n_step_begin(self, step):
        return [self._var_name]

    def every_n_step_end(self, step, outputs):
        self._var_values[step] = base_monitor.extract_output(outputs, self._var_name)


class NanLoss(EveryN):
    """Stops training when the loss is NaN.

    Args:
      loss_tensor: the loss, or its name.
      every_n_steps: steps between two looks.
      fail_on_nan_loss: whether it raises `NanLossDuringTrainingError` instead of ending training.
    """

    def __init__(self, loss_tensor, every_n_steps=100, fail_on_nan_loss=True):
        super().__init__(every_n_steps=every_n_steps)
        self._loss = loss_tensor if isinstance(loss_tensor, str) else loss_tensor.name
        self._fail_on_nan_loss = fail_on_nan_loss

    def every_n_step_begin(self, step):
        return [self._loss]

    def every_n_step_end(self, step, outputs):
        if not np.isnan(base_monitor.extract_output(outputs, self._loss)):
            return False
        logging.error("Model diverged with loss = NaN.")
        if self._fail_on_nan_loss:
            raise NanLossDuringTrainingError
        return True


class StopAtStep(BaseMonitor):
    """Ends training after a number of steps, or at a step.

    Args:
      num_steps: number of steps.
      last_step: the step.

    Raises:
      ValueError: if both or neither are given.
    """

    def __init__(self, num_steps=None, last_step=None):
        super().__init__()
        if (num_steps is None) == (last_step is None):
            raise ValueError("Exactly one of num_steps or last_step must be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    @property
    def run_on_all_workers(self):
        return True

    def step_begin(self, step):
        super().step_begin(step)
        if self._last_step is None:
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step, output):
        super().step_end(step, output)
        return step >= self._last_step


class ValidationMonitor(EveryN):
    """Evaluates the model when a new checkpoint is there, and may end training early.

    Args:
      x, y, input_fn, batch_size, eval_steps, metrics, hooks, name: as for `Estimator.evaluate`.
      every_n_steps: steps between two looks for a checkpoint.
      early_stopping_rounds: steps without improvement after which training ends.
      early_stopping_metric: the metric that counts.
      early_stopping_metric_minimize: whether less is better.
      check_interval_secs: least number of seconds between two looks; None: no limit.

    Raises:
      ValueError: if no input is given.
    """

    def __init__(
        self,
        x=None,
        y=None,
        input_fn=None,
        batch_size=None,
        eval_steps=None,
        every_n_steps=100,
        metrics=None,
        hooks=None,
        early_stopping_rounds=None,
        early_stopping_metric="loss",
        early_stopping_metric_minimize=True,
        name=None,
        check_interval_secs=60,
    ):
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._arguments = dict(
            x=x,
            y=y,
            input_fn=input_fn,
            batch_size=batch_size,
            steps=eval_steps,
            metrics=metrics,
            hooks=hooks,
            name=name,
        )
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_metric = early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self.check_interval_secs = check_interval_secs
        self._best_value_step = None
        self._best_value = None
        self._best_metrics = None
        self._early_stopped = False
        self._latest_path = None
        self._latest_time = None

    @property
    def early_stopped(self):
        """Whether training was ended."""
        return self._early_stopped

    @property
    def best_step(self):
        """Step with the best value."""
        return self._best_value_step

    @property
    def best_value(self):
        """The best value of the metric."""
        return self._best_value

    @property
    def best_metrics(self):
        """All metrics of the best step."""
        return self._best_metrics

    def every_n_step_end(self, step, outputs):
        now = time.time()
        if self._latest_time and self.check_interval_secs and now - self._latest_time < self.check_interval_secs:
            return False
        self._latest_time = now
        path = checkpoint_management.latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._latest_path:
            return False
        self._latest_path = path
        results = self._estimator.evaluate(checkpoint_path=path, **self._arguments)
        if not results or self.early_stopping_rounds is None:
            return False
        if self.early_stopping_metric not in results:
            raise ValueError(f"Metric {self.early_stopping_metric} missing from outputs {sorted(results)}.")
        value = results[self.early_stopping_metric]
        sign = 1 if self.early_stopping_metric_minimize else -1
        if self._best_value is None or sign * value < sign * self._best_value:
            self._best_value, self._best_metrics, self._best_value_step = value, dict(results), step
        self._early_stopped = step - self._best_value_step >= self.early_stopping_rounds
        return self._early_stopped


class RunHookAdapterForMonitors(session_run_hook.SessionRunHook):
    """Monitors as one hook.

    Args:
      monitors: list of `BaseMonitor`s.
    """

    def __init__(self, monitors):
        self._monitors = monitors

    def begin(self):
        self._last_step = None
        self._global_step_tensor = training_util.get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context):
        if self._last_step is None:
            self._last_step = run_context.session.run(self._global_step_tensor) + 1
        graph = ops.get_default_graph()
        requests = {}
        for monitor in self._monitors:
            for request in monitor.step_begin(self._last_step) or []:
                name = request if isinstance(request, str) else request.name
                requests[name] = graph.as_graph_element(request)
        requests[self] = self._global_step_tensor
        return session_run_hook.SessionRunArgs(requests)

    def after_run(self, run_context, run_values):
        results = {name: value for name, value in run_values.results.items() if name is not self}
        stops = [monitor.step_end(self._last_step, results) for monitor in self._monitors]
        if any(stops):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = run_values.results[self] + 1

    def end(self, session):
        self._last_step = None
        for monitor in self._monitors:
            monitor.end(session=session)


def replace_monitors_with_hooks(monitors_or_hooks, estimator):
    """The hooks of a list, and one hook for all its monitors.

    Args:
      monitors_or_hooks: list of monitors and `SessionRunHook`s, or None.
      estimator: the estimator that is trained.

    Returns:
      List of hooks.
    """
    items = list(monitors_or_hooks or [])
    hooks = [item for item in items if isinstance(item, session_run_hook.SessionRunHook)]
    monitors = [item for item in items if not isinstance(item, session_run_hook.SessionRunHook)]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    if monitors and not estimator.config.is_chief:
        monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    return hooks + ([RunHookAdapterForMonitors(monitors)] if monitors else [])
