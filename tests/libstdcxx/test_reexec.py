"""TF_DEEPREC_REEXEC=1: the program starts anew when an old libstdc++ came first."""

import pytest

from guard_programs import EARLY_IMPORT, SHOW_COPIES, TRAIN_STEP, TRAINED

LATE_IMPORT = "import sys, os\nprint('START', flush=True)\n" + EARLY_IMPORT + TRAIN_STEP
SHOW_ARGUMENTS = "print('ARGV', sys.argv, sys.flags.optimize, sys.warnoptions)\n"


@pytest.fixture
def reexec_system(old_system):
    return dict(old_system, TF_DEEPREC_REEXEC="1")


def assert_restarted_once(result):
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("START") == 2
    assert TRAINED in result.stdout


def assert_refused(result, reason: str):
    assert result.returncode == 1
    assert result.stdout.count("START") == 1
    last_line = result.stderr.strip().splitlines()[-1]
    assert last_line.startswith("ImportError: ")
    assert "can't be started anew" in last_line and reason in last_line
    assert "LD_PRELOAD=" in last_line


def test_script_keeps_its_arguments_and_flags(run, reexec_system, tmp_path):
    (tmp_path / "train.py").write_text(LATE_IMPORT + SHOW_ARGUMENTS)
    arguments = ["-O", "-W", "ignore::UserWarning", "train.py", "--rate", "0.1", "a b", ""]
    result = run(arguments, reexec_system)
    assert_restarted_once(result)
    assert "ARGV ['train.py', '--rate', '0.1', 'a b', ''] 1 ['ignore::UserWarning']" in result.stdout


def test_command_is_kept(run, reexec_system):
    result = run(["-c", LATE_IMPORT + SHOW_ARGUMENTS, "x", "-y"], reexec_system)
    assert_restarted_once(result)
    assert "ARGV ['-c', 'x', '-y'] 0 []" in result.stdout


def test_module_is_kept(run, reexec_system, tmp_path):
    package = tmp_path / "trainer"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "main.py").write_text(LATE_IMPORT + "print('MODULE', __spec__.name, sys.argv[1:])\n")
    result = run(["-m", "trainer.main", "--epochs=2"], reexec_system)
    assert_restarted_once(result)
    assert "MODULE trainer.main ['--epochs=2']" in result.stdout


def test_folder_with_main_is_kept(run, reexec_system, tmp_path):
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "__main__.py").write_text(LATE_IMPORT)
    assert_restarted_once(run(["program"], reexec_system))


def test_bundled_is_the_only_copy_afterwards(run, reexec_system, guard_dir):
    result = run(["-c", LATE_IMPORT + SHOW_COPIES], reexec_system)
    lines = [line for line in result.stdout.splitlines() if line.startswith("MAPPED")]
    assert len(lines) == 1 and lines[0].endswith("libstdcxx_guard/libstdc++.so.6")


def test_earlier_preload_is_kept(run, reexec_system):
    code = LATE_IMPORT + "print('PRELOAD', os.environ['LD_PRELOAD'])\n"
    result = run(["-c", code], dict(reexec_system, LD_PRELOAD="libm.so.6"))
    assert_restarted_once(result)
    assert result.stdout.rstrip().endswith("libstdcxx_guard/libstdc++.so.6:libm.so.6")


def test_describe_tells_how_it_was_chosen(run, reexec_system):
    code = LATE_IMPORT + "from tensorflow.libstdcxx_guard import describe; d = describe(); print(d)\n"
    result = run(["-c", code], reexec_system)
    assert "'origin': 'bundled', 'chosen_by': 'LD_PRELOAD or LD_LIBRARY_PATH'" in result.stdout


def test_never_a_second_time(run, reexec_system):
    # The process looks as after a restart whose LD_PRELOAD the loader ignored.
    marked = "import os\nos.environ['TF_DEEPREC_REEXEC_PID'] = str(os.getpid())\n" + LATE_IMPORT
    assert_refused(run(["-c", marked], reexec_system), "it was already")


def test_value_zero_means_off(run, reexec_system):
    result = run(["-c", LATE_IMPORT], dict(reexec_system, TF_DEEPREC_REEXEC="0"))
    assert result.returncode == 1
    assert "can't be started anew" not in result.stderr and "TF_DEEPREC_REEXEC=1" in result.stderr


def test_program_from_standard_input_is_refused(run, reexec_system):
    assert_refused(run([], reexec_system, stdin=LATE_IMPORT), "standard input")
    assert_refused(run(["-"], reexec_system, stdin=LATE_IMPORT), "standard input")


def test_interactive_session_is_refused(run, reexec_system):
    session = "import sys; sys.ps1 = '>>> '\n" + LATE_IMPORT
    assert_refused(run(["-c", session], reexec_system), "interactive session")


def test_running_threads_are_refused(run, reexec_system):
    threaded = (
        "import threading\nt = threading.Thread(target=threading.Event().wait, args=(60,), daemon=True)\n"
        "t.start()\n" + LATE_IMPORT
    )
    assert_refused(run(["-c", threaded], reexec_system), "other threads are running")


def test_changed_working_directory_is_refused(run, reexec_system, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "train.py").write_text("import os\nos.chdir('elsewhere')\n" + LATE_IMPORT)
    assert_refused(run(["train.py"], reexec_system), "working directory was changed")


def test_embedded_interpreter_is_refused(run, reexec_system):
    embedded = "import sys\nsys.executable = '/bin/true'\n" + LATE_IMPORT
    assert_refused(run(["-c", embedded], reexec_system), "embedded in another program")
    nameless = "import sys\nsys.executable = ''\n" + LATE_IMPORT
    assert_refused(run(["-c", nameless], reexec_system), "embedded in another program")


def test_multiprocessing_worker_is_refused(run, reexec_system, tmp_path):
    (tmp_path / "workers.py").write_text(
        "import multiprocessing as mp\n"
        "def work():\n"
        f"  {EARLY_IMPORT}"
        "  try:\n    import tensorflow\n  except ImportError as error:\n    print('WORKER', error, flush=True)\n"
        "if __name__ == '__main__':\n"
        "  p = mp.get_context('spawn').Process(target=work)\n"
        "  p.start()\n  p.join(120)\n  print('CODE', p.exitcode)\n"
    )
    result = run(["workers.py"], reexec_system)
    assert "worker process of multiprocessing" in result.stdout and "CODE 0" in result.stdout, result.stderr
