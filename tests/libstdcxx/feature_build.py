"""Builds the C++ programs of these tests with the machine's compiler."""

import os
import pathlib
import shutil
import subprocess
from typing import Sequence

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FLOOR_SCRIPTS = REPOSITORY / "third_party" / "glibc_floor"
CXX = os.environ.get("CXX", "g++")

needs_compiler = pytest.mark.skipif(
    shutil.which(CXX) is None or not FLOOR_SCRIPTS.is_dir(),
    reason=f"needs the compiler {CXX} and the source tree",
)


def run(command: Sequence, **options) -> str:
    """Standard output of a command that must succeed."""
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def compile_features(output: pathlib.Path, *flags: str) -> pathlib.Path:
    """features.cc as an object file."""
    source = pathlib.Path(__file__).parent / "features.cc"
    run([CXX, "-std=c++17", "-O2", "-fPIC", *flags, "-c", source, "-o", output])
    return output


def link_features(object_file: pathlib.Path, folder: pathlib.Path, *flags: str) -> pathlib.Path:
    """A shared library in `folder`, linked with `flags`."""
    map_file = folder / "features.map"
    map_file.write_text("{ global: run_features; throw_across; local: *; };\n")
    output = folder / "features.so"
    run(
        [
            CXX,
            "-shared",
            object_file,
            "-o",
            output,
            *flags,
            f"-Wl,--version-script={map_file}",
            "-Wl,-z,defs",
            "-pthread",
        ]
    )
    return output
