#!/usr/bin/env python3
"""How long steps take while a checkpoint of the table is written, against steps alone.

    VENV/bin/python beside_save.py --keys 4000000

Lookup + Adam of 13,312 ids by Zipf's law, rows of 16 floats, one `session.run` a step; the save runs in a thread of its own.
"""

import argparse
import pathlib
import shutil
import tempfile
import threading
import time

import numpy as np
import tensorflow.compat.v1 as tf
from worker import Bench


def steps(bench, ended):
    """Milliseconds of steps until `ended(number of them)`."""
    times = []
    while not ended(len(times)):
        times += bench.measure(1)
    return 1e3 * np.array(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=4_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path, help="where the checkpoint is written; default: a temporary one")
    args = parser.parse_args()
    bench = Bench("ours", args.keys, 16, 13312, "adam", args.threads)
    saver = tf.train.Saver()
    folder = tempfile.mkdtemp(dir=args.folder)
    saved = []

    def save():
        start = time.perf_counter()
        saver.save(bench.session, f"{folder}/model", write_meta_graph=False)
        saved.append(time.perf_counter() - start)

    try:
        alone = steps(bench, lambda number: number >= 1000)
        thread = threading.Thread(target=save)
        thread.start()
        beside = steps(bench, lambda _: not thread.is_alive())
        thread.join()
    finally:
        shutil.rmtree(folder)
    print(
        f"{args.keys:,} keys, saved in {saved[0]:.1f} s\n\n| steps | number | median ms | p99 ms | longest ms |\n|---|---|---|---|---|"
    )
    for name, times in (("alone", alone), ("beside the save", beside)):
        print(
            f"| {name} | {len(times):,} | {np.median(times):.2f} | {np.percentile(times, 99):.2f} | {times.max():.2f} |"
        )


if __name__ == "__main__":
    main()
