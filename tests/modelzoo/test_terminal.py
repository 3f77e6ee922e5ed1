"""On a terminal there is a progress bar; `test_train.py` looks at the plain log."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

from modelzoo_helpers import MODELZOO, SAMPLE, SMALL, train_command


def run_on_terminal(command, cwd, columns) -> "tuple[int, str]":
    """Exit code and everything written, with stdout and stderr on one pseudo-terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(command, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    output = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the kernel's end of file of a terminal
            break
        if not piece:
            break
        output += piece
    os.close(ours)
    return process.wait(), output.decode()


def test_terminal_gets_a_bar_with_the_rate_and_the_table(tmp_path):
    code, output = run_on_terminal(
        train_command(
            *SMALL, "--data", SAMPLE, "--output_dir", "out", "--batch_size", 8, "--epochs", 4, "--log_steps", 10
        ),
        tmp_path,
        columns=140,
    )
    assert code == 0, output
    assert re.search(r"\rtrained: 100%\|.*\| 720/720 \[.*examples/s", output)
    assert re.search(r"step 90, loss \d\.\d{4}, held-out AUC", output)
    assert not re.search(r"trained 720 of 720 examples", output)
    assert re.search(r"^eval +\d\.\d{4} +\d\.\d{4} +20 ", output, re.MULTILINE)


def test_terminal_without_a_width_still_gets_a_bar(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from common.progress import Progress\n"
        "with Progress('read', 50) as progress:\n"
        "    for _ in range(5): progress.advance(10)"
    )
    code, output = run_on_terminal([sys.executable, "-c", code, str(MODELZOO)], tmp_path, columns=0)
    assert code == 0 and re.search(r"\rread: 100%\|.*\| 50.0/50.0 \[", output), output
