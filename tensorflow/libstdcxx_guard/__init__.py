"""Makes sure that the process has a libstdc++.so.6 that TensorFlow's libraries can load with.

A program must hold one libstdc++ only: exceptions, locales and streams that cross two copies
misbehave. So the choice is made once, before any TensorFlow library is loaded:

1. A probe library that needs what TensorFlow needs is loaded. Where that works, nothing is done.
2. Where it fails and no libstdc++ is in the process yet, the bundled one is loaded. The loader
   goes by the name libstdc++.so.6, so every later library shares it.
3. Where it fails because an old one is loaded already (another package was imported first), the
   import ends with an ImportError that names the cure, or, with TF_DEEPREC_REEXEC=1, the program is
   started anew with the bundled library in LD_PRELOAD.

This module imports nothing of TensorFlow, and costs a few milliseconds.
"""

from __future__ import annotations  # The types below cost nothing at import; typing would be 10 ms.

import ctypes
import os
import sys

__all__ = ["ensure", "describe"]

# What the released TensorFlow 2.21 needs; the probe refers to the same two versions.
NEEDED_VERSIONS = ("GLIBCXX_3.4.22", "CXXABI_1.3.11")
NEEDED_GLIBC = (2, 27)

REEXEC_VARIABLE = "TF_DEEPREC_REEXEC"

_HERE = os.path.dirname(os.path.abspath(__file__))
BUNDLED = os.path.join(_HERE, "libstdc++.so.6")
PROBE = os.path.join(_HERE, "libcxxprobe.so")

_ensured = False
_chosen_by = ""
_problems: list[str] = []


def ensure() -> None:
    """Gives the process a libstdc++ that is new enough, or explains why it can't.

    Does nothing when called again.

    Raises:
        ImportError: the machine is none that TensorFlow's libraries run on, or an older libstdc++
            is loaded already, or the bundled one can't be loaded.
    """
    global _ensured, _chosen_by
    if _ensured:
        return
    _check_platform()
    failure = _probe_failure()
    if failure is None:
        by_environment = any(_is_bundled(path) for path in mapped_copies())
        _chosen_by = "LD_PRELOAD or LD_LIBRARY_PATH" if by_environment else "the system's is new enough"
    elif not _is_about_libstdcxx(failure):
        # The guard can't tell. A system whose libstdc++ is fine must not suffer from that; on
        # another one TensorFlow's own library will say what it misses.
        _problems.append(f"the libstdc++ check could not run: {failure}")
        _chosen_by = "unchecked"
    else:
        _replace_old(failure)
    _ensured = True


def describe() -> dict:
    """What is known about the process's libstdc++, for reports. Loads no library but the probe.

    May be called before `ensure`, also where tensorflow is not imported; it then tells what an
    import would do.

    Returns:
        A dict with the keys `path` (of the copy in the process, None without one), `version` (its
        newest GLIBCXX version), `origin` ("system", "bundled" or "none"), `chosen_by` (a phrase),
        `needed` (version names), `bundled_path`, `bundled_version`, and `problems` (a list of
        sentences, empty where all is well).
    """
    problems, chosen_by = list(_problems), _chosen_by
    failure = None if _ensured else _probe_failure()
    copies = mapped_copies()
    if not _ensured:
        chosen_by = "not chosen yet; the one of the system is new enough"
    if failure is not None and not _is_about_libstdcxx(failure):
        problems.append(f"the libstdc++ check could not run: {failure}")
        chosen_by = "unchecked"
    elif failure is not None and copies:
        problems.append(_too_late_message(copies[0]))
    elif failure is not None:
        chosen_by = f"not chosen yet; an import loads the bundled one: {failure}"
    if len(copies) > 1:
        problems.append(f"more than one libstdc++ is in the process: {', '.join(copies)}")
    for path in (BUNDLED, PROBE):
        if not os.path.exists(path):
            problems.append(f"{path} is missing; install the wheel anew")
    path = copies[0] if copies else None
    return {
        "path": path,
        "version": newest_glibcxx(path) if path else None,
        "origin": "none" if path is None else "bundled" if _is_bundled(path) else "system",
        "chosen_by": chosen_by,
        "needed": list(NEEDED_VERSIONS),
        "bundled_path": BUNDLED,
        "bundled_version": newest_glibcxx(BUNDLED),
        "problems": problems,
    }


