#!/usr/bin/env python3
"""Reading columns into tensors: Parquet on this wheel, CSV and TFRecord on the stock one, and plain pyarrow, interleaved.

python run.py --ours VENV/bin/python --stock STOCK_VENV/bin/python [--data FOLDER]

The data is made first (some minutes), in FOLDER, where it is found again. `wide`: 200 int64 columns of values below 100, as in
HybridBackend's table; `criteo`: a label, 13 floats, 26 strings of 8 characters, Zipf(1.05).
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from interleave import interleaved
from workers import Worker, cpu_name

_HERE = pathlib.Path(__file__).resolve().parent
# What reads, its form, and ARROW_NUM_THREADS (None: not set).
_FORMS = {
    "CSV, stock, CsvDataset": ("stock", "csv_dataset", None),
    "CSV, stock, decode_csv of whole batches": ("stock", "csv", None),
    "TFRecord + parse_example, stock": ("stock", "tfrecord", None),
    "Parquet, plain pyarrow iter_batches": ("ours", "pyarrow", None),
    "Parquet, plain pyarrow, 1 thread": ("ours", "pyarrow", 0),
    "Parquet, ParquetDataset": ("ours", "parquet", None),
    "Parquet, ParquetDataset, ARROW_NUM_THREADS=0": ("ours", "parquet", 0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="a Python with this wheel and pyarrow")
    parser.add_argument("--stock", required=True, help="a Python with tensorflow-cpu 2.21.0")
    parser.add_argument("--data", type=pathlib.Path, help="folder for the data; a temporary one by default")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument(
        "--parquet_only", action="store_true", help="without the other formats, which take most of the time"
    )
    parser.add_argument("--case", choices=("wide", "criteo"), action="append", help="both by default")
    args = parser.parse_args()
    if args.repeats < 1:
        parser.error("--repeats must be positive")
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.data or pathlib.Path(temporary)
        cases = args.case or ["wide", "criteo"]
        subprocess.run(
            [os.path.abspath(args.ours), _HERE / "make_data.py", folder.resolve(), *cases], check=True, cwd="/"
        )
        print(f"{cpu_name()}, 2 threads; median of {args.repeats} interleaved turns.\n")
        for case in cases:
            measure(args, folder.resolve(), case)


def measure(args, folder: pathlib.Path, case: str) -> None:
    pythons = {"ours": args.ours, "stock": args.stock}
    forms = {name: form for name, form in _FORMS.items() if form[0] == "ours" or not args.parquet_only}
    workers = {name: Worker(pythons[form[0]], _HERE / "worker.py") for name, form in forms.items()}
    requests = {
        name: {"folder": str(folder), "case": case, "form": form, "threads": threads}
        for name, (_, form, threads) in forms.items()
    }
    results = interleaved({name: lambda name=name: workers[name].ask(requests[name]) for name in workers}, args.repeats)
    for worker in workers.values():
        worker.stop()
    medians = {name: statistics.median(values["ms"]) for name, values in results.items()}
    print(
        f"\n| {case} | ms a batch | MB in the file | times CsvDataset | times decode_csv | % of plain pyarrow |\n"
        "|---|---|---|---|---|---|"
    )
    for name, (_, form, threads) in forms.items():
        text = [medians.get(f"CSV, stock, {kind}") for kind in ("CsvDataset", "decode_csv of whole batches")]
        plain = medians[f"Parquet, plain pyarrow{' iter_batches' if threads is None else ', 1 thread'}"]
        cells = [
            f"{medians[name]:.1f}",
            f"{results[name]['mb'][0]:.0f}",
            *(f"{other / medians[name]:.1f}" if other else "" for other in text),
            f"{100 * plain / medians[name]:.0f}" if form == "parquet" else "",
        ]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
