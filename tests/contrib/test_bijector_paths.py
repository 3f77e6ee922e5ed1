"""The modules below contrib.distributions.python.ops.bijectors hold the bijectors."""

import importlib

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.api_v1 import contrib_paths

_TOP = "tensorflow.contrib.distributions.python.ops.bijectors"
_MODULES = [
    path.rpartition(".")[2]
    for path in contrib_paths.PATHS["distributions"].split()
    if path.startswith("python.ops.bijectors.")
]


@pytest.mark.parametrize("name", _MODULES)
def test_a_module_holds_the_bijector_of_its_name(name):
    module = importlib.import_module(f"{_TOP}.{name}")
    found = [n for n in dir(module) if n.lower().startswith(name.replace("_", ""))]
    assert any(issubclass(getattr(module, n), tf.contrib.distributions.bijectors.Bijector) for n in found), found


def test_a_bijector_comes_before_the_distribution_of_its_name():
    from tensorflow.contrib.distributions.python.ops.bijectors.kumaraswamy import Kumaraswamy

    assert Kumaraswamy is tf.contrib.distributions.bijectors.Kumaraswamy
    assert Kumaraswamy is not tf.contrib.distributions.Kumaraswamy


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("distributions.python.ops.bijectors.exp", "distributions.bijectors"),
        ("learn.python.learn.utils.inspect_checkpoint", "learn.utils"),
        ("distributions.python.ops.mvn_linear_operator", "distributions"),
    ],
)
def test_a_path_without_a_file_is_the_nearest_folder_on_its_way(path, folder):
    assert contrib_paths.find(f"tensorflow.contrib.{path}") == ((f"tensorflow.contrib.{folder}",), True)


@pytest.fixture
def weibull():
    from tensorflow.contrib.distributions.python.ops.bijectors.weibull import Weibull

    with tf.Graph().as_default():
        yield Weibull


def _evaluate(tensor):
    with tf.Session() as session:
        return session.run(tensor)


# Values of TensorFlow 1.15.5.
@pytest.mark.parametrize(
    ("method", "value", "expected"),
    [
        ("forward", [0.5, 1.0], [0.01550356, 0.1175031]),
        ("inverse", [0.2, 0.3], [1.2130855, 1.4183635]),
        ("forward_log_det_jacobian", [0.5, 1.0], [-2.3827486, -1.1058292]),
        ("inverse_log_det_jacobian", [0.2, 0.3], [0.81763834, 0.6384968]),
    ],
)
def test_weibull_has_the_values_of_1_15(weibull, method, value, expected):
    event = {"event_ndims": 0} if "jacobian" in method else {}
    got = _evaluate(getattr(weibull(2.0, 3.0), method)(value, **event))
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda cls: cls(2.0, 3.0, True).forward([-1.0]), "x must not be negative"),
        (lambda cls: cls(2.0, 3.0, True).inverse([2.0]), r"y must be in \[0, 1\]"),
        (lambda cls: cls(-2.0, 3.0, True).forward([1.0]), "scale must be positive"),
        (lambda cls: cls(2.0, 0.0, True).forward([1.0]), "concentration must be positive"),
    ],
)
def test_weibull_names_a_value_out_of_range(weibull, call, message):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        _evaluate(call(weibull))
