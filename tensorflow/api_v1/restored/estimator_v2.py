"""`tf.compat.v2.estimator`: the classes on 2.x optimizers, losses and feature columns."""

import sys
import types

from tensorflow.api_v1.restored import estimator_names
from tensorflow.api_v1.restored.estimator_boosted_trees import (  # noqa: F401 (public names)
    BoostedTreesClassifier,
    BoostedTreesEstimator,
    BoostedTreesRegressor,
)
from tensorflow_estimator._api.v2 import estimator as _api

__path__: list[str] = []  # so that its submodules can be imported
# Submodule -> its names that 1.15 did not have.
_SUBMODULES = {"experimental": (), "export": ("EvalOutput",)}

globals().update(estimator_names.public(_api, but=tuple(_SUBMODULES)))
for _name, _but in _SUBMODULES.items():
    _part = types.ModuleType(f"{__name__}.{_name}", f"`tf.compat.v2.estimator.{_name}`.")
    _part.__dict__.update(estimator_names.public(getattr(_api, _name), but=_but))
    globals()[_name] = sys.modules[_part.__name__] = _part
