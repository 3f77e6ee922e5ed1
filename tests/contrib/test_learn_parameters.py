"""Estimators of contrib.learn show and take their parameters as scikit-learn's do."""

import pytest
import tensorflow as tf

learn = tf.contrib.learn


def model_fn(features, labels, mode, params):
    del features, labels, mode, params


class Weighted(learn.Estimator):
    def __init__(self, alpha=1, inner=None):
        super().__init__(model_fn)
        self.alpha = alpha
        self.inner = inner


def test_an_estimator_shows_its_params():
    assert learn.Estimator(model_fn, params={"a": 1}).get_params() == {"params": {"a": 1}}


def test_a_canned_estimator_shows_its_params():
    column = tf.contrib.layers.real_valued_column("x")
    assert list(learn.LinearClassifier([column]).get_params()) == ["params"]


def test_deep_parameters_are_those_of_values_too():
    inner = Weighted(4)
    assert Weighted(3, inner).get_params() == {
        "params": None,
        "alpha": 3,
        "inner": inner,
        "inner__params": None,
        "inner__alpha": 4,
        "inner__inner": None,
    }
    assert Weighted(3, inner).get_params(deep=False) == {"params": None, "alpha": 3, "inner": inner}


def test_set_params_sets_and_returns_the_estimator():
    estimator = Weighted(3, Weighted(4))
    assert estimator.set_params(alpha=7, inner__alpha=8) is estimator
    assert (estimator.alpha, estimator.inner.alpha) == (7, 8)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nope", "Invalid parameter nope for estimator Weighted"),
        ("inner__nope", "Invalid parameter nope for estimator Weighted"),
        ("alpha__x", "Invalid parameter alpha for estimator Weighted"),
    ],
)
def test_set_params_names_a_parameter_that_is_not_there(name, message):
    with pytest.raises(ValueError, match=message):
        Weighted(3, Weighted(4)).set_params(**{name: 1})


def test_an_estimator_is_printed_with_its_parameters():
    assert repr(Weighted(3, Weighted(4))) == (
        "Weighted(params=None, alpha=3, inner=Weighted(params=None, alpha=4, inner=None))"
    )
