#!/usr/bin/env python3
"""Time of `import tensorflow`: this wheel against the released one, interleaved.

    python tools/benchmarks/import_time.py --ours .build/test/bin/python --stock .build/stock/bin/python

Both Pythons should have the same NumPy. Reports the wall and the CPU time of a process that does nothing else.
"""

import argparse
import os
import resource
import subprocess
import time

from interleave import interleaved, markdown


def measure(python: str) -> dict:
    env = {k: v for k, v in os.environ.items() if not k.startswith("TF_")}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [os.path.abspath(python), "-c", "import tensorflow"], check=True, stderr=subprocess.DEVNULL, env=env, cwd="/"
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall": wall, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="Python with this wheel")
    parser.add_argument("--stock", required=True, help="Python with the released tensorflow-cpu")
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    results = interleaved(
        {"released": lambda: measure(args.stock), "this wheel": lambda: measure(args.ours)}, args.rounds
    )
    print(markdown(results, "released", {"wall": "s", "cpu": "s"}))


if __name__ == "__main__":
    main()
