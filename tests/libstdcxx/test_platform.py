"""Machines that TensorFlow's libraries can't run on get one clear sentence."""

import importlib.util
import os
import types

import pytest


@pytest.fixture
def guard(guard_dir) -> types.ModuleType:
    """The guard's module by itself; the tensorflow package is not imported."""
    spec = importlib.util.spec_from_file_location("guard_under_test", guard_dir / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def refuse_to_load(*_, **__):
    raise AssertionError("no library may be loaded on such a machine")


def test_old_glibc_is_named(guard, monkeypatch):
    monkeypatch.setattr(os, "confstr", lambda name: "glibc 2.17")
    monkeypatch.setattr(guard.ctypes, "CDLL", refuse_to_load)
    with pytest.raises(ImportError, match=r"needs glibc 2\.27 or newer, this system has 2\.17"):
        guard.ensure()


@pytest.mark.parametrize("answer", [None, "", "musl"])
def test_other_c_library_is_named(guard, monkeypatch, answer):
    monkeypatch.setattr(os, "confstr", lambda name: answer)
    monkeypatch.setattr(guard.ctypes, "CDLL", refuse_to_load)
    with pytest.raises(ImportError, match="GNU C library .* musl"):
        guard.ensure()


def test_c_library_without_the_question_is_named(guard, monkeypatch):
    def unknown(name):
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "confstr", unknown)
    with pytest.raises(ImportError, match="GNU C library"):
        guard.ensure()


@pytest.mark.parametrize("machine", ["aarch64", "i686"])
def test_other_processor_is_named(guard, monkeypatch, machine):
    name = os.uname()
    monkeypatch.setattr(os, "uname", lambda: types.SimpleNamespace(machine=machine, sysname=name.sysname))
    monkeypatch.setattr(guard.ctypes, "CDLL", refuse_to_load)
    with pytest.raises(ImportError, match=f"x86-64; this is linux on {machine}"):
        guard.ensure()


@pytest.mark.parametrize("version, accepted", [("2.27", True), ("2.26", False), ("2.100", True), ("3.0", True)])
def test_glibc_versions_compare_as_numbers(guard, monkeypatch, version, accepted):
    monkeypatch.setattr(os, "confstr", lambda name: f"glibc {version}")
    if accepted:
        guard.ensure()
    else:
        with pytest.raises(ImportError):
            guard.ensure()
