"""Generated sets on disk: training and evaluation rows of a format whose labels come from a planted model, made once and found again.

Everything follows from the seed: chunk i of a part is drawn from the stream (seed, part, i), so the same rows come out
whatever was drawn before.
"""

import contextlib
import json
import os
from typing import Callable, Dict, NamedTuple, Protocol, Sequence, Tuple, Union

import numpy as np

_CHUNK = 20_000
_MODEL, _TRAIN, _EVAL = range(3)


class Planted(Protocol):
    """The drawn truth of one seed."""

    def text(self, rng: np.random.Generator, rows: int) -> Union[bytes, Tuple[bytes, ...]]:
        """That many rows of the format, each ended by LF; of each of its files, if there are several."""


class Generator(NamedTuple):
    """Of sets of one format.

    Attributes:
      name: of the format.
      version: to be raised when the rows of a seed change, so that cached files are made again.
      header: the first line of each file; "": none.
      planted: (rng of the truth) -> Planted.
      suffixes: of the names of the files that hold the columns of a row.
      vocabularies: Planted -> file name -> entries, written one a line.
    """

    name: str
    version: int
    header: str
    planted: Callable[[np.random.Generator], Planted]
    suffixes: Tuple[str, ...] = ("",)
    vocabularies: Callable[[Planted], Dict[str, Sequence[str]]] = lambda planted: {}


class Files(NamedTuple):
    train: str
    eval: str


def truth(generator: Generator, seed: int) -> Planted:
    """The planted model of the sets of this seed."""
    return generator.planted(np.random.default_rng([seed, _MODEL]))


def generate(
    generator: Generator,
    directory: str,
    rows: int,
    eval_rows: int,
    seed: int,
    progress: Callable[[int], None] = lambda rows: None,
) -> Files:
    """Writes `train.csv` and `eval.csv`, and the files beside them, into `directory`, or finds them there.

    Args:
      directory: made if missing; one directory holds one set. A set of other parameters is replaced.
      rows, eval_rows: rows of the two files, drawn independently from one planted model.
      seed: non-negative; the same seed and rows give the same bytes.
      progress: called with the number of rows just written.
    """
    result = _files(directory)
    if is_cached(generator, directory, rows, eval_rows, seed):
        return result
    os.makedirs(directory, exist_ok=True)
    manifest_path = _manifest_path(directory)
    if os.path.exists(manifest_path):
        os.remove(manifest_path)
    planted = truth(generator, seed)
    for name, entries in generator.vocabularies(planted).items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.writelines(f"{entry}\n" for entry in entries)
    for path, part, count in ((result.train, _TRAIN, rows), (result.eval, _EVAL, eval_rows)):
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(open(path + suffix, "wb")) for suffix in generator.suffixes]
            if generator.header:
                files[0].write(f"{generator.header}\n".encode())
            for chunk, start in enumerate(range(0, count, _CHUNK)):
                size = min(_CHUNK, count - start)
                texts = planted.text(np.random.default_rng([seed, part, chunk]), size)
                for file, text in zip(files, texts if isinstance(texts, tuple) else (texts,)):
                    file.write(text)
                progress(size)
    # Written last: without it the files count as unfinished.
    with open(manifest_path, "w", encoding="utf-8") as file:
        json.dump(_manifest(generator, result, rows, eval_rows, seed), file)
    return result


def is_cached(generator: Generator, directory: str, rows: int, eval_rows: int, seed: int) -> bool:
    """Whether `generate` with these arguments would only find the files."""
    try:
        with open(_manifest_path(directory), encoding="utf-8") as file:
            return json.load(file) == _manifest(generator, _files(directory), rows, eval_rows, seed)
    except (OSError, ValueError):
        return False


def _files(directory: str) -> Files:
    return Files(os.path.join(directory, "train.csv"), os.path.join(directory, "eval.csv"))


def _manifest_path(directory: str) -> str:
    return os.path.join(directory, "manifest.json")


def _manifest(generator: Generator, files: Files, rows: int, eval_rows: int, seed: int) -> dict:
    return {
        "format": generator.name,
        "version": generator.version,
        "seed": seed,
        "rows": rows,
        "eval_rows": eval_rows,
        "bytes": [os.path.getsize(path + suffix) for path in files for suffix in generator.suffixes],
    }
