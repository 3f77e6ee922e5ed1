"""Linking against the stubs keeps a library within the limits, and it works."""

import shutil
import subprocess
import sys

import pytest

import feature_build
from feature_build import CXX, FLOOR_SCRIPTS, needs_compiler

pytestmark = needs_compiler


def make_stubs(folder):
    feature_build.run([sys.executable, FLOOR_SCRIPTS / "make_stub_libs.py", "--cxx", CXX, "--out", folder])
    return folder


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    return make_stubs(tmp_path_factory.mktemp("stubs"))


def check_floor(library) -> None:
    feature_build.run([sys.executable, FLOOR_SCRIPTS / "check_symbol_floor.py", library])


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
def test_new_features_work_within_the_limits(tmp_path, stubs, features_object, feature_host, linker):
    if shutil.which(f"ld.{linker}") is None:
        pytest.skip(f"ld.{linker} is not installed")
    library = feature_build.link_features(features_object, tmp_path, f"-L{stubs}", f"-fuse-ld={linker}")
    check_floor(library)
    assert feature_build.run([feature_host, library]) == "FAILED []\nCAUGHT thrown across\n"


@pytest.mark.parametrize("flags", [["-O0", "-g"], ["-D_GLIBCXX_ASSERTIONS", "-flto=auto"]])
def test_other_build_modes_stay_within_the_limits(tmp_path, stubs, feature_host, flags):
    object_file = feature_build.compile_features(tmp_path / "features.o", *flags)
    library = feature_build.link_features(object_file, tmp_path, f"-L{stubs}", *flags)
    check_floor(library)
    assert feature_build.run([feature_host, library]).startswith("FAILED []\n")


def test_every_replacement_links_by_itself(tmp_path, stubs):
    # Whatever a later source draws from the archives, nothing that it needs may be missing.
    archives = [stubs / "libstdcxx_nonshared.a", stubs / "libfloor_shims.a"]
    library = tmp_path / "all.so"
    feature_build.run(
        [
            CXX,
            "-shared",
            "-o",
            library,
            f"-L{stubs}",
            "-Wl,--whole-archive",
            *archives,
            "-Wl,--no-whole-archive",
            "-Wl,-z,defs",
        ]
    )
    check_floor(library)


def test_shims_are_not_exported(tmp_path, stubs):
    # Without a version script: hidden by themselves, no second stat() in the process.
    source = tmp_path / "uses.cc"
    source.write_text(
        "#include <sys/stat.h>\n#include <fcntl.h>\n#include <stdlib.h>\n"
        'extern "C" unsigned uses(struct stat* s) { return stat("/", s) + fcntl(0, F_GETFD) + arc4random(); }\n'
    )
    library = tmp_path / "uses.so"
    feature_build.run([CXX, "-fPIC", "-shared", source, "-o", library, f"-L{stubs}", "-Wl,-z,defs"])
    check_floor(library)
    assert feature_build.run(["nm", "-D", "--defined-only", "--format=just-symbols", library]).split() == ["uses"]


def test_unsupported_new_symbol_fails_the_link(tmp_path, stubs):
    source = tmp_path / "new.cc"
    # getentropy exists at the limit, close_range came with GLIBC_2.34 and has no shim.
    source.write_text("#include <unistd.h>\nint f() { return close_range(3, 4, 0); }\n")
    command = [CXX, "-fPIC", "-shared", str(source), "-o", str(tmp_path / "new.so"), "-Wl,-z,defs"]
    feature_build.run(command)
    result = subprocess.run([*command, f"-L{stubs}"], capture_output=True, text=True, check=False)
    assert result.returncode != 0 and "close_range" in result.stderr


def test_two_runs_give_the_same_bytes(tmp_path, stubs):
    again = make_stubs(tmp_path / "again")
    names = sorted(path.name for path in stubs.iterdir())
    assert names == sorted(path.name for path in again.iterdir()) and len(names) > 8
    for name in names:
        assert (stubs / name).read_bytes() == (again / name).read_bytes(), name


def test_compiler_for_another_machine_is_refused(tmp_path):
    fake = tmp_path / "cross-g++"
    fake.write_text("#!/bin/sh\necho aarch64-linux-gnu\n")
    fake.chmod(0o755)
    result = subprocess.run(
        [sys.executable, FLOOR_SCRIPTS / "make_stub_libs.py", "--cxx", fake, "--out", tmp_path / "stubs"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "aarch64-linux-gnu, expected x86_64 with glibc" in result.stderr
