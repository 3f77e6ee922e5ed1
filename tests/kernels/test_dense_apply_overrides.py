"""ApplyAdam, ApplyAdagrad and ApplyAdagradV2 on our kernels against the stock ones: values and errors."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

CASES = """
import json
import sys
import numpy as np
import tensorflow as tf
random = np.random.RandomState(0)
SCALARS = {"Adam": dict(beta1_power=0.729, beta2_power=0.997, lr=0.01, beta1=0.9, beta2=0.999, epsilon=1e-7),
           "Adagrad": dict(lr=0.1), "AdagradV2": dict(lr=0.1, epsilon=1e-3)}

def run(rule, shape, dtype, resource, wrong=None, initialize=True, **attributes):
    with tf.Graph().as_default():
        slots = ["var", "m", "v"] if rule == "Adam" else ["var", "accum"]
        shapes = {name: shape for name in slots + ["grad"]}
        scalars = {name: np.asarray(value, dtype) for name, value in SCALARS[rule].items()}
        if wrong in shapes:
            shapes[wrong] = [*shape, 1]
        elif wrong:
            scalars[wrong] = np.resize(scalars[wrong], [1])
        values = {name: np.asarray(np.abs(random.randn(*of)) + 0.1, dtype) for name, of in shapes.items()}
        values["grad"] = np.asarray(random.randn(*shapes["grad"]), dtype)
        variables = [tf.get_variable(name, initializer=tf.constant(values[name]), use_resource=resource) for name in slots]
        arguments = {name: variable.handle if resource else variable._ref() for name, variable in zip(slots, variables)}
        inputs = {name: tf.placeholder_with_default(value, None) for name, value in {**scalars, "grad": values["grad"]}.items()}
        name = ("Resource" if resource else "") + "Apply" + rule
        step = getattr(tf.raw_ops, name)(**arguments, **inputs, **attributes)
        with tf.Session() as session:
            try:
                if initialize:
                    session.run(tf.global_variables_initializer())
                for _ in range(3):
                    session.run(step if resource else step.op)
                return [value.astype(float).tolist() for value in session.run(variables)]
            except tf.errors.OpError as error:
                return type(error).__name__ + ": " + str(error).split("[[")[0].split("Node:")[0].strip().splitlines()[0]

results = []
for resource in (False, True):
    for rule in SCALARS:
        for shape in ([], [0], [7], [33, 5], [3, 4, 5], [700, 300]):
            results.append(run(rule, shape, np.float32, resource))
        results.append(run(rule, [33, 5], np.float64, resource, use_locking=True))
        extra = dict(use_nesterov=True) if rule == "Adam" else dict(update_slots=False)
        results.append(run(rule, [33, 5], np.float32, resource, **extra))
        for wrong in [*SCALARS[rule], "grad"]:
            results.append(run(rule, [3, 2], np.float32, resource, wrong))
        results.append(run(rule, [3, 2], np.float32, resource, initialize=False))
json.dump(results, sys.stdout)
"""


def results(disabled=""):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_DEEPREC_DISABLE_KERNELS": disabled}
    done = subprocess.run([sys.executable, "-c", CASES], env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def both():
    return results(), results("all")


def test_variables_equal_those_of_the_stock_kernel(both):
    compared = 0
    for ours, stock in zip(*both):
        if isinstance(stock, list):
            compared += 1
            for one, other in zip(ours, stock):
                np.testing.assert_allclose(one, other, rtol=3e-6, atol=1e-7)
    assert compared == 48


def test_errors_are_those_of_the_stock_kernel(both):
    errors = [(ours, stock) for ours, stock in zip(*both) if isinstance(stock, str)]
    assert len(errors) == 30
    for ours, stock in errors:
        if "Invalid variable reference" in stock:  # of a resource that is not initialized, which ours names
            assert ours == "FailedPreconditionError: Attempting to use uninitialized variables: var (var)"
        else:
            assert ours == stock.replace(" : ", ": ")
