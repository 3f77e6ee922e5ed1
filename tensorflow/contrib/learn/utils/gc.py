# ruff: noqa: F401
"""Filters of exports: those of session bundles."""

from tensorflow.contrib.session_bundle.gc import (
    Path,
    get_paths,
    largest_export_versions,
    mod_export_version,
    negation,
    one_of_every_n_export_versions,
    union,
)
