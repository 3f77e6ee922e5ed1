"""What the wheel changes in tensorflow_estimator 2.15.0: see tools/pip_package/source_edits.py.

Written for the 2.15 root, it finds a 1.x root, or the 2.21 one, which has dropped four private modules.
"""

_ALL = "tensorflow_estimator/*.py"
_OURS = "tensorflow.api_v1.restored"

EDITS = (
    # The code uses `tf.` for 2.x names and `tf.compat.v1.` for others. compat.v2 has both, whatever the root is.
    ("root is compat.v2", _ALL, "\nimport tensorflow as tf\n", "\nimport tensorflow.compat.v2 as tf\n", 53),
    (
        "distribute coordinator",
        _ALL,
        "from tensorflow.python.distribute import estimator_training",
        f"from {_OURS} import estimator_training",
        3,
    ),
    (
        "tpu_embedding module",
        _ALL,
        "from tensorflow.python.tpu import tpu_embedding\n",
        f"from {_OURS} import tpu_embedding\n",
        1,
    ),
    (
        "tpu_embedding names",
        _ALL,
        "from tensorflow.python.tpu.tpu_embedding import ",
        f"from {_OURS}.tpu_embedding import ",
        7,
    ),
    (
        "tpu_embedding parameters",
        "tensorflow_estimator/python/estimator/tpu/_tpu_estimator_embedding.py",
        "tf.compat.v1.tpu.experimental.FtrlParameters",
        "FtrlParameters",
        1,
    ),
    (
        "tpu_embedding_gradient",
        _ALL,
        "from tensorflow.python.tpu import tpu_embedding_gradient\n",
        f"from {_OURS} import tpu_embedding_gradient\n",
        1,
    ),
    (
        "tpu session_support",
        _ALL,
        "from tensorflow.python.tpu import session_support\n",
        f"from {_OURS} import tpu_session_support as session_support\n",
        1,
    ),
    (
        "name of the API",
        "tensorflow_estimator/python/estimator/estimator_export.py",
        "api_name=tf_export.ESTIMATOR_API_NAME",
        "api_name=estimator_api.ESTIMATOR_API_NAME",
        1,
    ),
    (
        "import of the API's name",
        "tensorflow_estimator/python/estimator/estimator_export.py",
        "from tensorflow.python.util import tf_export\n",
        f"from tensorflow.python.util import tf_export\nfrom {_OURS} import estimator_export as estimator_api\n",
        1,
    ),
    # Estimators are not deprecated here, and 1.15 did not warn.
    (
        "deprecation of every symbol",
        "tensorflow_estimator/python/estimator/estimator_export.py",
        "    func = deprecation.deprecated(None, 'Use tf.keras instead.')(func)\n",
        "",
        1,
    ),
    # 1.15's order of positional arguments; batch_norm came later.
    (
        "order of DNNLinearCombinedEstimator's arguments",
        "tensorflow_estimator/python/estimator/canned/dnn_linear_combined.py",
        """               input_layer_partitioner=None,
               config=None,
               batch_norm=False,
               linear_sparse_combiner='sum'):
    self._feature_columns = _validate_feature_columns(""",
        """               input_layer_partitioner=None,
               config=None,
               linear_sparse_combiner='sum',
               batch_norm=False):
    self._feature_columns = _validate_feature_columns(""",
        1,
    ),
    # Pandas 3 has a string type that is no NumPy dtype.
    (
        "string columns of pandas 3",
        "tensorflow_estimator/python/estimator/inputs/queues/feeding_functions.py",
        """    elif HAS_PANDAS and isinstance(data, pd.DataFrame):
      types = [""",
        """    elif HAS_PANDAS and isinstance(data, pd.DataFrame):
      data = pandas_frames.with_object_strings(data)
      types = [""",
        1,
    ),
    (
        "import for string columns",
        "tensorflow_estimator/python/estimator/inputs/queues/feeding_functions.py",
        "from tensorflow_estimator.python.estimator.inputs.queues import feeding_queue_runner as fqr\n",
        "from tensorflow_estimator.python.estimator.inputs.queues import feeding_queue_runner as fqr\n"
        f"from {_OURS} import pandas_frames\n",
        1,
    ),
)
