"""Input functions from generators."""

import inspect

from tensorflow.python.framework import ops
from tensorflow_estimator.python.estimator.inputs.queues import feeding_functions


def generator_input_fn(
    x,
    target_key=None,
    batch_size=128,
    num_epochs=1,
    shuffle=True,
    queue_capacity=1000,
    num_threads=1,
    pad_value=None,
):
    """An input function of a generator of examples.

    Args:
      x: function that returns a generator of dicts: name -> array, one dict for each example.
      target_key: name of the labels in the dict, or list of them; None: no labels.
      batch_size: number of examples of a batch.
      num_epochs: how often the generator is run; None: without end.
      shuffle: whether examples are shuffled; not together with `pad_value`.
      queue_capacity: number of examples in the queue.
      num_threads: number of threads that fill it.
      pad_value: value with which the last dimension of arrays is filled up; None: arrays must have one shape.

    Returns:
      Function that returns features, or (features, labels) if there is a `target_key`.

    Raises:
      TypeError: if `x` is no function that returns a generator, a key is no string, or (when it is called) an example is no dict.
      KeyError: when it is called, if an example has no such key.
    """
    if not inspect.isfunction(x):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    generator = x()
    if not inspect.isgenerator(generator):
        raise TypeError(f"x() must be generator; got {type(generator).__name__}")
    keys = [] if target_key is None else [target_key] if isinstance(target_key, str) else list(target_key)
    bad = [key for key in keys if not isinstance(key, str)]
    if bad:
        raise TypeError(f"target_key must be str or a list of str; got {bad}")

    def input_fn():
        first = next(x())
        if not isinstance(first, dict):
            raise TypeError(f"x() must yield dict; got {type(first).__name__}")
        missing = [key for key in keys if key not in first]
        if missing:
            raise KeyError(f"target_key {missing} not in the yielded dict, which has {sorted(first)}")
        queue = feeding_functions._enqueue_data(
            x,
            queue_capacity,
            shuffle=shuffle,
            min_after_dequeue=None if shuffle else 0,
            num_threads=num_threads,
            enqueue_size=batch_size,
            num_epochs=num_epochs,
            pad_value=pad_value,
        )
        batch = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
        batch = [batch] if isinstance(batch, ops.Tensor) else batch
        features = dict(zip(sorted(first), batch))
        if not keys:
            return features
        labels = {key: features.pop(key) for key in keys}
        return features, labels[keys[0]] if len(keys) == 1 else labels

    return input_fn
