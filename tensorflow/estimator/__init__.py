"""`tf.estimator`. What is not there yet raises an AttributeError that says so."""


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(f"module 'tensorflow.estimator' has no attribute {name!r}")
    raise AttributeError(f"tf.estimator.{name} is not in this release of the wheel yet: see docs/limits.md.")
