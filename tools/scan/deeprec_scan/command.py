"""The command line of tf-deeprec-scan."""

import argparse
import fnmatch
import os
import pathlib
import sys

from deeprec_scan import report
from deeprec_scan.check import LACKS, Checker, Finding, UNREADABLE

_SUFFIXES = (".py", ".ipynb")
_DESCRIPTION = """\
Reads Python files and notebooks written for TensorFlow 1.15 and prints what they use that this TensorFlow lacks or changes: file, line,
symbol, and what to do. Nothing of them is run. Looks names up in the TensorFlow of the Python that runs this command.
"""


def _sources(paths, exclude):
    """The files to read, sorted; a path that is a file is read whatever its name."""
    for path in paths:
        if os.path.isfile(path):
            yield path
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(d for d in folders if not d.startswith(".") and d != "__pycache__")
            for name in sorted(files):
                file = os.path.join(folder, name)
                relative = os.path.relpath(file, path)
                if not name.endswith(_SUFFIXES) or any(fnmatch.fnmatch(relative, pattern) for pattern in exclude):
                    continue
                # Opening a FIFO would wait for its writer. A link to nothing is reported when it is read.
                if os.path.isfile(file) or not os.path.exists(file):
                    yield file


def _shown(file: str) -> str:
    """The name of a file as text that every encoding of Unicode takes: names can have any bytes."""
    return os.fsencode(file).decode(errors="replace")


def _read(file: str) -> str:
    data = pathlib.Path(file).read_bytes()
    # Comments of old files are in any encoding; names are ASCII.
    return data.decode("utf-8-sig", errors="replace")


def main(arguments=None) -> int:
    """Runs the command; returns 0 where nothing lacks, 1 where something does, 2 for bad arguments."""
    parser = argparse.ArgumentParser(prog="tf-deeprec-scan", description=_DESCRIPTION)
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a folder, a .py file or a notebook")
    parser.add_argument("--html", metavar="FILE", help="write a page with the findings, too")
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="PATTERN", help="files to pass over, such as 'tests/*'"
    )
    args = parser.parse_args(arguments)
    for path in args.paths:
        if not os.path.exists(path):
            parser.error(f"PATH: {path} does not exist")
    if args.html and not os.path.isdir(os.path.dirname(os.path.abspath(args.html))):
        parser.error(f"--html: there is no folder {os.path.dirname(os.path.abspath(args.html))}")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    checker = Checker()
    findings, files = [], 0
    for file in _sources(args.paths, args.exclude):
        files += 1
        try:
            findings += checker.findings(_shown(file), _read(file))
        except OSError as error:
            findings.append(Finding(_shown(file), 1, UNREADABLE, "", f"cannot be read: {error.strerror}", "", False))
    if not files:
        parser.error(f"PATH: no {' or '.join(_SUFFIXES)} file in {', '.join(args.paths)}")
    sys.stdout.write(report.text(findings, files))
    if args.html:
        pathlib.Path(args.html).write_text(report.page(findings, files), encoding="utf-8")
    return int(any(finding.kind == LACKS and not finding.guarded for finding in findings))
