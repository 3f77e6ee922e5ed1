"""Session hooks."""

from tensorflow.python.training.basic_session_run_hooks import ProfilerHook

__all__ = ["ProfilerHook"]
