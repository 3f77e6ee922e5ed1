"""Fixtures of all Python tests. They run against an installed wheel: see ci/test.sh."""

import os
import pathlib
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]


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
