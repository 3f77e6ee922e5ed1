"""`tf.contrib.boosted_trees`: 1.15 exported no names of it. Its estimators had kernels of their own, which are gone.

Anything taken from it raises an error when it is used; `tf.estimator.BoostedTreesClassifier` and its kin are the replacement.
"""

__all__: list[str] = []


class _Gone:
    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(
            f"tf.contrib.boosted_trees ({self._name}) needs kernels that are gone from the runtime. "
            "Use tf.estimator.BoostedTreesClassifier, BoostedTreesRegressor or BoostedTreesEstimator instead."
        )

    def __mro_entries__(self, bases):
        self()


def __getattr__(name: str):
    if name.startswith("__") or name == "python":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _Gone(name)
