#!/usr/bin/env python3
"""Writes the pinned dependencies of the self-contained wheel, one requirements file a Python version.

Asks pip which releases satisfy the wheel's requirements (tools/pip_package/metadata.py) today. Run it to take in
newer releases; a build uses the files as they are.

    python third_party/python_deps/update_pins.py
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools" / "pip_package"))
import metadata

# astunparse asks for wheel, which only its setup uses.
NOT_NEEDED = {"wheel"}


def resolve(version: str) -> list:
    requirements = [
        r.split(";")[0] for r in metadata.REQUIREMENTS if ";" not in r or _applies(r.split(";")[1], version)
    ]
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        platforms = [f"--platform=manylinux_2_{n}_x86_64" for n in (27, 24, 17)] + ["--platform=manylinux2014_x86_64"]
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--dry-run",
                "--ignore-installed",
                "--only-binary=:all:",
                "--target",
                folder,
                "--python-version",
                version,
                *platforms,
                "--report",
                str(report),
                *requirements,
            ],
            check=True,
        )
        return json.loads(report.read_text())["install"]


def _applies(marker: str, version: str) -> bool:
    operator, bound = marker.split()[1:]
    minor, limit = int(version.split(".")[1]), int(bound.strip('"').split(".")[1])
    return minor < limit if operator == "<" else minor >= limit


def main() -> None:
    for minor in (10, 11, 12, 13):
        lines = [f"# Written by update_pins.py: what the self-contained wheel for CPython 3.{minor} carries."]
        for item in sorted(resolve(f"3.{minor}"), key=lambda i: i["metadata"]["name"].lower()):
            name = item["metadata"]["name"]
            if name in NOT_NEEDED:
                continue
            digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
            lines.append(f"{name}=={item['metadata']['version']} \\\n    --hash=sha256:{digest}")
        (HERE / f"requirements-cp3{minor}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
