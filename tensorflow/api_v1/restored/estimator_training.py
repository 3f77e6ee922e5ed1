"""What Estimator asks about training by the distribute coordinator: never used here, strategies run in this process."""

_COORDINATOR = (
    "the distribute coordinator was removed from TensorFlow; train with tf.estimator.train_and_evaluate over TF_CONFIG"
)


def should_run_distribute_coordinator(config) -> bool:
    """False: `tf.estimator.train_and_evaluate` runs the parameter server and chief itself."""
    del config
    return False


def init_run_config(config, tf_config) -> None:
    """Fills a RunConfig in from the parsed TF_CONFIG: cluster, task, session config."""
    config._init_distributed_setting_from_environment_var(tf_config)
    config._maybe_overwrite_session_config_for_distributed_training()
    _take_strategies(config)
    config._distribute_coordinator_mode = None


def _take_strategies(config) -> None:
    """Strategies of `RunConfig(experimental_distribute=...)` become those of the config."""
    given = config._experimental_distribute
    for name in ("train_distribute", "eval_distribute"):
        strategy = getattr(given, name, None) if given else None
        if strategy is None:
            continue
        if getattr(config, f"_{name}"):
            raise ValueError(f"Give {name} or experimental_distribute.{name}, not both.")
        setattr(config, f"_{name}", strategy)
    if given and getattr(given, "remote_cluster", None):
        raise ValueError(f"experimental_distribute.remote_cluster cannot be used: {_COORDINATOR}.")


def train_and_evaluate(estimator, train_spec, eval_spec, executor_cls=None):
    raise NotImplementedError(_COORDINATOR)


def estimator_train(estimator, train_distributed_fn, hooks):
    raise NotImplementedError(_COORDINATOR)


def estimator_evaluate(estimator, evaluate_distributed_fn, hooks):
    raise NotImplementedError(_COORDINATOR)
