"""What the wheel changes in tf_slim 1.1.0: see tools/pip_package/source_edits.py.

Its private imports are those of an older TensorFlow. The 1.x root answers for them through its tables; with the 2.x root, which is
left as it is released, they are added when tf_slim is imported.
"""

EDITS = (
    (
        "names that moved",
        "tf_slim/__init__.py",
        "\nfrom tf_slim.layers import *\n",
        "\nfrom tensorflow.api_v1 import slim_names as _slim_names\n\n_slim_names.install()\n\nfrom tf_slim.layers import *\n",
        1,
    ),
    (
        "layers of normalization",
        "tf_slim/layers/layers.py",
        "from tensorflow.python.layers import normalization as normalization_layers\n",
        "from tf_keras.src.legacy_tf_layers import normalization as normalization_layers\n",
        1,
    ),
)
