"""The interface of what can be evaluated."""

import abc


class Evaluable(metaclass=abc.ABCMeta):
    """Something that can be evaluated and exported."""

    @property
    @abc.abstractmethod
    def model_dir(self):
        """Folder of the checkpoints."""

    @abc.abstractmethod
    def evaluate(self, x=None, y=None, input_fn=None, feed_fn=None, batch_size=None, steps=None, metrics=None,
                 name=None, checkpoint_path=None, hooks=None):  # fmt: skip
        """dict: metric -> value."""
