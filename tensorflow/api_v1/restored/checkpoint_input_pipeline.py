"""CheckpointInputPipelineHook: saves the position of an estimator's input pipeline beside the model."""

import os

import tensorflow as tf
from tensorflow.python.data.ops import iterator_ops as iterators_lib
from tensorflow.python.framework import ops
from tensorflow.python.training import checkpoint_management
from tensorflow.python.training import saver as saver_lib


class CheckpointInputPipelineHook(tf.train.SessionRunHook):
    """Writes and restores `input-*.ckpt` in the model's folder, as often as the estimator saves the model.

    Args:
      estimator: the Estimator, whose config says where and how often; its input_fn must return a Dataset, whose iterator
        is saveable (no py_func, no stateful ops).
    """

    def __init__(self, estimator):
        config = estimator.config
        task = config.task_type or "worker"
        suffix = (
            f"{task}_{config.task_id or 0}" if config.num_worker_replicas and config.num_worker_replicas > 1 else ""
        )
        self._prefix = "input" + (f"_{suffix}" if suffix else "")
        self._folder = config.model_dir
        self._timer = tf.train.SecondOrStepTimer(
            every_secs=config.save_checkpoints_secs, every_steps=config.save_checkpoints_steps
        )
        self._saver = None

    def begin(self):
        iterators = ops.get_collection(iterators_lib.GLOBAL_ITERATORS)
        if not iterators:
            raise ValueError("no iterator to save: the input_fn must return a Dataset")
        saveables = [iterators_lib._IteratorSaveable(resource, resource.name) for resource in iterators]
        self._saver = saver_lib.Saver(saveables, sharded=True, allow_empty=False, name="input_pipeline")
        self._step = tf.train.get_or_create_global_step()

    def _state_name(self):
        return f"checkpoint_{self._prefix}"

    def after_create_session(self, session, coord):
        path = checkpoint_management.latest_checkpoint(self._folder, self._state_name())
        if path:
            self._saver.restore(session, path)
        self._timer.update_last_triggered_step(session.run(self._step))

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step = run_context.session.run(self._step)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            self._save(run_context.session, step)

    def end(self, session):
        self._save(session, session.run(self._step))

    def _save(self, session, step):
        self._saver.save(
            session,
            os.path.join(self._folder, f"{self._prefix}.ckpt"),
            global_step=step,
            latest_filename=self._state_name(),
            write_meta_graph=False,
        )
