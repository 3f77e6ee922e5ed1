#!/usr/bin/env python3
"""`tf.unique` of int64 keys below 2^20: this wheel against the stock one, interleaved. One session.run a call.

python run.py --ours VENV/bin/python --stock STOCK_VENV/bin/python
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from workers import compare

_CALLS = 40

if __name__ == "__main__":
    compare(__doc__, pathlib.Path(__file__).with_name("worker.py"), {"measure": _CALLS}, "keys", f"{_CALLS} calls")
