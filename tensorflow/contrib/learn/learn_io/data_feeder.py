"""Data for preprocessors."""

from tensorflow.contrib.learn.learn_io import pandas_io


def setup_processor_data_feeder(x):
    """Data as preprocessors read them: a pandas frame as its matrix, other objects as they are."""
    return pandas_io.extract_pandas_matrix(x)
