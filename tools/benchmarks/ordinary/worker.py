"""Times training steps of the programs. Stock: through tf.compat.v1."""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["TF_USE_LEGACY_KERAS"] = "1"
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import programs

tf = programs.tf
tf.logging.set_verbosity(tf.logging.ERROR)
_FEEDS = 8


class _Program:
    """A session with its graph, and feeds made before anything is timed."""

    def __init__(self, build):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            fetches, feeds = build()
            # No values: those of one side would be copied to Python as well.
            self._fetches = fetches if isinstance(fetches, list) else [fetches]
            self._feeds = [feeds() for _ in range(_FEEDS)]
            self._session = tf.Session(
                config=tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)
            )
            self._session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        self._steps(10)

    def _steps(self, count):
        for i in range(count):
            self._session.run(self._fetches, self._feeds[i % _FEEDS])

    def milliseconds(self, seconds):
        """Of a step, in a run of about so many seconds."""
        start, steps = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            self._steps(_FEEDS)
            steps += _FEEDS
        return (time.perf_counter() - start) / steps * 1e3


def main():
    running = {}
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("stop"):
            return
        if not running:
            running.update({name: _Program(build) for name, build in programs.PROGRAMS.items()})
        answer = {name: [program.milliseconds(request["seconds"])] for name, program in running.items()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
