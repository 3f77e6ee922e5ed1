"""A WorkQueue that the workers of a cluster share."""

import collections
import contextlib
import pathlib
import signal
import socket
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).with_name("program.py")
FILES, ROWS = 12, 10


def unused_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in sockets]


def test_workers_share_a_queue_and_one_that_was_killed_gets_its_file_back(tmp_path):
    for i in range(FILES):
        (tmp_path / f"f{i:02}").write_text("".join(f"f{i:02}r{j}\n" for j in range(ROWS)))
    hosts = ",".join(f"localhost:{port}" for port in unused_ports(3))

    def start(role, index, kill_at=0):
        command = [sys.executable, str(PROGRAM), role, str(tmp_path), str(kill_at), hosts, str(index)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)

    ps = start("ps", 0)
    workers = []
    try:
        workers = [start("worker", 0), start("worker", 1, kill_at=ROWS + 3)]
        killed, killed_error = workers[1].communicate(timeout=120)
        assert workers[1].returncode == -signal.SIGKILL, killed_error
        workers[1] = start("worker", 1)
        ends = [worker.communicate(timeout=120) for worker in workers]
        assert [worker.returncode for worker in workers] == [0, 0], ends
    finally:
        for process in [ps, *workers]:
            process.kill()
            process.communicate()
    lost, chief, back = (text.split() for text in (killed, ends[0][0], ends[1][0]))
    counts = collections.Counter(lost + chief + back)
    assert set(counts) == {f"f{i:02}r{j}" for i in range(FILES) for j in range(ROWS)}
    # The killed worker had finished its first file, and was at row 3 of the second.
    twice = [row for row, count in counts.items() if count > 1]
    assert sorted(twice) == sorted(lost[ROWS:]) and back[:3] == lost[ROWS:]
