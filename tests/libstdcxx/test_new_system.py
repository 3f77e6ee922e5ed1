"""On a system whose libstdc++ is new enough the guard stays out of the way."""

import os
import shutil

import pytest

from guard_programs import EARLY_IMPORT, SHOW_COPIES, TRAIN_STEP, TRAINED


@pytest.fixture
def standalone_guard(guard_dir, tmp_path):
    """A copy of the guard outside the package, whose files a test may damage."""
    copy = tmp_path / "standalone" / "libstdcxx_guard"
    shutil.copytree(guard_dir, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def use_guard(code: str) -> list:
    return ["-c", "import sys; sys.path.insert(0, 'standalone')\nimport libstdcxx_guard as guard\n" + code]


def test_bundled_copy_is_not_mapped(run, system_libstdcxx):
    result = run(["-c", TRAIN_STEP + SHOW_COPIES])
    assert TRAINED in result.stdout, result.stderr
    assert [line for line in result.stdout.splitlines() if line.startswith("MAPPED")] == [f"MAPPED {system_libstdcxx}"]


def test_import_after_others_is_fine(run):
    assert TRAINED in run(["-c", EARLY_IMPORT + TRAIN_STEP]).stdout


def test_reexec_variable_does_nothing(run):
    result = run(["-c", "print('START')\n" + EARLY_IMPORT + TRAIN_STEP], {"TF_DEEPREC_REEXEC": "1"})
    assert result.stdout.count("START") == 1 and TRAINED in result.stdout


def test_describe_names_the_system_copy(run, system_libstdcxx):
    code = "import tensorflow; from tensorflow.libstdcxx_guard import describe; print(describe())"
    output = run(["-c", code]).stdout
    assert f"'path': '{system_libstdcxx}'" in output
    assert "'origin': 'system', 'chosen_by': \"the system's is new enough\"" in output
    assert "'problems': []" in output


def test_describe_before_ensure_has_no_side_effect(run, standalone_guard):
    code = "d = guard.describe(); print(d['origin'], d['problems'], d['chosen_by'])\nguard.ensure()"
    result = run(use_guard(code))
    assert "system [] not chosen yet; the one of the system is new enough" in result.stdout, result.stderr
    assert result.returncode == 0, result.stderr


def test_describe_before_ensure_tells_what_an_import_would_do(run, standalone_guard, old_system):
    code = "d = guard.describe(); print(d['origin'], d['problems'], d['chosen_by'])" + SHOW_COPIES
    result = run(use_guard(code), old_system)
    assert "none [] not chosen yet; an import loads the bundled one: " in result.stdout, result.stderr
    assert "MAPPED" not in result.stdout


def test_describe_names_an_old_copy_in_the_process(run, standalone_guard, old_system):
    code = EARLY_IMPORT + "d = guard.describe(); print(d['origin'], d['problems'])"
    result = run(use_guard(code), old_system)
    assert "system ['TensorFlow needs a libstdc++.so.6 with GLIBCXX_3.4.22" in result.stdout, result.stderr


def test_guard_imports_only_ctypes(run, standalone_guard):
    code = (
        "import sys, ctypes\nsys.path.insert(0, 'standalone')\nbefore = set(sys.modules)\n"
        "import libstdcxx_guard\nlibstdcxx_guard.ensure()\nprint(sorted(set(sys.modules) - before))"
    )
    result = run(["-S", "-c", code])
    assert result.stdout == "['__future__', 'libstdcxx_guard']\n", result.stderr


def test_missing_probe_breaks_nothing(run, standalone_guard):
    (standalone_guard / "libcxxprobe.so").unlink()
    result = run(use_guard("guard.ensure(); print('WENT ON', guard.describe()['problems'])" + SHOW_COPIES))
    assert "WENT ON" in result.stdout and "libcxxprobe.so" in result.stdout, result.stderr
    assert "MAPPED" not in result.stdout


@pytest.mark.parametrize("content", [b"", b"no library", b"\x7fELF\x02\x01\x01" + bytes(40)])
def test_damaged_probe_breaks_nothing(run, standalone_guard, content):
    (standalone_guard / "libcxxprobe.so").write_bytes(content)
    result = run(use_guard("guard.ensure(); print('WENT ON', guard.describe()['problems'])"))
    assert "WENT ON" in result.stdout and "check could not run" in result.stdout, result.stderr


def test_missing_bundled_copy_breaks_nothing_but_is_reported(run, standalone_guard):
    (standalone_guard / "libstdc++.so.6").unlink()
    result = run(use_guard("guard.ensure(); print('WENT ON', guard.describe()['problems'])"))
    assert "WENT ON" in result.stdout and "libstdc++.so.6 is missing" in result.stdout, result.stderr


def test_missing_bundled_copy_on_an_old_system_is_an_error(run, standalone_guard, old_system):
    (standalone_guard / "libstdc++.so.6").unlink()
    result = run(use_guard("guard.ensure()"), old_system)
    last_line = result.stderr.strip().splitlines()[-1]
    assert last_line.startswith("ImportError: ") and "the bundled one can't be loaded" in last_line


def test_missing_probe_on_an_old_system_loads_nothing(run, standalone_guard, old_system):
    (standalone_guard / "libcxxprobe.so").unlink()
    result = run(use_guard("guard.ensure(); print('WENT ON')" + SHOW_COPIES), old_system)
    assert "WENT ON" in result.stdout and "MAPPED" not in result.stdout


def test_library_path_with_spaces_is_served(run, guard_dir, old_system, tmp_path):
    copy = tmp_path / "standalone" / "libstdcxx_guard"
    shutil.copytree(guard_dir, tmp_path / "a b" / "libstdcxx_guard")
    os.symlink(tmp_path / "a b", tmp_path / "standalone")
    assert copy.exists()
    result = run(use_guard("guard.ensure(); print(guard.describe()['origin'])"), old_system)
    assert "bundled" in result.stdout, result.stderr
