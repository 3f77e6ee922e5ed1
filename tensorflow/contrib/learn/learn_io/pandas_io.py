"""Input functions from pandas data frames, and checks of their types."""

import importlib.util

import tensorflow.estimator as core

HAS_PANDAS = importlib.util.find_spec("pandas") is not None


def pandas_input_fn(
    x,
    y=None,
    batch_size=128,
    num_epochs=1,
    shuffle=True,
    queue_capacity=1000,
    num_threads=1,
    target_column="target",
):
    """`tf.estimator.inputs.pandas_input_fn`, shuffled by default."""
    return core.inputs.pandas_input_fn(
        x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column
    )


def _is_frame(data):
    return HAS_PANDAS and type(data).__name__ == "DataFrame"


def extract_pandas_data(data):
    """A frame of numbers or booleans as a float array; other objects as they are.

    Raises:
      ValueError: if a column holds something else.
    """
    if not _is_frame(data):
        return data
    bad = [str(name) for name, dtype in zip(data.columns, data.dtypes) if dtype.kind not in "biuf"]
    if bad:
        raise ValueError(f"Data types for extracting pandas data must be int, float, or bool, not so: {', '.join(bad)}")
    return data.values.astype("float")


def extract_pandas_matrix(data):
    """The array of a frame; other objects as they are."""
    return data.values if _is_frame(data) else data


def extract_pandas_labels(labels):
    """A frame with one column of labels as an array; other objects as they are.

    Raises:
      ValueError: if there are more columns, or they hold no numbers.
    """
    if not _is_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError(f"Only one column for labels is allowed, got {list(labels.columns)}")
    return extract_pandas_data(labels)
