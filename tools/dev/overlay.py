#!/usr/bin/env python3
"""Makes a `tensorflow` package of symlinks, the released one with this tree's files on top, without a wheel.

For quick trials while writing Python: an edit is seen at the next import. The Python that runs this must have the
wheel of this project installed, for its dependencies. Libraries come from the installed wheel. Beside it lie the packages that
the wheel carries and adjusts, unpacked from the wheels that configure.py fetched.

    python tools/dev/overlay.py /tmp/overlay && PYTHONPATH=/tmp/overlay python my_script.py
"""

import argparse
import os
import pathlib
import re
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Folders of tensorflow/ in this tree that hold C++ and no Python.
NOT_PYTHON = {"core"}
# Packages that the wheel carries with edits: third_party/<package>/edits.py.
ADJUSTED = ("tensorflow_estimator", "tf_slim")

sys.path.insert(0, str(ROOT / "tools" / "pip_package"))
import source_edits  # noqa: E402


def link_tree(base: pathlib.Path, ours: pathlib.Path, target: pathlib.Path, top: bool = False) -> None:
    """Links base's entries into `target`, descending only where ours has something to add."""
    target.mkdir(parents=True)
    names = {p.name for p in base.iterdir()} if base.is_dir() else set()
    mine = {p.name for p in ours.iterdir() if p.is_dir() or p.suffix == ".py"} if ours.is_dir() else set()
    if top:
        mine -= NOT_PYTHON
    for name in sorted((names | mine) - {"__pycache__"}):
        if name in mine and (ours / name).is_dir():
            link_tree(base / name, ours / name, target / name)
        else:
            (target / name).symlink_to(ours / name if name in mine else base / name)


def unpack_adjusted(package: str, target: pathlib.Path) -> None:
    """Unpacks a package, with its edits, from the wheel that configure.py fetched.

    Raises:
      FileNotFoundError: configure.py has not run since the package was added.
    """
    settings = ROOT / ".deeprec_configure.bazelrc"
    found = re.search(rf"DEEPREC_{package.upper()}_WHEEL=(.*)", settings.read_text() if settings.exists() else "")
    if not found or not os.path.exists(found.group(1)):
        raise FileNotFoundError(f"there is no wheel of {package}: run {ROOT / 'configure.py'} first")
    with zipfile.ZipFile(found.group(1)) as archive:
        members = {n: archive.read(n) for n in archive.namelist() if n.startswith(package + "/")}
    members.update(source_edits.apply(source_edits.load(str(ROOT / "third_party" / package / "edits.py")), members))
    for name, data in members.items():
        if not name.endswith("/") and not source_edits.is_left_out(name):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(data)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="folder to make; must not exist")
    parser.add_argument(
        "--base",
        default=os.path.join(sysconfig.get_path("purelib"), "tensorflow"),
        help="the installed tensorflow package (default: this Python's)",
    )
    args = parser.parse_args()
    base = pathlib.Path(args.base)
    if not (base / "libtensorflow_framework.so.2").exists():
        print(f"overlay: {base} is no TensorFlow package: install the wheel, or give --base", file=sys.stderr)
        return 1
    out = pathlib.Path(args.out)
    if out.exists():
        print(f"overlay: {out} exists: remove it first", file=sys.stderr)
        return 1
    link_tree(base, ROOT / "tensorflow", out / "tensorflow", top=True)
    try:
        for package in ADJUSTED:
            unpack_adjusted(package, out)
    except (FileNotFoundError, source_edits.EditError) as e:
        print(f"overlay: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
