"""S9: starts s08_multi_worker.py, or another program, as several processes on this machine.

    python s09_mpiexec.py [--np 2] [PROGRAM ARGUMENTS...]

It does what `mpiexec -np 2 python s08_multi_worker.py` does, which works too, without an MPI: each process gets a TF_CONFIG with free
ports. If one ends with an error, the others are stopped.
"""

import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import time


def free_ports(n):
    """Ports at which nobody listens."""
    sockets = [socket.socket() for _ in range(n)]
    try:
        for found in sockets:
            found.bind(("localhost", 0))
        return [found.getsockname()[1] for found in sockets]
    finally:
        for found in sockets:
            found.close()


def launch(np, command):
    """Runs `command` as `np` processes; returns the first exit code that is not 0, or 0."""
    workers = [f"localhost:{port}" for port in free_ports(np)]
    processes = []
    for index in range(np):
        config = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
        processes.append(subprocess.Popen(command, env={**os.environ, "TF_CONFIG": json.dumps(config)}))
    code = 0
    while True:
        codes = [process.poll() for process in processes]
        code = code or next((c for c in codes if c), 0)
        running = [process for process, c in zip(processes, codes) if c is None]
        if not running:
            return code
        if code:
            for process in running:
                process.terminate()
        time.sleep(0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--np", type=int, default=2, help="processes")
    args, rest = parser.parse_known_args()
    if args.np < 1:
        parser.error(f"--np must be positive, got {args.np}")
    if not rest or rest[0].startswith("-"):
        rest.insert(0, str(pathlib.Path(__file__).with_name("s08_multi_worker.py")))
    return launch(args.np, [sys.executable, *rest])


if __name__ == "__main__":
    sys.exit(main())
