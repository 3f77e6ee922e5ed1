"""`sok.optimizers.Adam` of the older API."""

import tensorflow as tf
from tensorflow.python.ops import resource_variable_ops

from sparse_operation_kit import transports
from sparse_operation_kit.legacy.table import table_of


class _State(resource_variable_ops.ResourceVariable):
    """A variable of one replica, also in the scope of a strategy."""

    @classmethod
    def _variable_call(cls, *unused_args, **unused_kwargs):
        """Tells the metaclass of variables to call this class, not the creators of `tf.Variable`."""
        return None


class Adam:
    """Adam on the embedding variables of layers: all rows, whether they have a gradient or not, take each step.

    m = beta_1 m + (1 - beta_1) g, v = beta_2 v + (1 - beta_2) g^2, w -= learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v) +
    epsilon): Kingma and Ba, "Adam", section 2, the form at its end.
    """

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, name="Plugin_Adam", **kwargs):
        """Makes the optimizer.

        Args:
          learning_rate: number, or callable that returns one.
          beta_1, beta_2: decays of m and v, in [0, 1).
          epsilon: positive.
          name: of its variables.
          **kwargs: `lr`, another name of learning_rate.

        Raises:
          TypeError: another argument.
          ValueError: a number is out of its range.
        """
        learning_rate = kwargs.pop("lr", learning_rate)
        if kwargs:
            raise TypeError(f"sok.optimizers.Adam has no arguments {sorted(kwargs)}")
        for argument, value in (("beta_1", beta_1), ("beta_2", beta_2)):
            if not 0 <= value < 1:
                raise ValueError(f"{argument} must be in [0, 1), got {value}")
        if not epsilon > 0:
            raise ValueError(f"epsilon must be positive, got {epsilon}")
        self._lr, self._beta_1, self._beta_2, self._epsilon, self._name = learning_rate, beta_1, beta_2, epsilon, name
        # By the id of a shard: (m, v, t).
        self._states = {}

    @property
    def name(self):
        """The name that it was made with."""
        return self._name

    @property
    def learning_rate(self):
        """The learning rate; can be set, for steps and graphs that are built afterwards."""
        return self._lr

    @learning_rate.setter
    def learning_rate(self, value):
        self._lr = value

    lr = learning_rate

    @property
    def initializer(self):
        """In a TF1 graph: the op that initializes its variables, once `apply_gradients` has made them."""
        return tf.group(*[variable.initializer for state in self._states.values() for variable in state])

    def variables(self):
        """Its variables, of this process."""
        return [variable for state in self._states.values() for variable in state]

    def apply_gradients(self, grads_and_vars, name=None, experimental_aggregate_gradients=False):
        """Takes a step, in a replica if there is a strategy.

        Args:
          grads_and_vars: pairs of tf.IndexedSlices or tensor, and embedding variable; gradients that are None are left out.
          name: name of the op.
          experimental_aggregate_gradients: must be False: the gradients are sums over all replicas already.

        Returns:
          The op.

        Raises:
          ValueError: another variable, or gradients that are to be aggregated.
        """
        if experimental_aggregate_gradients:
            raise ValueError(
                "experimental_aggregate_gradients must be False: gradients of embedding variables are summed already"
            )
        done = []
        with tf.name_scope(name or self._name):
            for grad, variable in grads_and_vars:
                table = table_of(variable)
                if table is None:
                    raise ValueError(f"grads_and_vars must have embedding variables of layers alone, got {variable!r}")
                if grad is not None:
                    done.append(self._step(grad, _shard_of(table)))
            return tf.group(*[op for op in done if op is not None]) if not tf.executing_eagerly() else None

    def _step(self, grad, shard):
        m, v, t = self._state(shard)
        if isinstance(grad, tf.IndexedSlices):
            grad = tf.math.unsorted_segment_sum(grad.values, grad.indices, shard.shape[0])
        rate = tf.cast(self._lr() if callable(self._lr) else self._lr, tf.float32)
        step = tf.cast(t.assign_add(1), tf.float32)
        new_m = m.assign(self._beta_1 * m + (1 - self._beta_1) * grad)
        new_v = v.assign(self._beta_2 * v + (1 - self._beta_2) * tf.square(grad))
        rate = rate * tf.sqrt(1 - tf.pow(self._beta_2, step)) / (1 - tf.pow(self._beta_1, step))
        new_m, new_v = tf.convert_to_tensor(new_m), tf.convert_to_tensor(new_v)
        return shard.assign_sub(rate * new_m / (tf.sqrt(new_v) + self._epsilon), read_value=False)

    def _state(self, shard):
        key = shard._unique_id  # pylint: disable=protected-access
        if key not in self._states:
            base = f"{self._name}/{shard.name.split(':')[0]}"
            with tf.init_scope():
                zeros = lambda: tf.zeros(shard.shape)  # noqa: E731
                self._states[key] = (
                    _State(zeros, trainable=False, name=f"{base}/m"),
                    _State(zeros, trainable=False, name=f"{base}/v"),
                    _State(lambda: tf.constant(0, tf.int64), trainable=False, name=f"{base}/t"),
                )
        return self._states[key]


def _shard_of(table):
    if isinstance(table.transport, transports.Replicas) and tf.distribute.get_replica_context() is None:
        raise RuntimeError("apply_gradients must be called in a replica: inside strategy.run")
    return table.shard()[0]
