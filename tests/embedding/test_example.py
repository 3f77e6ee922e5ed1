"""The example of docs/embedding_variable.md."""

import os
import re
import subprocess
import sys


def test_the_example_of_the_page_runs(repository, tmp_path):
    page = (repository / "docs" / "embedding_variable.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("loss ") and float(lines[0].split()[1]) < 0.1
    assert lines[1] == "users with rows 20"
    assert re.fullmatch(r"user 0 was seen [1-9]\d* times", lines[2])
    assert all(int(key) % 1000 % 2 == 0 for key in re.findall(r"-?\d+", " ".join(lines[3:])))
