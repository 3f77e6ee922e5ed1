"""`Tuner`: the interface of hyperparameter tuners."""

import abc

from tensorflow.contrib.framework.experimental import experimental

__all__ = ["Tuner"]


class Tuner(metaclass=abc.ABCMeta):
    """Base class of tuners, which run an experiment with one set of hyperparameters after another."""

    @experimental
    @abc.abstractmethod
    def next_trial(self):
        """Whether there is another trial to run."""
        raise NotImplementedError("next_trial is not implemented")

    @experimental
    @abc.abstractmethod
    def run_experiment(self, experiment_fn):
        """Runs `experiment_fn(run_config, hparams)` for the current trial."""
        raise NotImplementedError("run_experiment is not implemented")
