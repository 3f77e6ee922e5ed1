#!/usr/bin/env python3
"""Builds a Horovod that runs on the TensorFlow of this Python, from the release on PyPI; prints the path of the wheel.

    tf-deeprec-horovod             # build, or take what was built before
    tf-deeprec-horovod --install   # and install it into this Python

Horovod 0.28.1 does not compile against TensorFlow 2.21 as it is: its optional ops for XLA include headers of which the
TensorFlow wheel lacks a part. They serve GPUs alone, so their file is left out of Horovod's CMake list. The wheel has the Gloo
transport, for CPUs; it needs cmake, make and g++, and 5 minutes on two cores. It is kept in the cache folder of configure.py, so a
second call takes a second.

One error is mended: with Gloo, Horovod's list of ranks stays empty for its check of stalls, which thus never finds one, and ranks that
call different collectives wait for ever. The version says that this is not the release: 0.28.1+deeprec.1.
"""

import argparse
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

VERSION = "0.28.1"
SDIST_SHA256 = "92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0"
# What builds it: setuptools 70 took away what Horovod's setup.py imports.
TOOLS = ("setuptools==69.5.1", "wheel==0.43.0")
# What a Horovod without Spark or Ray imports.
REQUIREMENTS = ("cloudpickle", "psutil", "pyyaml", "packaging")
LEFT_OUT = "horovod/tensorflow/xla_mpi_ops.cc"
MENDED_VERSION = f"{VERSION}+deeprec.1"
# (file, what stands there once, what it becomes).
EDITS = (
    # Room alone is not enough: the list's length is what the check of stalls goes by.
    ("horovod/common/gloo/gloo_controller.cc", "global_ranks_.reserve(size_);", "global_ranks_.resize(size_);"),
    ("horovod/__init__.py", f"__version__ = '{VERSION}'", f"__version__ = '{MENDED_VERSION}'"),
)
FEATURES = {
    "HOROVOD_WITH_TENSORFLOW": "1",
    "HOROVOD_WITH_GLOO": "1",
    "HOROVOD_WITHOUT_MPI": "1",
    "HOROVOD_WITHOUT_PYTORCH": "1",
    "HOROVOD_WITHOUT_MXNET": "1",
}


class BuildError(Exception):
    """What is wrong and how to mend it, in one sentence."""


