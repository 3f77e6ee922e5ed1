"""On a system whose libstdc++ is too old for TensorFlow."""

import os

import pytest

from guard_programs import EARLY_IMPORT, SHOW_COPIES, TRAIN_STEP, TRAINED


def mapped(output: str) -> list:
    return [line.split(" ", 1)[1] for line in output.splitlines() if line.startswith("MAPPED ")]


def test_released_wheel_fails(run, old_system):
    stock_python = os.environ.get("DEEPREC_TEST_STOCK_PYTHON")
    if not stock_python:
        pytest.skip("DEEPREC_TEST_STOCK_PYTHON names no Python with the released tensorflow-cpu")
    without_ours = dict(old_system, PYTHONPATH="")
    assert TRAINED in run(["-c", TRAIN_STEP], {"PYTHONPATH": ""}, python=stock_python).stdout
    result = run(["-c", TRAIN_STEP], without_ours, python=stock_python)
    assert result.returncode != 0
    assert "GLIBCXX_3.4.22' not found" in result.stderr or "CXXABI_1.3.11' not found" in result.stderr


def test_import_trains(run, old_system):
    result = run(["-c", TRAIN_STEP], old_system)
    assert result.returncode == 0, result.stderr
    assert TRAINED in result.stdout


def test_bundled_is_the_only_copy(run, old_system, guard_dir):
    result = run(["-c", TRAIN_STEP + EARLY_IMPORT + SHOW_COPIES], old_system)
    assert result.returncode == 0, result.stderr
    assert [os.path.realpath(path) for path in mapped(result.stdout)] == [
        os.path.realpath(guard_dir / "libstdc++.so.6")
    ]


def test_describe_names_the_bundled_copy(run, old_system):
    code = (
        "import tensorflow, json; from tensorflow.libstdcxx_guard import describe;"
        "d = describe(); print(d['origin'], d['version'] == d['bundled_version'], d['problems'])"
    )
    assert "bundled True []" in run(["-c", code], old_system).stdout


def test_late_import_gives_an_error_with_the_cure(run, old_system):
    result = run(["-c", EARLY_IMPORT + TRAIN_STEP], old_system)
    assert result.returncode == 1
    last_line = result.stderr.strip().splitlines()[-1]
    assert last_line.startswith("ImportError: TensorFlow needs a libstdc++.so.6 with GLIBCXX_3.4.22")
    assert "ml_dtypes" in last_line and "ends at GLIBCXX_3.4.21" in last_line
    assert "Import tensorflow before the others" in last_line and "TF_DEEPREC_REEXEC=1" in last_line


def test_late_import_never_loads_a_second_copy(run, old_system):
    code = EARLY_IMPORT + "try:\n  import tensorflow\nexcept ImportError:\n  print('REFUSED')\n" + SHOW_COPIES
    result = run(["-c", code], old_system)
    assert "REFUSED" in result.stdout
    assert mapped(result.stdout) == [os.path.join(old_system["LD_LIBRARY_PATH"], "libstdc++.so.6")]


def test_no_libstdcxx_at_all_is_served_by_the_bundled_copy(run, tmp_path):
    # A file that is no library stands for "cannot be opened" before the system's folders are reached.
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "libstdc++.so.6").write_bytes(b"\x7fELF not a library" + bytes(64))
    result = run(["-c", TRAIN_STEP], {"LD_LIBRARY_PATH": str(folder)})
    assert result.returncode == 0, result.stderr
    assert TRAINED in result.stdout


def test_children_of_multiprocessing_import_too(run, old_system, tmp_path):
    script = tmp_path / "workers.py"
    script.write_text(
        "import multiprocessing as mp\n"
        "def work(x):\n  import tensorflow as tf\n  return x + int(tf.constant([1, 2]).shape[0])\n"
        "if __name__ == '__main__':\n"
        "  with mp.get_context('spawn').Pool(1) as pool:\n    print('SUM', pool.apply(work, (40,)))\n"
    )
    result = run([str(script)], old_system)
    assert "SUM 42" in result.stdout, result.stderr
