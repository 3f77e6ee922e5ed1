"""Runs a train.py and takes the times of its steps: `step_times.py OUT.json WAY PATH/train.py FLAGS`.

OUT.json holds seconds and CPU seconds of each step.
"""

import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import hooked
from common import report


def _hook(tf, out: str):
    class Timing(tf.train.SessionRunHook):
        def __init__(self):
            self._times = {"seconds": [], "cpu_seconds": []}

        def before_run(self, run_context):
            self._start = time.perf_counter(), report.cpu_seconds()

        def after_run(self, run_context, run_values):
            self._times["seconds"].append(time.perf_counter() - self._start[0])
            self._times["cpu_seconds"].append(report.cpu_seconds() - self._start[1])

        def end(self, session):
            with open(out, "w", encoding="utf-8") as file:
                json.dump(self._times, file)

    return Timing()


if __name__ == "__main__":
    hooked.run_with(_hook, *sys.argv[1:3], sys.argv[3:])
