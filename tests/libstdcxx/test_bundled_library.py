"""The libstdc++.so.6 inside the wheel."""

import os
import re
import subprocess
import sys

import pytest

import feature_build
from feature_build import CXX, FLOOR_SCRIPTS, needs_compiler
from guard_programs import TRAIN_STEP, TRAINED


def readelf(option, path) -> str:
    return feature_build.run(["readelf", "-W", option, path], env=dict(os.environ, LC_ALL="C"))


def needed_versions(path) -> dict:
    """{"GLIBC": [(2, 2, 5), ...], ...} of the version needs section."""
    section = readelf("-V", path).split("Version needs section")[1]
    needs: dict = {}
    for family, number in re.findall(r"Name: (\w+?)_([\d.]+)", section):
        needs.setdefault(family, []).append(tuple(map(int, number.split("."))))
    return needs


@pytest.fixture(scope="session")
def bundled(guard_dir):
    return guard_dir / "libstdc++.so.6"


def test_needs_no_newer_glibc_than_2_25(bundled):
    assert max(needed_versions(bundled)["GLIBC"]) <= (2, 25)


def test_offers_glibcxx_3_4_30(bundled):
    assert "Name: GLIBCXX_3.4.30" in readelf("-V", bundled)


def test_has_the_name_that_programs_ask_for(bundled):
    assert "Library soname: [libstdc++.so.6]" in readelf("-d", bundled)


def test_offers_every_symbol_that_the_package_needs(package_dir, bundled):
    def symbols(path, wanted_undefined):
        found = set()
        for line in readelf("--dyn-syms", path).splitlines():
            if "@GLIBCXX_" not in line and "@CXXABI_" not in line:
                continue  # Hundreds of thousands of lines; the expression below is slow.
            match = re.search(r"\s(\S+)\s+([^\s@]+)@@?((?:GLIBCXX|CXXABI)_[\w.]+)", line)
            if match and (match[1] == "UND") == wanted_undefined:
                found.add((match[2], match[3]))
        return found

    offered = symbols(bundled, False)
    needed = set()
    for library in (package_dir / "libtensorflow_cc.so.2", package_dir / "libtensorflow_framework.so.2"):
        needed |= symbols(library, True)
    assert len(needed) > 200
    assert needed - offered == set()


def test_probe_needs_exactly_what_the_guard_says(guard_dir):
    namespace: dict = {"__file__": str(guard_dir / "__init__.py"), "__name__": "guard"}
    exec((guard_dir / "__init__.py").read_text(), namespace)
    section = readelf("-V", guard_dir / "libcxxprobe.so").split("Version needs section")[1]
    assert sorted(re.findall(r"Name: (\S+)", section)) == sorted(namespace["NEEDED_VERSIONS"])


def test_tensorflow_trains_on_it(run, bundled):
    result = run(["-c", TRAIN_STEP + "print(open('/proc/self/maps').read())"], {"LD_PRELOAD": str(bundled)})
    assert TRAINED in result.stdout, result.stderr
    copies = set(re.findall(r"\S*libstdc\+\+\.so\S*", result.stdout))
    assert {os.path.realpath(path) for path in copies} == {os.path.realpath(bundled)}


@needs_compiler
def test_new_features_work_on_it(tmp_path, bundled, features_object, feature_host):
    library = feature_build.link_features(features_object, tmp_path)
    output = feature_build.run([feature_host, library], env=dict(os.environ, LD_PRELOAD=str(bundled)))
    assert output == "FAILED []\nCAUGHT thrown across\n"


@needs_compiler
def test_two_builds_give_the_same_bytes(tmp_path):
    script = FLOOR_SCRIPTS.parent / "libstdcxx" / "build_libstdcxx.py"
    for name in ("first", "second"):
        feature_build.run([sys.executable, script, "--cxx", CXX, "--out", tmp_path / name])
    for name in ("libstdc++.so.6", "libcxxprobe.so"):
        first, second = ((tmp_path / folder / name).read_bytes() for folder in ("first", "second"))
        assert first == second, name


@needs_compiler
def test_compiler_without_the_library_is_refused(tmp_path):
    fake = tmp_path / "g++"
    fake.write_text(
        f'#!/bin/sh\ncase "$1" in -print-file-name=libstdc++.a) echo libstdc++.a;; *) exec {CXX} "$@";; esac\n'
    )
    fake.chmod(0o755)
    script = FLOOR_SCRIPTS.parent / "libstdcxx" / "build_libstdcxx.py"
    result = subprocess.run(
        [sys.executable, str(script), "--cxx", str(fake), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1 and "has no libstdc++.a; install" in result.stderr
    assert not (tmp_path / "out" / "libstdc++.so.6").exists()
