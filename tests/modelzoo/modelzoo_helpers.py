"""Shared by the modelzoo tests: a runner of the training script, small Criteo files."""

import pathlib
import subprocess
import sys
from typing import List, Optional, Sequence

MODELZOO = pathlib.Path(__file__).resolve().parents[2] / "modelzoo"
SAMPLE = MODELZOO / "wide_and_deep" / "testdata" / "criteo_sample.txt"
TRAIN = MODELZOO / "wide_and_deep" / "train.py"
# A model and a data set small enough that starting TensorFlow is most of a run.
SMALL = ["--hash_buckets", "200", "--embedding_dim", "4", "--hidden_units", "16,8"]


def train_command(*flags) -> List[str]:
    return [sys.executable, str(TRAIN), *map(str, flags)]


def run_train(cwd, *flags, timeout: float = 150) -> subprocess.CompletedProcess:
    return subprocess.run(train_command(*flags), cwd=cwd, text=True, capture_output=True, timeout=timeout)


HEADER = ["label"] + [f"I{i}" for i in range(1, 14)] + [f"C{i}" for i in range(1, 27)]


def write_rows(
    path,
    rows: Sequence[Sequence[str]],
    delimiter: str = ",",
    header: Optional[Sequence[str]] = None,
    newline: str = "\n",
    final_newline: bool = True,
) -> str:
    lines = [delimiter.join(row) for row in ([header] if header else []) + list(rows)]
    text = newline.join(lines) + (newline if final_newline else "")
    path.write_bytes(text.encode())
    return str(path)


def changed(row: Sequence[str], **values: str) -> List[str]:
    """A copy of the row with columns replaced by name."""
    row = list(row)
    for name, value in values.items():
        row[HEADER.index(name)] = value
    return row
