"""Metrics of an evaluation."""

import functools
import inspect


class MetricSpec:
    """A metric, and which predictions, labels and weights it is about.

    Args:
      metric_fn: function of predictions, labels (in this order, or by these names) and, if `weight_key` is given, weights; returns a
        (value, update op) pair.
      prediction_key: key of the predictions; needed if there are several.
      label_key: key of the labels; needed if there are several.
      weight_key: feature with the weights.

    Raises:
      ValueError: if `metric_fn` does not take what the keys ask for.
    """

    def __init__(self, metric_fn, prediction_key=None, label_key=None, weight_key=None):
        self._metric_fn = metric_fn
        self._prediction_key = prediction_key
        self._label_key = label_key
        self._weight_key = weight_key
        self._arguments = self._argument_names()

    def _argument_names(self):
        """Names under which `metric_fn` takes (predictions, labels, weights); None: no such argument, an int: by position."""
        parameters = inspect.signature(self._metric_fn).parameters
        free = [
            name
            for name, p in parameters.items()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        ]
        found = {}
        for role, names in (
            ("predictions", ("predictions", "prediction", "pred")),
            ("labels", ("labels", "label", "targets", "target")),
            ("weights", ("weights", "weight")),
        ):
            name = next((n for n in names if n in parameters), None)
            found[role] = name
            if name in free:
                free.remove(name)
        keywords = any(p.kind == p.VAR_KEYWORD for p in parameters.values())
        for role in ("predictions", "labels"):
            if found[role] is None and free:
                found[role] = free.pop(0)
            elif found[role] is None and keywords:
                found[role] = role
        if found["weights"] is None and keywords:
            found["weights"] = "weights"
        if self._weight_key is not None and found["weights"] is None:
            raise ValueError(f"metric_fn {self._name()} takes no weights, but weight_key is {self._weight_key!r}")
        if self._label_key is not None and found["labels"] is None:
            raise ValueError(f"metric_fn {self._name()} takes no labels, but label_key is {self._label_key!r}")
        return found

    def _name(self):
        function = self._metric_fn
        while isinstance(function, functools.partial):
            function = function.func
        return getattr(function, "__name__", repr(function))

    @property
    def metric_fn(self):
        """As given."""
        return self._metric_fn

    @property
    def prediction_key(self):
        """As given."""
        return self._prediction_key

    @property
    def label_key(self):
        """As given."""
        return self._label_key

    @property
    def weight_key(self):
        """As given."""
        return self._weight_key

    def __str__(self):
        return (
            f"MetricSpec(metric_fn={self._name()}, prediction_key={self._prediction_key}, label_key={self._label_key}, "
            f"weight_key={self._weight_key})"
        )

    def create_metric_ops(self, inputs, labels, predictions):
        """Connects the metric to tensors.

        Args:
          inputs: features, a dict if there is a `weight_key`.
          labels: tensor, or dict of tensors.
          predictions: tensor, or dict of tensors.

        Returns:
          What `metric_fn` returns.

        Raises:
          ValueError: if a key is missing, or needed and not given.
        """

        def choose(what, tensors, key):
            if not isinstance(tensors, dict):
                if key is not None:
                    raise ValueError(f"{what}_key must not be {key!r}: there is one tensor. {self}")
                return tensors
            if key is None and len(tensors) == 1:
                (key,) = tensors
            if key not in tensors:
                raise ValueError(f"{what}_key must be one of {sorted(tensors)}, got {key!r}. {self}")
            return tensors[key]

        kwargs = {self._arguments["predictions"]: choose("prediction", predictions, self._prediction_key)}
        if self._arguments["labels"] is not None:
            kwargs[self._arguments["labels"]] = choose("label", labels, self._label_key)
        if self._weight_key is not None:
            kwargs[self._arguments["weights"]] = choose("weight", inputs, self._weight_key)
        return self._metric_fn(**kwargs)
