"""`tf.estimator`: 1.15's names over the bundled tensorflow_estimator, with BoostedTrees, which that one has no more.

Loaded when it is first used (`api_v1.lazy_parts`). `tf.compat.v2.estimator` is `api_v1.restored.estimator_v2`.
"""

from tensorflow.api_v1.restored import estimator_names as _names
from tensorflow.api_v1.restored.estimator_boosted_trees import (  # noqa: F401 (public names)
    BoostedTreesClassifier,
    BoostedTreesEstimator,
    BoostedTreesRegressor,
)
from tensorflow.estimator import experimental, export, inputs, tpu  # noqa: F401 (public names)
from tensorflow_estimator._api.v1 import estimator as _api

globals().update(_names.public(_api, but=("experimental", "export", "inputs", "tpu")))