def mapped_copies() -> list[str]:
    """Paths of the libstdc++.so.6 files in this process, in no order; normally none or one."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as f:
            paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in f if "libstdc++.so.6" in line}
    except OSError:
        # Without /proc the loader still knows whether it has one, though not from where.
        try:
            ctypes.CDLL("libstdc++.so.6", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        except OSError:
            return []
        return ["libstdc++.so.6"]
    return sorted(paths)


def newest_glibcxx(path: str) -> str | None:
    """The newest GLIBCXX version named in a library file, as "GLIBCXX_3.4.30"; None without one."""
    import re  # Off the path of a normal import.

    try:
        with open(path, "rb") as f:
            found = re.findall(rb"\0GLIBCXX_(\d+(?:\.\d+)+)(?=\0)", f.read())
    except OSError:
        return None
    if not found:
        return None
    newest = max(tuple(int(part) for part in number.split(b".")) for number in found)
    return "GLIBCXX_" + ".".join(str(part) for part in newest)


def _check_platform() -> None:
    machine = os.uname().machine if hasattr(os, "uname") else sys.platform
    if not sys.platform.startswith("linux") or machine not in ("x86_64", "amd64") or sys.maxsize < 2**32:
        raise ImportError(
            f"this TensorFlow is built for 64-bit Linux on x86-64; this is {sys.platform} on {machine}, "
            f"Python of {64 if sys.maxsize > 2**32 else 32} bits. Use such a machine or container."
        )
    version = _glibc_version()
    if version is None:
        raise ImportError(
            "this TensorFlow needs the GNU C library (glibc); this Python runs on another one, such as "
            "musl on Alpine Linux. Use a glibc image, for instance python:3.11-slim."
        )
    if version < NEEDED_GLIBC:
        raise ImportError(
            f"this TensorFlow needs glibc 2.27 or newer, this system has {version[0]}.{version[1]}. "
            "Use Ubuntu 18.04, Debian 10, RHEL 8 or a later release."
        )


def _glibc_version() -> tuple[int, int] | None:
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        major, minor = version.split(".")[:2]
        return (int(major), int(minor)) if name == "glibc" else None
    except (ValueError, OSError):
        return None


def _probe_failure() -> str | None:
    """None where the probe loads, else the loader's words."""
    try:
        # The handle is never closed: TensorFlow needs the libstdc++ behind it in a moment.
        ctypes.CDLL(PROBE, mode=os.RTLD_LOCAL | os.RTLD_NOW)
    except OSError as error:
        return str(error)
    return None


def _is_about_libstdcxx(failure: str) -> bool:
    # A probe that is missing or damaged is named itself; these names stand in no translation.
    return any(name in failure for name in ("GLIBCXX_", "CXXABI_", "libstdc++.so.6", "libgcc_s.so.1"))


def _is_bundled(path: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(BUNDLED)


def _replace_old(failure: str) -> None:
    global _chosen_by
    copies = mapped_copies()
    if copies:
        too_late = _too_late_message(copies[0])
        if os.environ.get(REEXEC_VARIABLE, "0") in ("", "0"):
            raise ImportError(
                f"{too_late} Import tensorflow before the others, or set {REEXEC_VARIABLE}=1: the import "
                "then starts the program anew with the bundled libstdc++."
            )
        from . import reexec

        reexec.restart(BUNDLED, too_late)
    try:
        ctypes.CDLL(BUNDLED, mode=os.RTLD_GLOBAL | os.RTLD_NOW)
    except OSError as error:
        raise ImportError(
            f"the system's libstdc++ does not serve TensorFlow ({failure}) and the bundled one can't be "
            f"loaded ({error}). Install libstdc++6 and libgcc-s1 of GCC 7 or newer, or this wheel anew."
        ) from None
    failure_after = _probe_failure()
    if failure_after is not None:
        raise ImportError(
            f"the bundled {BUNDLED} was loaded, yet TensorFlow's needs are not met ({failure_after}). "
            "Install this wheel anew."
        )
    _chosen_by = f"loaded at import, the system's does not serve: {failure}"


def _packages_that_need_libstdcxx() -> list[str]:
    """Packages in the process with an extension module that is linked to libstdc++."""
    packages = set()
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or not path.endswith(".so"):
            continue
        try:
            with open(path, "rb") as f:
                if b"\0libstdc++.so.6\0" in f.read():
                    packages.add(name.partition(".")[0])
        except OSError:
            continue
    return sorted(packages)


def _too_late_message(path: str) -> str:
    loaders = _packages_that_need_libstdcxx()
    before = f" ({', '.join(loaders)} came before tensorflow)" if loaders else ""
    ends = newest_glibcxx(path)
    return (
        f"TensorFlow needs a libstdc++.so.6 with {' and '.join(NEEDED_VERSIONS)}. An older one is in this "
        f"process already{before}: {path}, which ends at {ends or 'an unknown version'}; a second copy "
        "must not be loaded."
    )
