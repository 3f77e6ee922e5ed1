"""The export decorator of tensorflow_estimator: `tf_export` for names of its API."""

import functools

from tensorflow.python.util import tf_export

ESTIMATOR_API_NAME = "estimator"
# tf_export keeps the names of each API in attributes of its own; it has forgotten the estimator's.
for _attributes, _suffix in ((tf_export.API_ATTRS, ""), (tf_export.API_ATTRS_V1, "_v1")):
    _attributes.setdefault(
        ESTIMATOR_API_NAME,
        tf_export._Attributes(f"_estimator_api_names{_suffix}", f"_estimator_api_constants{_suffix}"),
    )


class SymbolAlreadyExposedError(Exception):
    """A symbol that already has public names."""


estimator_export = functools.partial(tf_export.tf_export, api_name=ESTIMATOR_API_NAME)
