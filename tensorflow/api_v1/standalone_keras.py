"""`import keras` as the Keras of this package, for programs written for keras 2.2 and 2.3. Opt-in: TF_DEEPREC_KERAS=1.

A program that imports keras before tensorflow is served by a .pth file of the wheel, which imports tensorflow first:
tools/pip_package/standalone_keras.
"""

import sys

from tensorflow.api_v1 import import_aliases
from tensorflow.deeprec import settings


def install() -> None:
    """Adds the alias, if the switch is on and no keras was imported.

    Raises:
      ImportError: another keras was imported before.
    """
    if not settings.STANDALONE_KERAS:
        return
    if "keras" in sys.modules:
        raise ImportError(
            "TF_DEEPREC_KERAS=1, but another keras was imported already: set it before Python starts, or import tensorflow before keras"
        )
    # The same tables serve `keras.X` as serve `tensorflow.python.keras.X`: that is where tf.keras had been taken from.
    import_aliases.add_prefix("keras", "tensorflow.python.keras")
