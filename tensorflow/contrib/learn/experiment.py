"""Experiments: an estimator with its input, and schedules of training and evaluation."""

import math
import os
import time

import tensorflow.estimator as core
from tensorflow.contrib.learn import export_strategy
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import basic_session_run_hooks, checkpoint_management, server_lib


class Experiment:
    """All that is needed to train and evaluate a model.

    Args:
      estimator: of `tf.contrib.learn` or `tf.estimator`.
      train_input_fn, eval_input_fn: input functions.
      eval_metrics: dict: name -> `MetricSpec`; for estimators of `tf.contrib.learn`.
      train_steps: number of steps; None: until the input ends.
      eval_steps: number of steps of an evaluation; None: until the input ends.
      train_monitors: list of monitors and hooks.
      eval_hooks: list of hooks.
      local_eval_frequency: older name of `min_eval_frequency`.
      eval_delay_secs: seconds before the first evaluation.
      continuous_eval_throttle_secs: least number of seconds between two evaluations.
      min_eval_frequency: least number of steps between two evaluations of `train_and_evaluate`; 0: one, at the end.
      delay_workers_by_global_step: whether workers wait for steps instead of seconds.
      export_strategies: `ExportStrategy`, or a list of them.
      train_steps_per_iteration: steps between two evaluations of `continuous_train_and_eval`.
      checkpoint_and_export: whether exports are made of each evaluated checkpoint, and not only at the end.
      saving_listeners: list of `CheckpointSaverListener`s for training.
      check_interval_secs: has no effect on a single machine.

    Raises:
      ValueError: if an argument has another type.
    """

    def __init__(
        self,
        estimator,
        train_input_fn,
        eval_input_fn,
        eval_metrics=None,
        train_steps=None,
        eval_steps=100,
        train_monitors=None,
        eval_hooks=None,
        local_eval_frequency=None,
        eval_delay_secs=120,
        continuous_eval_throttle_secs=60,
        min_eval_frequency=None,
        delay_workers_by_global_step=False,
        export_strategies=None,
        train_steps_per_iteration=None,
        checkpoint_and_export=False,
        saving_listeners=None,
        check_interval_secs=5,
    ):
        self._is_core = isinstance(estimator, core.Estimator)
        if not self._is_core and not (hasattr(estimator, "fit") and hasattr(estimator, "evaluate")):
            raise ValueError(f"`estimator` must be of tf.contrib.learn or tf.estimator, got {type(estimator)}")
        if self._is_core and eval_metrics is not None:
            raise ValueError("`eval_metrics` must be None with a tf.estimator.Estimator: see tf.estimator.add_metrics.")
        self._estimator = estimator
        self._train_input_fn = train_input_fn
        self._eval_input_fn = eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps = train_steps
        self._eval_steps = eval_steps
        self._train_monitors = list(train_monitors or [])
        self._eval_hooks = list(eval_hooks or [])
        self._eval_delay_secs = eval_delay_secs
        self._continuous_eval_throttle_secs = continuous_eval_throttle_secs
        self._min_eval_frequency = local_eval_frequency if min_eval_frequency is None else min_eval_frequency
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._train_steps_per_iteration = train_steps_per_iteration
        self._checkpoint_and_export = checkpoint_and_export
        self._saving_listeners = saving_listeners
        self._check_interval_secs = check_interval_secs
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError(f"`train_steps_per_iteration` must be an integer, got {train_steps_per_iteration!r}")
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self):
        """As given."""
        return self._estimator

    @property
    def eval_metrics(self):
        """As given."""
        return self._eval_metrics

    @property
    def train_steps(self):
        """As given."""
        return self._train_steps

    @property
    def eval_steps(self):
        """As given."""
        return self._eval_steps

    def reset_export_strategies(self, new_export_strategies=None):
        """Replaces the export strategies; returns those before."""
        before = getattr(self, "_export_strategies", None)
        strategies = new_export_strategies or []
        if isinstance(strategies, export_strategy.ExportStrategy):
            strategies = [strategies]
        for strategy in strategies:
            if not isinstance(strategy, export_strategy.ExportStrategy):
                raise ValueError(f"`export_strategies` must be ExportStrategy objects, got {strategy!r}")
        self._export_strategies = list(strategies)
        return before

    def extend_train_hooks(self, additional_hooks):
        """Adds hooks to the training."""
        self._train_monitors.extend(additional_hooks)

    def train(self, delay_secs=None):
        """Trains, as this machine's part of a cluster if there is one. Workers start one after another.

        Args:
          delay_secs: seconds to wait; 5 for each worker before this one by default.

        Returns:
          The estimator.
        """
        config = self._estimator.config
        # A lone master, and ps and evaluators, need no server of their own here.
        if config.cluster_spec and len(config.cluster_spec.jobs) > 1 and config.master:
            self._start_server()
        hooks = []
        if delay_secs is None:
            task_id = config.task_id or 0
            if self._delay_workers_by_global_step:
                steps = int(5500.0 * math.log(task_id + 1))
                hooks.append(basic_session_run_hooks.GlobalStepWaiterHook(steps))
                delay_secs = 0
            else:
                delay_secs = 0 if config.is_chief else min(60, 5 + task_id * 5)
        if delay_secs > 0:
            logging.info("Waiting %d secs before starting training.", delay_secs)
            time.sleep(delay_secs)
        return self._call_train(max_steps=self._train_steps, hooks=self._train_monitors + hooks)

    def _call_train(self, steps=None, max_steps=None, hooks=()):
        if self._is_core:
            return self._estimator.train(
                self._train_input_fn,
                hooks=list(hooks),
                steps=steps,
                max_steps=max_steps,
                saving_listeners=self._saving_listeners,
            )
        return self._estimator.fit(
            input_fn=self._train_input_fn, steps=steps, max_steps=max_steps, monitors=list(hooks)
        )

    def _call_evaluate(self, name=None, checkpoint_path=None, input_fn=None, steps=None):
        arguments = dict(
            input_fn=input_fn or self._eval_input_fn,
            steps=self._eval_steps if steps is None else steps,
            hooks=self._eval_hooks,
            checkpoint_path=checkpoint_path,
            name=name,
        )
        if not self._is_core:
            arguments["metrics"] = self._eval_metrics
        return self._estimator.evaluate(**arguments)

    def evaluate(self, delay_secs=None, name=None):
        """Evaluates the latest checkpoint.

        Args:
          delay_secs: seconds to wait; `eval_delay_secs` by default.
          name: name of the evaluation's folder.

        Returns:
          dict: metric -> value.
        """
        delay_secs = self._eval_delay_secs if delay_secs is None else delay_secs
        if delay_secs:
            logging.info("Waiting %d secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        return self._call_evaluate(name=name or "one_pass")

    def _continuous_eval(self, input_fn, name, delay_secs, throttle_delay_secs, once, predicate):
        if predicate is not None and not callable(predicate):
            raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
        delay_secs = self._eval_delay_secs if delay_secs is None else delay_secs
        throttle = self._continuous_eval_throttle_secs if throttle_delay_secs is None else throttle_delay_secs
        if delay_secs:
            time.sleep(delay_secs)
        previous, result = None, None
        while predicate is None or predicate(result):
            if self._train_steps is not None and result and result.get("global_step", 0) >= self._train_steps:
                break
            start = time.time()
            path = checkpoint_management.latest_checkpoint(self._estimator.model_dir)
            if path is None:
                logging.warning("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
            elif not (once and path == previous):
                result = self._call_evaluate(name=name, checkpoint_path=path, input_fn=input_fn)
                self._maybe_export(result, path)
                previous = path
            wait = throttle - (time.time() - start)
            if wait > 0:
                time.sleep(wait)
        return result, self._maybe_export(result, previous) if previous else []

    def continuous_eval(
        self,
        delay_secs=None,
        throttle_delay_secs=None,
        evaluate_checkpoint_only_once=True,
        continuous_eval_predicate_fn=None,
        name="continuous",
    ):
        """Evaluates checkpoints as they appear, until `train_steps` are reached.

        Args:
          delay_secs: seconds before the first evaluation.
          throttle_delay_secs: least number of seconds between two.
          evaluate_checkpoint_only_once: whether each checkpoint is evaluated once.
          continuous_eval_predicate_fn: function of the last result (None at first); False ends the loop.
          name: name of the evaluation's folder.

        Returns:
          `(last result, list of exports)`.
        """
        return self._continuous_eval(
            self._eval_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs=None,
        throttle_delay_secs=None,
        continuous_eval_predicate_fn=None,
        name="continuous_on_train_data",
    ):
        """`continuous_eval` on the training input."""
        return self._continuous_eval(
            self._train_input_fn, name, delay_secs, throttle_delay_secs, True, continuous_eval_predicate_fn
        )

    def train_and_evaluate(self):
        """Trains, evaluating each `min_eval_frequency` steps, and exports at the end.

        Returns:
          `(last result, list of exports)`.
        """
        frequency = self._min_eval_frequency
        if frequency and frequency > 0:
            return self._train_in_parts(frequency)
        self.train(delay_secs=0)
        result = self._call_evaluate(name="local")
        return result, self._maybe_export(result)

    def _train_in_parts(self, steps, predicate=None):
        """Trains and evaluates in turn."""
        result, before = None, None
        while predicate is None or predicate(result):
            done = self._global_step()
            if self._train_steps is not None and done >= self._train_steps:
                break
            if before is not None and done == before:
                # The input ended.
                break
            before = done
            part = done + steps
            self._call_train(
                max_steps=part if self._train_steps is None else min(part, self._train_steps),
                hooks=self._train_monitors,
            )
            result = self._call_evaluate(name="local")
            if self._checkpoint_and_export:
                self._maybe_export(result)
        if result is None:
            result = self._call_evaluate(name="local")
        return result, self._maybe_export(result)

    def _global_step(self):
        path = checkpoint_management.latest_checkpoint(self._estimator.model_dir)
        return 0 if path is None else int(self._estimator.get_variable_value("global_step"))

    def continuous_train_and_eval(self, continuous_eval_predicate_fn=None):
        """Trains `train_steps_per_iteration` steps and evaluates, in turn.

        Args:
          continuous_eval_predicate_fn: function of the last result (None at first); False ends the loop.

        Returns:
          `(last result, list of exports)`.

        Raises:
          ValueError: if `continuous_eval_predicate_fn` is no function.
        """
        if continuous_eval_predicate_fn is not None and not callable(continuous_eval_predicate_fn):
            raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
        steps = self._train_steps_per_iteration or int((self._train_steps or 10000) / 10) or 1
        return self._train_in_parts(steps, continuous_eval_predicate_fn)

    def _maybe_export(self, eval_result, checkpoint_path=None):
        base = os.path.join(self._estimator.model_dir, "export")
        return [
            strategy.export(
                self._estimator,
                os.path.join(base, strategy.name),
                checkpoint_path=checkpoint_path,
                eval_result=eval_result,
            )
            for strategy in self._export_strategies
        ]

    def run_std_server(self):
        """Serves the variables of a parameter server; never returns."""
        self._start_server().join()

    def local_run(self):
        """`train_and_evaluate` under its older name."""
        return self.train_and_evaluate()

    def test(self):
        """One step of training, evaluation and export, to see that all fits together.

        Returns:
          `(result, list of exports)`.
        """
        self._call_train(steps=1, hooks=self._train_monitors)
        result = self._call_evaluate(name="one_pass", steps=1)
        return result, self._maybe_export(result)

    def _start_server(self):
        config = self._estimator.config
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise ValueError("Could not start server; be sure to specify cluster_spec and task in TF_CONFIG.")
        server = server_lib.Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=config.session_config,
            start=False,
        )
        server.start()
        return server
