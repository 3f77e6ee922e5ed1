import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import horovod_runs
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

from sparse_operation_kit import peers

horovod = pytest.importorskip("horovod", reason="needs Horovod: tf-deeprec-horovod --install")
from horovod.runner.http import http_server

_CHECKS = str(pathlib.Path(__file__).with_name("ranks_new_api.py"))
_FAILURES = str(pathlib.Path(__file__).with_name("failing_ranks.py"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("dumps")


@pytest.mark.parametrize("ranks, root", [(2, "1"), (2, "2"), (4, "1")])
def test_every_rank_passes_its_checks(folder, ranks, root):
    arguments = ["-m", "pytest", "-q", "-x", "--tb=short", _CHECKS]
    if ranks == 4:
        # On two processors: what depends on how many there are.
        arguments += ["-k", "dumps or collectives or holds or function-distributed or session-hbm or no_keys"]
    horovod_runs.check(ranks, arguments, cwd=folder, TF_DEEPREC_ROOT=root, SOK_TEST_FOLDER=str(folder))


def test_one_process_loads_what_four_have_dumped(sok, folder):
    if not (folder / "4").exists():
        pytest.skip("the run of four processes makes the files")
    with context.eager_mode():
        table = sok.DynamicVariable(2, name="dynamic")
        sok.load(str(folder / "4"), table)
        keys, rows = sok.export(table)
    np.testing.assert_array_equal(keys, np.arange(23))
    np.testing.assert_array_equal(rows, np.arange(46.0).reshape(23, 2))
    assert rows.dtype == tf.float32


def _fail(tmp_path, *arguments, **settings):
    done = horovod_runs.run(2, [_FAILURES, *arguments], cwd=tmp_path, **settings)
    assert done.returncode != 0 and "not stopped" not in done.stdout
    return done.stdout


def test_a_rank_that_dies_is_named_by_the_launcher(tmp_path):
    printed = _fail(tmp_path, "eager", "7", TF_DEEPREC_ROOT="2")
    assert "Process name: 1" in printed and "Exit code: 7" in printed


@pytest.mark.parametrize("mode, root", [("eager", "2"), ("session", "1")])
def test_a_rank_that_ends_is_named_in_the_error_of_the_others(tmp_path, mode, root):
    # With an exit code of 0, as the launcher stops the others at once after another.
    printed = _fail(tmp_path, mode, "0", TF_DEEPREC_ROOT=root)
    expected = r"rank 0 stopped in step 3: UnknownError: .*Rank 1 ended, so that rank 0 stops in \S*Alltoall"
    assert re.search(expected, printed), printed[-4000:]


@pytest.mark.skipif("deeprec" not in horovod.__version__, reason="needs a newer tf-deeprec-horovod --install")
def test_ranks_in_different_calls_stop_and_say_which(tmp_path):
    settings = {"HOROVOD_STALL_CHECK_TIME_SECONDS": "2", "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS": "4"}
    printed = _fail(tmp_path, "function", "order", TF_DEEPREC_ROOT="2", **settings)
    # Far below the first line, which is of the op.
    assert re.search(r"Rank 0 was in first/\S+ Rank 1 was in second/\S+", printed), printed[-4000:]
    assert "must make the same calls in the same order; they wait for one another for 4 seconds" in printed


def test_ranks_are_asked_where_they_are(tmp_path):
    # Two that answer, and one on another machine that does not.
    server = http_server.KVStoreServer(verbose=False)
    port = server.start_server()
    try:
        here, elsewhere = [peers._machine(), str(os.getpid()), peers._start_of(os.getpid())], ["other", "1", "1"]
        ranks = [peers.Peers(rank, [here, here, elsewhere], f"localhost:{port}") for rank in range(2)]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            told = list(pool.map(lambda peer, where: peer.explanation(where), ranks, ["a", "b"]))
    finally:
        server.shutdown_server()
    for text in told:
        assert text.startswith(
            "Rank 2 took no part: ended, or busy with something else. Rank 0 was in a. Rank 1 was in b."
        )


def test_processes_that_are_gone_are_seen(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    here = peers._machine()
    processes = [[here, str(pid), peers._start_of(pid)] for pid in (os.getpid(), child.pid)]
    found = peers.Peers(0, processes)
    assert found.ended() == []
    child.communicate(b"\n")
    assert found.ended() == [1]
    # Another process that has got its number.
    assert peers.Peers(0, [processes[0], [here, str(os.getpid()), "0"]]).ended() == [1]
