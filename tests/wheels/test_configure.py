"""configure.py finds what is there, and says in one sentence what is not."""

import os
import shutil
import stat
import subprocess
import sys

import pytest


@pytest.fixture
def configure(repository, tmp_path):
    """Runs a copy of configure.py, so that the tree's own settings stay; returns (exit code, stderr, settings file)."""
    root = tmp_path / "tree"
    shutil.copytree(repository / "third_party" / "tensorflow", root / "third_party" / "tensorflow")
    shutil.copy(repository / "configure.py", root)
    # No index: whatever is fetched in these tests is a mistake, or tests the message for it.
    env = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    env.pop("PIP_EXTRA_INDEX_URL", None)

    def run(*args, interpreter=sys.executable, **variables):
        done = subprocess.run(
            [interpreter, str(root / "configure.py"), "--cache_dir", str(tmp_path / "cache"), *args],
            env={**env, **variables},
            text=True,
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stderr, root / ".deeprec_configure.bazelrc"

    return run


def _executable(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def _fails_with(result, *parts):
    code, stderr, settings = result
    assert code == 1
    message = stderr.strip().splitlines()[-1]
    assert message.startswith("configure: ")
    for part in parts:
        assert part in message
    assert "Traceback" not in stderr
    assert not settings.exists()


def test_no_python(configure):
    _fails_with(configure("--python", "no-such-python"), "No Python at 'no-such-python'", "--python")


@pytest.mark.parametrize("version", ["3.9", "3.14"])
def test_wrong_python(configure, tmp_path, version):
    major, minor = version.split(".")
    fake = _executable(
        tmp_path / "python",
        f'#!/bin/sh\necho \'["/usr/bin/fake", [{major}, {minor}], "cpython", "linux-x86_64", false]\'\n',
    )
    _fails_with(configure("--python", fake), f"cpython {version}", "3.10 to 3.13", "--python")


def test_python_that_does_not_run(configure, tmp_path):
    _fails_with(
        configure("--python", _executable(tmp_path / "python", "#!/bin/sh\nexit 3\n")), "does not run", "--python"
    )


def test_no_compiler(configure):
    _fails_with(configure("--cxx", "no-such-compiler"), "No C++ compiler", "apt-get install g++", "--cxx")


def test_compiler_that_cannot_compile(configure, tmp_path):
    _fails_with(configure("--cxx", _executable(tmp_path / "cxx", "#!/bin/sh\nexit 1\n")), "C++17", "--cxx")


def test_no_bazel(configure):
    _fails_with(configure("--bazel", "no-such-bazel"), "No Bazel", "apt-get install bazel-bootstrap", "--bazel")


def test_environment_variables_stand_for_flags(configure):
    _fails_with(configure(CXX="no-such-compiler"), "No C++ compiler at 'no-such-compiler'")


def test_missing_wheel_file(configure):
    _fails_with(configure("--tf_wheel", "nowhere.whl"), "no wheel at", "tensorflow-cpu 2.21.0")


def test_wheel_of_another_release(configure, tmp_path):
    wheel = tmp_path / "tensorflow_cpu-2.20.0-cp311-cp311-manylinux_2_27_x86_64.whl"
    wheel.write_bytes(b"")
    _fails_with(configure("--tf_wheel", str(wheel)), "is not tensorflow-cpu 2.21.0")


def test_wheel_for_another_python(configure, tmp_path):
    wheel = tmp_path / "tensorflow_cpu-2.21.0-cp39-cp39-manylinux_2_27_x86_64.whl"
    wheel.write_bytes(b"")
    _fails_with(configure("--tf_wheel", str(wheel)), "not for the chosen Python")


def test_altered_wheel(configure, tmp_path):
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    wheel = tmp_path / f"tensorflow_cpu-2.21.0-{tag}-{tag}-manylinux_2_27_x86_64.whl"
    wheel.write_bytes(b"not the wheel")
    _fails_with(configure("--tf_wheel", str(wheel)), "sha256", "does not list")


def test_wheel_that_cannot_be_fetched(configure):
    _fails_with(configure(), "pip could not fetch")


def test_a_download_cut_short_is_not_taken_for_the_wheel(configure, tmp_path):
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    folder = tmp_path / "cache" / "wheels"
    folder.mkdir(parents=True)
    part = folder / f"tensorflow_cpu-2.21.0-{tag}-{tag}-manylinux_2_27_x86_64.whl"
    part.write_bytes(b"half")
    _fails_with(configure(), "pip could not fetch")
    assert not part.exists()
