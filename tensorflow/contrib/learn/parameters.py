"""scikit-learn's way to read and set what an estimator is made of."""


class HasParameters:
    """Parameters are the attributes of an object whose names do not start with an underscore, except functions."""

    def get_params(self, deep=True):
        """dict: name -> value.

        Args:
          deep: whether the parameters of values that have such are in it too, as "name__theirs".
        """
        own = {k: v for k, v in vars(self).items() if not k.startswith("_") and not callable(v)}
        if not deep:
            return own
        inner = {}
        for name, value in own.items():
            if hasattr(value, "get_params"):
                inner.update({f"{name}__{k}": v for k, v in value.get_params().items()})
        return {**own, **inner}

    def set_params(self, **params):
        """Sets parameters, those of a value by "name__theirs"; returns this object.

        Raises:
          ValueError: there is no parameter of a name.
        """
        own = self.get_params()
        for path, value in params.items():
            name, deeper, rest = path.partition("__")
            if name not in own or (deeper and not hasattr(own[name], "set_params")):
                raise ValueError(
                    f"Invalid parameter {name} for estimator {type(self).__name__}. Check the list of available parameters with "
                    f"`estimator.get_params().keys()`: {sorted(own)}."
                )
            if deeper:
                own[name].set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self):
        values = ", ".join(f"{k}={v!r}" for k, v in self.get_params(deep=False).items())
        return f"{type(self).__name__}({values})"
