#!/usr/bin/env python3
"""Writes the table of left-out modules into docs/contrib.md, from tensorflow/contrib/left_out.py.

python tools/dev/contrib_page.py
"""

import ast
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "contrib.md"
_HEAD = "| module | why it is left out | used instead |\n|---|---|---|\n"


def left_out() -> dict:
    """The table MODULES, read without importing tensorflow."""
    tree = ast.parse((ROOT / "tensorflow" / "contrib" / "left_out.py").read_text())
    [value] = [n.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "MODULES"]
    return ast.literal_eval(value)


def page() -> str:
    """The page with the table of today."""
    before, _, _ = PAGE.read_text().partition(_HEAD)
    rows = "".join(f"| `{name}` | {why} | {instead} |\n" for name, (why, instead) in sorted(left_out().items()))
    return before + _HEAD + rows


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.exit(0)
