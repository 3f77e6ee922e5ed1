# ruff: noqa: F401
"""Transforms of images."""

from tensorflow.contrib.image.image_ops import (
    angles_to_projective_transforms,
    bipartite_match,
    compose_transforms,
    connected_components,
    flat_transforms_to_matrices,
    matrices_to_flat_transforms,
    rotate,
    transform,
    translate,
    translations_to_projective_transforms,
)
from tensorflow.contrib.image.dense_image_warp import dense_image_warp
from tensorflow.contrib.image.interpolate_spline import interpolate_spline
from tensorflow.contrib.image.sparse_image_warp import sparse_image_warp
from tensorflow.contrib.image.single_image_random_dot_stereograms import single_image_random_dot_stereograms

__all__ = (
    "angles_to_projective_transforms bipartite_match compose_transforms connected_components dense_image_warp "
    "flat_transforms_to_matrices interpolate_spline matrices_to_flat_transforms rotate "
    "single_image_random_dot_stereograms sparse_image_warp transform translate "
    "translations_to_projective_transforms "
).split()
