# ruff: noqa: F401
"""Old names of the profiler."""

from tensorflow.python.profiler.profile_context import ProfileContext

from tensorflow.contrib.tfprof import model_analyzer, tfprof_logger

__all__ = ["ProfileContext", "model_analyzer", "tfprof_logger"]
