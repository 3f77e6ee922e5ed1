"""The export decorator of tensorflow_estimator: `tf_export` for names of its API."""

import functools

from tensorflow.python.util import tf_export

ESTIMATOR_API_NAME = "estimator"


class SymbolAlreadyExposedError(Exception):
    """A symbol that already has public names."""


estimator_export = functools.partial(tf_export.tf_export, api_name=ESTIMATOR_API_NAME)
