"""Programs that import the installed wheel, on this system and on a simulated old one."""

import importlib.util
import os
import pathlib
import subprocess
import sys
from typing import Dict, List, Optional

import pytest

_HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE))

# pylint: disable=wrong-import-position
import feature_build
import old_libstdcxx
from guard_programs import SHOW_COPIES


@pytest.fixture(scope="session")
def package_dir() -> pathlib.Path:
    """The installed tensorflow package; found, not imported."""
    spec = importlib.util.find_spec("tensorflow")
    assert spec is not None, "the wheel under test is not installed in this environment"
    return pathlib.Path(spec.submodule_search_locations[0])


@pytest.fixture(scope="session")
def guard_dir(package_dir) -> pathlib.Path:
    return package_dir / "libstdcxx_guard"


@pytest.fixture(scope="session")
def system_libstdcxx() -> pathlib.Path:
    """The file that the loader takes for libstdc++.so.6."""
    code = "import ctypes; ctypes.CDLL('libstdc++.so.6')" + SHOW_COPIES
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return pathlib.Path(result.stdout.split("MAPPED ")[1].strip())


@pytest.fixture(scope="session")
def old_system(system_libstdcxx, tmp_path_factory) -> Dict[str, str]:
    """Environment variables under which libstdc++.so.6 is that of GCC 6."""
    content, removed = old_libstdcxx.make_old(system_libstdcxx.read_bytes())
    assert "GLIBCXX_3.4.22" in removed and "CXXABI_1.3.11" in removed
    folder = tmp_path_factory.mktemp("old_system")
    (folder / "libstdc++.so.6").write_bytes(content)
    return {"LD_LIBRARY_PATH": str(folder)}


class Runner:
    """Runs Python programs in a folder of their own."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder

    def __call__(
        self,
        arguments: List[str],
        environment: Optional[Dict[str, str]] = None,
        python: str = sys.executable,
        stdin: Optional[str] = None,
    ) -> subprocess.CompletedProcess:
        unwanted = ("LD_PRELOAD", "LD_LIBRARY_PATH", "TF_DEEPREC_REEXEC", "TF_DEEPREC_REEXEC_PID")
        variables = {k: v for k, v in os.environ.items() if k not in unwanted}
        variables.update({"TF_CPP_MIN_LOG_LEVEL": "3"}, **(environment or {}))
        return subprocess.run(
            [python, *arguments],
            cwd=self.folder,
            env=variables,
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )


@pytest.fixture
def run(tmp_path) -> Runner:
    return Runner(tmp_path)


@pytest.fixture(scope="session")
def features_object(tmp_path_factory) -> pathlib.Path:
    return feature_build.compile_features(tmp_path_factory.mktemp("features") / "features.o")


@pytest.fixture(scope="session")
def feature_host(tmp_path_factory) -> pathlib.Path:
    """The program that loads a feature library and prints what failed."""
    program = tmp_path_factory.mktemp("host") / "feature_host"
    source = _HERE / "feature_host.cc"
    feature_build.run([feature_build.CXX, "-std=c++17", "-O1", source, "-o", program, "-pthread", "-ldl"])
    return program
