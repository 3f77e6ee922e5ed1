"""Reads the lists of TensorFlow 1.15.5's names that lie in `data`.

symbols.tsv         public symbols without contrib, estimator and compat.v1/v2: name, kind, arguments ("=": has a default)
members.tsv         classes that have the same public members, and these members
compat_symbols.tsv  what compat.v2 had beside names of the root
modules.tsv         importable modules outside of contrib that TensorFlow 2.21 has not
private_names.tsv   names in private modules that 2.21 has not there, and how many of 146 public repositories use them
keras_names.tsv     modules below tensorflow.python.keras and all their public names, also those they imported
known_gaps.tsv      names, and signatures of symbols, that are not provided, with the reason
"""

import csv
import importlib
import pathlib

_DATA = pathlib.Path(__file__).parent / "data"


def table(name: str) -> list[dict]:
    with open(_DATA / f"{name}.tsv", newline="") as source:
        return list(csv.DictReader(source, delimiter="\t"))


def known_gaps() -> dict[str, str]:
    return {row["path"]: row["reason"] for row in table("known_gaps")}


def find(path: str, root=None):
    """The object at a dotted path: attributes of `root`, or, without one, of the longest part that is a module."""
    parts = path.split(".")
    start, first = 0, None
    if root is None:
        for start in range(len(parts), 0, -1):
            try:
                root = importlib.import_module(".".join(parts[:start]))
                break
            except ModuleNotFoundError as error:
                first = first or error
        else:
            raise first
    for part in parts[start:]:
        root = getattr(root, part)
    return root
