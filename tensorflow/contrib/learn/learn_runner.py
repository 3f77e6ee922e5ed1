"""Runs an experiment by the schedule that the task asks for."""

import inspect

from tensorflow.contrib.learn import experiment as experiment_lib
from tensorflow.contrib.learn import run_config as run_config_lib

__all__ = ["run", "tune"]


def _default_schedule(config):
    """The schedule for a task of a cluster, or for a single machine."""
    if not config or not config.cluster_spec or not config.cluster_spec.jobs or not config.task_type:
        return "train_and_evaluate"
    task = config.task_type
    if task in (run_config_lib.TaskType.MASTER, "chief"):
        return "train_and_evaluate"
    if task == run_config_lib.TaskType.PS:
        return "run_std_server"
    if task == run_config_lib.TaskType.WORKER:
        return "train"
    if task == "evaluator":
        return "continuous_eval"
    raise ValueError(f"No default schedule for task type: {task}")


def run(experiment_fn, output_dir=None, schedule=None, run_config=None, hparams=None):
    """Makes an experiment, and runs one of its methods.

    Args:
      experiment_fn: function of `output_dir`, or of `run_config` and `hparams`; returns an `Experiment`.
      output_dir: folder for the model; in the place of `run_config`.
      schedule: name of the method; by the task in TF_CONFIG by default, "train_and_evaluate" without one.
      run_config: a `RunConfig` with a `model_dir`.
      hparams: hyperparameters for `experiment_fn`; only with `run_config`.

    Returns:
      What the method returns.

    Raises:
      ValueError: if an argument is missing or too much, or there is no such method.
      TypeError: if `experiment_fn` returns something else.
    """
    if not callable(experiment_fn):
        raise TypeError(f"Experiment builder {experiment_fn!r} is not callable.")
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if output_dir is not None:
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
        experiment = experiment_fn(output_dir=output_dir)
    else:
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
        experiment = experiment_fn(run_config=run_config, hparams=hparams)
    if not isinstance(experiment, experiment_lib.Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead.")
    if run_config is not None and experiment.estimator.config.model_dir != run_config.model_dir:
        raise RuntimeError("The estimator must be made with the `run_config` that `experiment_fn` gets.")
    schedule = schedule or _default_schedule(run_config or experiment.estimator.config)
    method = getattr(experiment, schedule, None)
    if method is None or not inspect.ismethod(method):
        tasks = [name for name, _ in inspect.getmembers(experiment, inspect.ismethod) if not name.startswith("_")]
        raise ValueError(f"Schedule references non-existent task {schedule}: valid are {sorted(tasks)}")
    return method()


def tune(experiment_fn, tuner):
    """Runs an experiment for each trial of a `Tuner`."""
    while tuner.next_trial():
        tuner.run_experiment(experiment_fn)
