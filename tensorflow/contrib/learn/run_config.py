"""Settings of a run."""

import json
import os

import tensorflow.estimator as core
from tensorflow.core.protobuf import config_pb2


class TaskType:
    """Kinds of tasks in a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


class Environment:
    """Where a run takes place: the "environment" of TF_CONFIG."""

    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


class RunConfig(core.RunConfig):
    """`tf.estimator.RunConfig` with the arguments and defaults of `tf.contrib.learn`.

    Args:
      master: address of the master; from TF_CONFIG by default.
      num_cores: number of threads within and between ops; 0: as the runtime sees fit.
      log_device_placement: whether devices of ops are logged.
      gpu_memory_fraction: part of a GPU's memory that is taken.
      tf_random_seed: graph seed.
      save_summary_steps, save_checkpoints_secs, save_checkpoints_steps, keep_checkpoint_max, keep_checkpoint_every_n_hours,
        log_step_count_steps, protocol, model_dir: as for `tf.estimator.RunConfig`.
      evaluation_master: address of the master for evaluations.
      session_config: `ConfigProto` in the place of the one made from the arguments above.
      session_creation_timeout_secs: how long a worker waits for a session.
    """

    def __init__(
        self,
        master=None,
        num_cores=0,
        log_device_placement=False,
        gpu_memory_fraction=1,
        tf_random_seed=None,
        save_summary_steps=100,
        save_checkpoints_secs=600,
        save_checkpoints_steps=None,
        keep_checkpoint_max=5,
        keep_checkpoint_every_n_hours=10000,
        log_step_count_steps=100,
        protocol=None,
        evaluation_master="",
        model_dir=None,
        session_config=None,
        session_creation_timeout_secs=7200,
    ):
        session = config_pb2.ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=config_pb2.GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )
        # Steps win over the seconds' default.
        if save_checkpoints_steps is not None and save_checkpoints_secs == 600:
            save_checkpoints_secs = None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=1 if tf_random_seed is None else tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            save_checkpoints_steps=save_checkpoints_steps,
            session_config=session_config or session,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        if master is not None:
            self._master = master
        if evaluation_master:
            self._evaluation_master = evaluation_master
        self._environment = json.loads(os.environ.get("TF_CONFIG") or "{}").get("environment", Environment.LOCAL)

    @property
    def environment(self):
        """Where the run takes place."""
        return self._environment

    @property
    def tf_config(self):
        """The `ConfigProto` of sessions."""
        return self.session_config

    @staticmethod
    def get_task_id():
        """Index of this task in TF_CONFIG, 0 without one."""
        return int(json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("index", 0))

    def uid(self, whitelist=None):
        """Text of all settings but those of `whitelist` (by default: of where the master is), for comparing configurations."""
        skipped = ["evaluation_master", "master"] if whitelist is None else whitelist
        state = {k.lstrip("_"): v for k, v in vars(self).items()}
        return ", ".join(f"{k}={v!r}" for k, v in sorted(state.items()) if k not in skipped)
