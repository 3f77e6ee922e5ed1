"""tf.contrib.eager's execution callbacks, in an eager context of each test."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.contrib.eager import execution_callbacks
from tensorflow.python.eager import context

tfe = tf.contrib.eager


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield
        tfe.clear_execution_callbacks()


def test_callbacks_see_type_inputs_attributes_and_outputs_in_order():
    seen = []
    a = tf.constant([[1.0, 2.0]])
    tfe.add_execution_callback(lambda *arguments: seen.append(("first", *arguments)))
    tfe.add_execution_callback(lambda *arguments: seen.append(("second", *arguments)))
    tf.matmul(a, a, transpose_b=True)
    products = [entry for entry in seen if entry[1] == "MatMul"]
    assert [entry[0] for entry in products] == ["first", "second"]
    _, _, inputs, attrs, outputs, _ = products[0]
    np.testing.assert_array_equal(inputs[0].numpy(), [[1.0, 2.0]])
    assert attrs[attrs.index("transpose_b") + 1] is True or attrs[attrs.index("transpose_b") + 1] == 1
    np.testing.assert_array_equal(outputs[0].numpy(), [[5.0]])
    tfe.clear_execution_callbacks()
    count = len(seen)
    tf.matmul(a, a, transpose_b=True)
    assert len(seen) == count


def test_graphs_that_are_built_are_not_reported():
    seen = []
    tfe.add_execution_callback(lambda op_type, *_: seen.append(op_type))
    with tf.Graph().as_default():
        tf.sqrt(tf.constant(2.0))
    assert "Sqrt" not in seen


def test_nan_and_inf_callbacks_look_for_their_own_kind():
    zero, tiny = tf.constant(0.0), tf.constant(-1.0)
    tfe.add_execution_callback(tfe.inf_callback)
    assert np.isnan(tf.log(tiny).numpy())
    with pytest.raises(execution_callbacks.InfOrNanError, match="1 inf and 0 nan") as raised:
        tf.log(zero)
    assert raised.value.op_type == "Log" and raised.value.output_index == 0
    tfe.clear_execution_callbacks()
    tfe.add_execution_callback(tfe.nan_callback)
    assert np.isinf(tf.log(zero).numpy())
    with pytest.raises(execution_callbacks.InfOrNanError, match="0 inf and 1 nan"):
        tf.log(tiny)


def test_errstate_holds_in_its_block(capsys):
    zero, kinds = tf.constant(0.0), tfe.ExecutionCallback
    assert tfe.seterr() == {"inf_or_nan": kinds.IGNORE}
    with tfe.errstate(inf_or_nan=kinds.RAISE):
        assert tfe.seterr() == {"inf_or_nan": kinds.RAISE}
        with pytest.raises(execution_callbacks.InfOrNanError):
            tf.log(zero)
        with tfe.errstate("print"):
            tf.log(zero)
            assert "Log" in capsys.readouterr().out
        with pytest.raises(execution_callbacks.InfOrNanError):
            tf.log(zero)
    assert np.isinf(tf.log(zero).numpy())
    assert tfe.seterr(inf_or_nan="warn") == {"inf_or_nan": kinds.IGNORE}
    assert tfe.seterr(inf_or_nan="ignore") == {"inf_or_nan": kinds.WARN}
    with pytest.raises(ValueError, match="loud"):
        tfe.seterr(inf_or_nan="loud")


def test_integers_are_not_looked_at_and_finite_values_pass():
    with tfe.errstate(inf_or_nan="raise"):
        assert (tf.constant(2) + 3).numpy() == 5
        assert tf.sqrt(tf.constant(4.0)).numpy() == 2.0


def test_a_callback_must_be_a_function():
    with pytest.raises(TypeError, match="callback"):
        tfe.add_execution_callback("print")
