#!/usr/bin/env python3
"""Recurrent loops, gradients of slices and of sparse lookups: this wheel and the stock one, interleaved.

python run.py --ours VENV/bin/python --stock STOCK_VENV/bin/python, of which the second also has tf_keras
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from workers import compare

_WORKER = pathlib.Path(__file__).with_name("worker.py")
_CALLS = 3


if __name__ == "__main__":
    compare(__doc__, _WORKER, {"measure": _CALLS}, "case", f"{_CALLS} calls of session.run")
