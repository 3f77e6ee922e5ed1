"""The interface of what can be trained."""

import abc


class Trainable(metaclass=abc.ABCMeta):
    """Something that can be trained."""

    @abc.abstractmethod
    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None, monitors=None, max_steps=None):
        """Trains, and returns the object itself."""
