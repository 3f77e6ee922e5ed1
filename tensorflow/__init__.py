"""TensorFlow 1.15's API on the TensorFlow 2.21 runtime, with the features of DeepRec.

`import tensorflow as tf` gives the 1.x API in graph mode. The steps, in order: a C++ runtime library that is new
enough (libstdcxx_guard), the bundled dependencies where the wheel carries any, then one of two roots:
the 1.x root of `api_v1`, or, with TF_DEEPREC_ROOT=2 in the environment, the released 2.x root as it is.
"""

import os as _os
import sys as _sys

if not _os.path.exists(_os.path.join(_os.path.dirname(__file__), "libtensorflow_framework.so.2")):
    raise ImportError(
        f"{_os.path.dirname(__file__)} holds the sources of the package, not the installed package: "
        "run Python from another folder, or install the wheel first."
    )

if _os.path.exists(_os.path.join(_os.path.dirname(__file__), "bundled", "index.json")):
    # The self-contained wheel: its own dependencies stand in for those of the environment that are too old.
    import _deeprec_bundled

    _deeprec_bundled.prefer_over_outdated()

from tensorflow.libstdcxx_guard import ensure as _ensure_libstdcxx

_ensure_libstdcxx()

from tensorflow.deeprec import import_pause as _import_pause
from tensorflow.deeprec import settings as _settings

_settings.apply_before_runtime_loads()

with _import_pause.without_collections():
    if _settings.ROOT_API == "2":
        from tensorflow.api_v1 import released as _released

        _released.populate(_sys.modules[__name__])
    else:
        from tensorflow.api_v1 import root as _root

        _root.populate(_sys.modules[__name__])
