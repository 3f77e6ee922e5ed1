#!/usr/bin/env python3
"""Training steps of ordinary TensorFlow 1 programs: this wheel and the stock one with their defaults, interleaved.

python run.py --ours VENV/bin/python --stock STOCK_VENV/bin/python, of which the second also has tf_keras
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from workers import compare

_WORKER = pathlib.Path(__file__).with_name("worker.py")
_SECONDS = 0.2


if __name__ == "__main__":
    compare(__doc__, _WORKER, {"seconds": _SECONDS}, "program", f"{_SECONDS:g} s each")
