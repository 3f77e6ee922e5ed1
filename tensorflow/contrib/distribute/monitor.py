"""Runs steps of a distributed training."""

import tensorflow.compat.v1 as tf


class Monitor:
    """Runs a step function, e.g. a StandardSingleLossStep, again and again.

    Args:
      step_callable: function without arguments that returns what a step runs (in graph mode an op).
      session: the Session to run it in, for graph mode.

    Raises:
      ValueError: a session in eager mode, or none in graph mode.
    """

    def __init__(self, step_callable, session=None):
        if tf.executing_eagerly():
            if session is not None:
                raise ValueError("Monitor takes no session in eager mode.")
            self._run = step_callable
        else:
            if session is None:
                raise ValueError("Monitor needs a session in graph mode.")
            self._run = session.make_callable(step_callable())
            session.run(tf.global_variables_initializer())

    def run_steps(self, num_steps=None):
        """Runs `num_steps` steps; without it, until the input ends."""
        done = 0
        while num_steps is None or done < num_steps:
            try:
                self._run()
            except tf.errors.OutOfRangeError:
                break
            done += 1
