"""Data sets, from local files or made on the spot."""

import inspect

from tensorflow.contrib.learn.datasets import base, mnist, synthetic, text_datasets
from tensorflow.contrib.learn.datasets.base import load_boston, load_iris
from tensorflow.python.util.deprecation import deprecated

DATASETS = {
    "boston": load_boston,
    "iris": load_iris,
    "mnist": mnist.load_mnist,
    "dbpedia": text_datasets.load_dbpedia,
}
SYNTHETIC = {"circles": synthetic.circles, "spirals": synthetic.spirals}

__all__ = [
    "DATASETS",
    "SYNTHETIC",
    "base",
    "deprecated",
    "load_boston",
    "load_dataset",
    "load_iris",
    "make_dataset",
    "mnist",
    "synthetic",
    "text_datasets",
]


def load_dataset(name, size="small", test_with_fake_data=False):
    """A data set of `DATASETS` by name.

    Raises:
      ValueError: if there is none.
    """
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}. There are {sorted(DATASETS)}.")
    if name == "dbpedia":
        return DATASETS[name](size, test_with_fake_data)
    return DATASETS[name]()


def make_dataset(name, n_samples=100, noise=None, seed=42, *args, **kwargs):
    """A data set of `SYNTHETIC` by name; further arguments go to its function.

    Raises:
      ValueError: if there is none, or it does not take an argument.
    """
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found or not implemented: {name}. There are {sorted(SYNTHETIC)}.")
    function = SYNTHETIC[name]
    unknown = set(kwargs) - set(inspect.signature(function).parameters)
    if unknown:
        raise ValueError(f"{name} does not take {sorted(unknown)}")
    return function(n_samples, noise, seed, *args, **kwargs)
