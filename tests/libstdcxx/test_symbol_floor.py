"""Our libraries need no newer glibc or libstdc++ than the released ones in the same package."""

import os
import pathlib
import subprocess
import sys

import pytest

import feature_build
from feature_build import FLOOR_SCRIPTS, needs_compiler


def check(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, str(FLOOR_SCRIPTS / "check_symbol_floor.py"), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def released_libraries(package_dir) -> list:
    return [package_dir / "libtensorflow_cc.so.2", package_dir / "libtensorflow_framework.so.2"]


def test_our_library_needs_no_more_than_the_released_ones(package_dir, released_libraries):
    library = package_dir / "deeprec" / "libdeeprec.so"
    result = check(library, "--reference", *released_libraries)
    assert result.returncode == 0, result.stdout + result.stderr


def test_limits_are_those_of_the_released_libraries(package_dir, guard_dir):
    sys.path.insert(0, str(FLOOR_SCRIPTS))
    try:
        import check_symbol_floor
        import floor
    finally:
        sys.path.pop(0)
    ours = [package_dir / "deeprec", guard_dir]
    released = [
        pathlib.Path(folder) / name
        for folder, _, names in os.walk(package_dir, followlinks=True)
        for name in names
        if ".so" in name and pathlib.Path(folder) not in ours
    ]
    assert len(released) > 20
    limits = check_symbol_floor.limits_of([str(path) for path in released])
    assert {family: limits[family] for family in ("GLIBC", "GLIBCXX", "CXXABI")} == {
        family: floor.RELEASED_WHEEL[family] for family in ("GLIBC", "GLIBCXX", "CXXABI")
    }


@needs_compiler
def test_ordinary_link_is_reported_with_symbol_version_and_library(tmp_path, features_object):
    library = feature_build.link_features(features_object, tmp_path)
    result = check(library)
    assert result.returncode == 1
    assert f"{library}: needs GLIBCXX_3.4.30 of libstdc++.so.6, limit GLIBCXX_3.4.22: " in result.stdout
    assert "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE" in result.stdout


def test_unreadable_file_is_reported(tmp_path):
    (tmp_path / "text.so").write_text("no library")
    result = check(tmp_path / "text.so")
    assert result.returncode == 2 and "text.so" in result.stderr
    result = check(tmp_path / "missing.so")
    assert result.returncode == 2 and "missing.so" in result.stderr