def default_cache_dir() -> str:
    """The folder in which configure.py, too, keeps what it fetches."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("DEEPREC_CACHE_DIR") or os.path.join(cache, "deeprec-tf2")


def tensorflow_release() -> str:
    """The version of the TensorFlow runtime in this Python, such as '2.21.0'.

    Raises:
      BuildError: there is no TensorFlow.
    """
    # The 1.x root of this project's wheel tells the version of its API.
    run = subprocess.run(
        [sys.executable, "-c", "import tensorflow as tf; print(tf.__version__)"],
        env={**os.environ, "TF_DEEPREC_ROOT": "2", "TF_CPP_MIN_LOG_LEVEL": "3"},
        cwd=tempfile.gettempdir(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        last = (run.stderr.strip().splitlines() or [""])[-1]
        raise BuildError(f"{sys.executable} has no TensorFlow to build against ({last}): install the wheel first.")
    return run.stdout.split()[-1]


def run(command, log, what, **kwargs) -> None:
    """Runs a command with its output in the file `log`; raises BuildError if it fails."""
    with open(log, "ab") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False, **kwargs)
    if done.returncode != 0:
        with open(log, errors="replace") as f:
            tail = "".join(f.readlines()[-30:])
        raise BuildError(f"{what} failed with exit code {done.returncode}; the whole log is {log}:\n{tail}")


def fetch_source(folder: pathlib.Path, log) -> pathlib.Path:
    """Fetches the sdist through pip, which checks its hash, and unpacks it; returns the folder of its sources."""
    pin = folder / "horovod.txt"
    pin.write_text(f"horovod=={VERSION} --hash=sha256:{SDIST_SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
    environment = {**os.environ, "PYTHONPATH": str(folder / "tools")}
    run([*command, "--require-hashes", "-r", pin, "-d", folder], log, "Fetching Horovod", env=environment, cwd=folder)
    with tarfile.open(folder / f"horovod-{VERSION}.tar.gz") as archive:
        archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(folder)
    return folder / f"horovod-{VERSION}"


def leave_out_xla(source: pathlib.Path) -> None:
    """Takes the ops for XLA out of the list of sources."""
    path = source / "horovod" / "tensorflow" / "CMakeLists.txt"
    lines = path.read_text().splitlines(keepends=True)
    kept = [line for line in lines if LEFT_OUT not in line]
    if len(kept) != len(lines) - 1:
        raise BuildError(
            f"{path} names {LEFT_OUT} {len(lines) - len(kept)} times instead of once: not Horovod {VERSION}?"
        )
    path.write_text("".join(kept))


def edit(source: pathlib.Path) -> None:
    """Makes the EDITS."""
    for name, before, after in EDITS:
        text = (source / name).read_text()
        if text.count(before) != 1:
            raise BuildError(f"{source / name} has {before!r} {text.count(before)} times instead of once.")
        (source / name).write_text(text.replace(before, after))


def build(cache_dir: str, jobs: int) -> str:
    """Returns the path of the wheel for this Python and its TensorFlow, building it unless the cache has it.

    Raises:
      BuildError: a tool is missing, or a step failed.
    """
    target = pathlib.Path(cache_dir) / f"horovod-{VERSION}-tf{tensorflow_release()}"
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    pattern = str(target / f"horovod-{MENDED_VERSION}-{tag}-*.whl")
    if found := glob.glob(pattern):
        return found[0]
    if missing := [tool for tool in ("cmake", "make", "g++") if shutil.which(tool) is None]:
        raise BuildError(
            f"Missing: {' '.join(missing)}. Install it (Debian: apt-get install cmake make g++) and run this again."
        )
    target.mkdir(parents=True, exist_ok=True)
    log = target / f"build-{tag}.log"
    log.write_bytes(b"")
    print(f"Building Horovod {VERSION} (about 5 minutes on two cores); log: {log}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder / "tools"]
        run([*pip, *TOOLS, *REQUIREMENTS], log, "Fetching the tools that build it", cwd=folder)
        source = fetch_source(folder, log)
        leave_out_xla(source)
        edit(source)
        environment = {
            **os.environ,
            **FEATURES,
            "MAKEFLAGS": f"-j{jobs}",
            "PYTHONPATH": str(folder / "tools"),
            "SETUPTOOLS_USE_DISTUTILS": "local",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            # CMake asks for the version of the runtime, which the 2.x root tells.
            "TF_DEEPREC_ROOT": "2",
        }
        run([sys.executable, "setup.py", "-q", "bdist_wheel"], log, "Building Horovod", cwd=source, env=environment)
        built = glob.glob(str(source / "dist" / "*.whl"))[0]
        # A wheel that an interrupted copy cut short must not be taken for one.
        partial = target / (os.path.basename(built) + ".partial")
        shutil.copyfile(built, partial)
        final = target / os.path.basename(built)
        os.replace(partial, final)
    return str(final)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--cache_dir", default=default_cache_dir(), help="where the wheel is kept (default: %(default)s)"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="compilers at a time (default: %(default)s)"
    )
    parser.add_argument(
        "--install", action="store_true", help="install the wheel, and what it imports, into this Python"
    )
    args = parser.parse_args(argv)
    try:
        if args.jobs < 1:
            raise BuildError(f"--jobs must be at least 1, got {args.jobs}.")
        wheel = build(args.cache_dir, args.jobs)
        if args.install:
            # Its metadata asks for nothing of TensorFlow; pip must not look for one.
            pip = [sys.executable, "-m", "pip", "install", "--quiet"]
            subprocess.run([*pip, *REQUIREMENTS], check=True)
            subprocess.run([*pip, "--no-deps", "--force-reinstall", wheel], check=True)
    except (BuildError, subprocess.CalledProcessError) as e:
        print(e, file=sys.stderr)
        return 1
    print(wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
