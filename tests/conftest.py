"""Fixtures of all Python tests. They run against an installed wheel: see ci/test.sh."""

import os
import pathlib
import socket
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
SLOW_TESTS = pathlib.Path(__file__).with_name("slow_tests.txt")


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help=f"run the tests of {SLOW_TESTS.name} too")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leaves out the tests of slow_tests.txt, unless they are asked for."""
    if config.getoption("slow") or any("::" in argument for argument in config.args):
        return
    listed = [line for line in SLOW_TESTS.read_text().splitlines() if not line.startswith("#")]
    folder = SLOW_TESTS.parent
    names = {item: item.path.relative_to(folder).as_posix() + "::" + item.nodeid.partition("::")[2] for item in items}
    collected = {name.partition("::")[0] for name in names.values()}
    slow = set()
    for line in listed:
        found = [i for i, name in names.items() if name == line or (line[-1] == "*" and name.startswith(line[:-1]))]
        if not found and line.partition("::")[0] in collected:
            raise pytest.UsageError(f"{SLOW_TESTS.name} lists a test that is not there: {line}")
        slow.update(found)
    config.hook.pytest_deselected(items=[item for item in items if item in slow])
    items[:] = [item for item in items if item not in slow]


@pytest.fixture(scope="module", autouse=True)
def unfinished_default_graph():
    """A file does not get a default graph that the tests of another, earlier in this process, have finalized."""
    ops = sys.modules.get("tensorflow.python.framework.ops")
    if ops is not None and ops._default_graph_stack.is_cleared() and ops.get_default_graph().finalized:
        ops.reset_default_graph()


@pytest.fixture(scope="session")
def repository() -> pathlib.Path:
    """The root of the source tree, for tests of its scripts."""
    return REPOSITORY


@pytest.fixture
def run_python(tmp_path):
    """Runs a piece of code in a fresh Python, by default this one.

    Returns a function (code, python=None, env=None, timeout=300, **settings) -> CompletedProcess with text output; `settings` are
    environment variables. The working folder is empty, and variables of this project that the tests themselves
    run under are not passed on.
    """

    def run(code, python=sys.executable, timeout=300, **settings):
        env = {k: v for k, v in os.environ.items() if not k.startswith("TF_") and k != "PYTHONPATH"}
        env.update({"TF_CPP_MIN_LOG_LEVEL": "2", **settings})
        return subprocess.run(
            [python, "-c", code], env=env, cwd=tmp_path, text=True, capture_output=True, timeout=timeout, check=False
        )

    return run


@pytest.fixture
def check_python(run_python):
    """Like run_python, but the code must succeed; returns its standard output, stripped."""

    def check(code, **kwargs):
        done = run_python(code, **kwargs)
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout.strip()

    return check


@pytest.fixture
def unused_port() -> int:
    """A port that no server listens at."""
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


_PREDICT = """
import sys, numpy as np, tensorflow as tf
folder, output = sys.argv[1:]
model = tf.saved_model.load(folder + "/model").signatures["serving_default"]
np.save(folder + "/y.npy", model(x=tf.constant(np.load(folder + "/x.npy")))[output].numpy())
"""


@pytest.fixture
def released_prediction(tmp_path):
    """What the released TensorFlow predicts with a SavedModel: (x, name of the output) -> array; the model is in `tmp_path / "model"`."""
    if "DEEPREC_TEST_STOCK_PYTHON" not in os.environ:
        pytest.skip("no released TensorFlow beside")

    def predict(x, output):
        import numpy as np

        np.save(tmp_path / "x.npy", x)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "PYTHON"))}
        command = [os.environ["DEEPREC_TEST_STOCK_PYTHON"], "-c", _PREDICT, str(tmp_path), output]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
        return np.load(tmp_path / "y.npy")

    return predict
