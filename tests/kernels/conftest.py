"""Results of the sparse training ops, from processes with our kernels and from one with the stock kernels."""

import functools
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).with_name("sparse_apply_cases.py")


@pytest.fixture(scope="session")
def sparse_apply_results(tmp_path_factory):
    """A function (isa=..., stock=...) -> {case name: result}; see sparse_apply_cases.run."""

    @functools.lru_cache(maxsize=None)
    def results(isa: str = "", stock: bool = False) -> dict:
        path = tmp_path_factory.mktemp("cases") / "results.pkl"
        env = {k: v for k, v in os.environ.items() if not k.startswith("TF_")}
        env.update(TF_CPP_MIN_LOG_LEVEL="2", TF_DEEPREC_ISA=isa, TF_DEEPREC_DISABLE_KERNELS="all" if stock else "")
        arguments = [sys.executable, str(SCRIPT), str(path)] + (["--one_thread" if stock else "--aborting"])
        done = subprocess.run(
            arguments, env=env, cwd=path.parent, text=True, capture_output=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return pickle.loads(path.read_bytes())

    return results
