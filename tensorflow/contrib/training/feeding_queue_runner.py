"""`FeedingQueueRunner`: threads that feed a queue from Python functions; the estimator package's class."""

__all__ = ["FeedingQueueRunner"]  # noqa: F822


def __getattr__(name):
    # Loaded when asked for: the estimator package takes long to import.
    if name != "FeedingQueueRunner":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tensorflow_estimator.python.estimator.inputs.queues import feeding_queue_runner

    return feeding_queue_runner._FeedingQueueRunner
