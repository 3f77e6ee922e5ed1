"""Shared by the modelzoo tests: a runner of the training script, small Criteo files."""

import importlib.util
import pathlib
import subprocess
import sys
from typing import List, Optional, Sequence

from script_server import ScriptServer

MODELZOO = pathlib.Path(__file__).resolve().parents[2] / "modelzoo"
SAMPLE = MODELZOO / "wide_and_deep" / "testdata" / "criteo_sample.txt"
TRAIN = MODELZOO / "wide_and_deep" / "train.py"
# A model and a data set small enough that starting TensorFlow is most of a run.
SMALL = ["--hash_buckets", "200", "--embedding_dim", "4", "--hidden_units", "16,8"]


def train_command(*flags) -> List[str]:
    return [sys.executable, str(TRAIN), *map(str, flags)]


# For scripts whose start is not what is tested.
SCRIPTS = ScriptServer()


def run_train(cwd, *flags, timeout: float = 150) -> subprocess.CompletedProcess:
    return SCRIPTS.run(train_command(*flags), cwd, timeout)


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


def changed(row: Sequence[str], names: Sequence[str] = HEADER, **values: str) -> List[str]:
    """A copy of the row with columns replaced by name; `names`: of all columns."""
    row = list(row)
    for name, value in values.items():
        row[list(names).index(name)] = value
    return row


def load_model(name: str):
    """The module model.py of a model; all have that name, so they can't be imported by it."""
    spec = importlib.util.spec_from_file_location(f"{name}_model", MODELZOO / name / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_batches(text_format, path, skip: bool = False, batch_size: int = 4):
    """All batches of a file, and the warnings or, without `skip`, the failure."""
    import tensorflow as tf  # not where only processes are started

    from common import text_file, text_reader

    warnings = []
    bad_rows = text_reader.BadRows(skip, warnings.append)
    files = text_file.inspect_all(text_format, [path])
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = text_reader.batches(text_format, text_reader.lines_dataset(files), files, batch_size, bad_rows)
        batch, result = tf.data.make_one_shot_iterator(dataset).get_next(), []
        try:
            while True:
                result.append(session.run(batch))
        except tf.errors.OutOfRangeError:
            return result, (warnings if skip else bad_rows.failure)


def check_malformed_row(text_format, path: str, reason: str) -> None:
    """Of seven rows the sixth is malformed: with `skip` it is left out and named, otherwise the data ends before its batch."""
    from common import tasks

    batches, warnings = read_batches(text_format, path, skip=True)
    assert warnings == [f"{path}:6: {reason}; row skipped"]
    sizes = [(len(tasks.first(tasks.by_task(labels))), lines.tolist()) for _, labels, lines in batches]
    assert sizes == [(4, [4]), (2, [3])]
    batches, failure = read_batches(text_format, path)
    assert failure == f"{path}:6: {reason}" and len(batches) == 1


def check_seeds(generator, folder) -> None:
    """A generated set: same seed, same bytes; another seed, other rows."""
    from common import synthetic

    sets = [
        synthetic.generate(generator, str(folder / name), 300, 200, seed)
        for name, seed in (("a", 7), ("b", 7), ("c", 8))
    ]
    first, second, other = ([pathlib.Path(path).read_bytes() for path in paths] for paths in sets)
    assert first == second and first[0] != other[0] and first[0] != first[1]


def check_vouches(text_format, delimiter: str, rows: Sequence[bytes], plain: Sequence[bool]) -> int:
    """The fast check suspects all malformed rows and no plain one; returns how many are malformed."""
    import numpy as np

    from common.row_check import RowCheck

    check, found = RowCheck(text_format, delimiter), 0
    for start in range(0, len(rows), 40):
        suspects = set(check.suspicious(np.array(rows[start : start + 40], object)))
        malformed = {i for i, row in enumerate(rows[start : start + 40]) if text_format.explain(row, delimiter)}
        found += len(malformed)
        assert malformed <= suspects
        assert not [i for i in suspects if plain[start + i]]
    return found
