"""Shared by the optimizer tests: training runs in processes with chosen kernels, and small graphs in this process."""

import functools
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).with_name("train_cases.py")


@pytest.fixture(scope="session")
def train(tmp_path_factory):
    """A function (*arguments of train_cases.py, **environment) -> {variable name: final value}."""

    @functools.lru_cache(maxsize=None)
    def run(*arguments: str, **environment: str):
        path = tmp_path_factory.mktemp("train") / "results.pkl"
        env = {k: v for k, v in os.environ.items() if not k.startswith("TF_")}
        env.update(TF_CPP_MIN_LOG_LEVEL="2", **environment)
        done = subprocess.run(
            [sys.executable, str(SCRIPT), str(path), *arguments],
            env=env,
            cwd=path.parent,
            text=True,
            capture_output=True,
            check=False,
            timeout=600,
        )
        return done, pickle.loads(path.read_bytes()) if done.returncode == 0 else None

    def checked(*arguments: str, **environment: str) -> dict:
        # Outside the cache, which would otherwise run a failing training again for every test.
        done, results = run(*arguments, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return results

    return checked


@pytest.fixture
def tf():
    """TensorFlow with an empty default graph."""
    import tensorflow

    with tensorflow.Graph().as_default():
        yield tensorflow


@pytest.fixture
def run_session(tf):
    """Initializes all variables, then runs the fetches in one session; returns the last result."""

    def run(*fetches, feed_dict=None):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            results = [session.run(fetch, feed_dict) for fetch in fetches]
        return results[-1]

    return run
