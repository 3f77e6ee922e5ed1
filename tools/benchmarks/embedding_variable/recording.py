#!/usr/bin/env python3
"""What it costs a step to record the keys that it trains, as incremental checkpoints want.

    VENV/bin/python recording.py --keys 1000000

Lookup + Adam of 13,312 ids by Zipf's law, rows of 16 floats. Three tables take turns (A B C A B C ...): one that does not record,
one more such, for the noise, and one that does.
"""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.deeprec import library
from worker import Bench

_CALLS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    benches = {name: Bench("ours", args.keys, 16, 13312, "adam", args.threads) for name in ("off", "off, again", "on")}
    recording = benches["on"].session
    with recording.graph.as_default():
        (table,) = [v for v in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES) if v.primary is None]
        recording.run(library.ops().kv_resource_record(table.handle))
    times = {name: [] for name in benches}
    for bench in benches.values():
        bench.measure(10 * _CALLS)
    for _ in range(args.repeats):
        for name, bench in benches.items():
            times[name] += bench.measure(_CALLS)
    print(f"{args.keys:,} keys, {args.threads} threads\n\n| recording | median us | 90 % us |\n|---|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {1e6 * np.median(seconds):,.0f} | {1e6 * np.percentile(seconds, 90):,.0f} |")


if __name__ == "__main__":
    main()
