"""What this build is."""

import platform

from tensorflow.python.framework import versions


def buildinfo() -> str:
    """One line: the API that is provided, and the TensorFlow that it runs on."""
    return (
        f"HybridBackend API 1.0.0 (data); tensorflow {versions.GIT_VERSION} {versions.VERSION}; "
        f"Python {platform.python_version()}; CPU"
    )
