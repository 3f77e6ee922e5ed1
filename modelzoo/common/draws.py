"""What the planted models of several formats draw."""

import numpy as np


def cumulative(size: int, exponent: float) -> np.ndarray:
    """Of Zipf's law over `size` values."""
    mass = np.cumsum(np.arange(1, size + 1) ** -exponent)
    return mass / mass[-1]


def ids(rng: np.random.Generator, count: int, limit: int) -> np.ndarray:
    """Distinct texts of numbers from 1 to `limit`."""
    return (rng.choice(limit, count, replace=False) + 1).astype(str).astype(object)


def with_missing(rng: np.random.Generator, values: np.ndarray, rate: float) -> np.ndarray:
    """Texts of the values; some are empty."""
    return np.where(rng.random(len(values)) < rate, "", values.astype(str))


def join(*columns: np.ndarray) -> np.ndarray:
    """Fields side by side, separated by commas."""
    return np.array([",".join(fields) for fields in zip(*columns)], object)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
