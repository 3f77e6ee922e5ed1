"""Data sets that are made on the spot."""

import numpy as np

from tensorflow.contrib.learn.datasets.base import Dataset


def circles(n_samples=100, noise=None, seed=None, factor=0.8, n_classes=2, *args, **kwargs):
    """Points on concentric circles, one for each class.

    Args:
      n_samples: number of points.
      noise: standard deviation of normal noise; None: none.
      seed: of the noise.
      factor: ratio of the radii of two neighbours, in (0, 1].
      n_classes: number of circles.

    Returns:
      A `Dataset`: data `[n_samples, 2]`, target `[n_samples]`.

    Raises:
      ValueError: if `factor` is out of range.
    """
    if not 0 < factor <= 1:
        raise ValueError(f"factor must be in (0, 1], got {factor}")
    random = np.random.RandomState(seed)
    per_class = n_samples // n_classes
    angles = np.linspace(0, 2 * np.pi, per_class, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    data = np.concatenate([circle * factor**i for i in range(n_classes)])
    target = np.repeat(np.arange(n_classes), per_class)
    if noise is not None:
        data = data + random.normal(scale=noise, size=data.shape)
    order = random.permutation(len(data))
    return Dataset(data=data[order], target=target[order])


def spirals(n_samples=100, noise=None, seed=None, mode="archimedes", n_loops=2, *args, **kwargs):
    """Points on two spirals, one for each class.

    Args:
      n_samples, noise, seed: as for `circles`.
      mode: "archimedes", "bernoulli" or "fermat".
      n_loops: number of turns.

    Returns:
      A `Dataset`: data `[n_samples, 2]`, target `[n_samples]`.

    Raises:
      ValueError: if `mode` is unknown.
    """
    radii = {"archimedes": lambda t: t, "bernoulli": lambda t: np.exp(0.1 * t), "fermat": np.sqrt}
    if mode not in radii:
        raise ValueError(f"mode must be one of {sorted(radii)}, got {mode!r}")
    random = np.random.RandomState(seed)
    angles = np.linspace(0, 2 * n_loops * np.pi, n_samples // 2, endpoint=False)
    radius = radii[mode](angles)
    spiral = np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1)
    data = np.concatenate([spiral, -spiral])
    target = np.repeat([0, 1], n_samples // 2)
    if noise is not None:
        data = data + random.normal(scale=noise, size=data.shape)
    order = random.permutation(len(data))
    return Dataset(data=data[order], target=target[order])
