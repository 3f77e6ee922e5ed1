"""Wrappers that let scikit-learn's tools (grid search, pipelines) drive Keras models."""

import copy
import inspect

import numpy as np
from tf_keras.src.models import Sequential
from tf_keras.src.utils.np_utils import to_categorical


class BaseWrapper:
    """A model that is built by `build_fn` at each `fit`.

    Args:
      build_fn: function, or object with __call__, that returns a compiled Keras model. None: a subclass defines __call__.
      **sk_params: arguments of build_fn and of the model's fit, predict, predict_proba and evaluate (as score).

    Raises:
      ValueError: a parameter that none of these takes.
    """

    def __init__(self, build_fn=None, **sk_params):
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _builder(self):
        if self.build_fn is None:
            return self.__call__
        return self.build_fn if inspect.isroutine(self.build_fn) else self.build_fn.__call__

    def check_params(self, params):
        """Raises ValueError for parameters that neither build_fn nor the model's methods take."""
        known = {"nb_epoch"}
        for function in (Sequential.fit, Sequential.predict, Sequential.evaluate, self._builder()):
            parameters = inspect.signature(function).parameters
            if function == self._builder() and any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                return
            known.update(parameters)
        for name in params:
            if name not in known:
                raise ValueError(f"{name} is no parameter of build_fn, fit, predict or evaluate")

    def get_params(self, deep=True, **params):
        """All parameters, for sklearn.base.clone."""
        return {**(copy.deepcopy(self.sk_params) if deep else self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params):
        self.check_params({k: v for k, v in params.items() if k != "build_fn"})
        if "build_fn" in params:
            self.build_fn = params.pop("build_fn")
        self.sk_params.update(params)
        return self

    def filter_sk_params(self, fn, override=None):
        """Those of the parameters that `fn` takes, with those of `override` on top."""
        names = inspect.signature(fn).parameters
        return {**{k: v for k, v in self.sk_params.items() if k in names}, **(override or {})}

    def fit(self, x, y, **kwargs):
        """Builds the model and trains it; returns the History."""
        self.model = self._builder()(**self.filter_sk_params(self._builder()))
        loss = self.model.loss
        name = getattr(loss, "__name__", loss)
        if name == "categorical_crossentropy" and np.ndim(y) != 2:
            y = to_categorical(y)
        return self.model.fit(x, y, **{**self.filter_sk_params(Sequential.fit), **kwargs})

    def _evaluate(self, x, y, kwargs):
        result = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return dict(zip(self.model.metrics_names, np.atleast_1d(result)))


class KerasClassifier(BaseWrapper):
    """A Keras model as a scikit-learn classifier; labels are mapped to 0 ... n-1 in sorted order."""

    def fit(self, x, y, **kwargs):
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or y.ndim == 2:
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"y must have rank 1 or 2, got shape {y.shape}")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def _probabilities(self, x, kwargs):
        return self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs))

    def predict(self, x, **kwargs):
        """The label of each sample: the largest output, or, of a single output, whether it is above 0.5."""
        p = self._probabilities(x, kwargs)
        return self.classes_[p.argmax(-1) if p.shape[-1] > 1 else (p > 0.5).astype("int32")]

    def predict_proba(self, x, **kwargs):
        """[samples, classes] probabilities; a single output p becomes the two columns 1 - p and p."""
        p = self._probabilities(x, kwargs)
        return np.hstack([1 - p, p]) if p.shape[1] == 1 else p

    def score(self, x, y, **kwargs):
        """The model's accuracy.

        Raises:
          ValueError: the model was compiled without an accuracy metric.
        """
        y = np.searchsorted(self.classes_, y)
        if getattr(self.model.loss, "__name__", self.model.loss) == "categorical_crossentropy" and y.ndim != 2:
            y = to_categorical(y, self.n_classes_)
        for name, value in self._evaluate(x, y, kwargs).items():
            if name in ("accuracy", "acc"):
                return float(value)
        raise ValueError("score needs a model compiled with metrics=['accuracy']")


class KerasRegressor(BaseWrapper):
    """A Keras model as a scikit-learn regressor."""

    def predict(self, x, **kwargs):
        return np.squeeze(self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs)))

    def score(self, x, y, **kwargs):
        """The negative loss: larger is better."""
        return -float(self._evaluate(x, y, kwargs)["loss"])
