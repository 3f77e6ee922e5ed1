#!/usr/bin/env python3
"""Finds what the build needs on this machine and writes it down for Bazel.

Asks nothing. Every choice is a flag, or the environment variable named beside it in --help. Writes
`.deeprec_configure.bazelrc` in the project's root, which `.bazelrc` reads. Run it again after a change of
Python, compiler or TensorFlow release. Exit code 1, with one sentence, if something is missing.
"""

# Written to parse on any Python 3, so that an old one gets a sentence and not a SyntaxError.
import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.abspath(__file__))
RC_FILE = os.path.join(ROOT, ".deeprec_configure.bazelrc")
PINS = os.path.join(ROOT, "third_party", "tensorflow", "requirements.txt")
DEPENDENCY_PINS = os.path.join(ROOT, "third_party", "python_deps")
PYTHONS = ((3, 10), (3, 13))


class ConfigureError(Exception):
    """What is wrong and how to mend it, in one sentence."""


def read_pins(path):
    """Returns {project name: (version, {sha256, ...})} of a pip requirements file with hashes."""
    pins = {}
    with open(path) as f:
        text = f.read().replace("\\\n", " ")
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, version = re.match(r"([\w.-]+)==(\S+)", line).groups()
            pins[name] = (version, set(re.findall(r"sha256:([0-9a-f]{64})", line)))
    return pins


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def find_python(wanted):
    """Returns the absolute path of a supported Python and its version tag, such as 'cp311'."""
    path = shutil.which(wanted)
    if path is None:
        raise ConfigureError(
            "No Python at '%s': install Python 3.10 to 3.13 (apt-get install python3 python3-venv) "
            "or name one with --python." % wanted
        )
    # sys.executable and not the path found: that can be a shim, and shims do not work in a sandbox.
    code = (
        "import sys, json, sysconfig; print(json.dumps([sys.executable, list(sys.version_info[:2]),"
        " sys.implementation.name, sysconfig.get_platform(), bool(sysconfig.get_config_var('Py_GIL_DISABLED'))]))"
    )
    try:
        out = subprocess.check_output([path, "-c", code], stderr=subprocess.PIPE)
        executable, version, implementation, machine, free_threaded = json.loads(out.decode())
    except (subprocess.CalledProcessError, OSError, ValueError) as e:
        raise ConfigureError("The Python at '%s' does not run (%s): name another with --python." % (path, e))
    if implementation != "cpython" or free_threaded or not PYTHONS[0] <= tuple(version) <= PYTHONS[1]:
        raise ConfigureError(
            "'%s' is %s%s %d.%d, but TensorFlow is released for CPython 3.10 to 3.13: name one of these with --python."
            % (path, implementation, " (free-threaded)" if free_threaded else "", version[0], version[1])
        )
    if machine != "linux-x86_64":
        raise ConfigureError("This is %s, but the wheel is for linux-x86_64 alone: build on such a machine." % machine)
    return executable, "cp%d%d" % tuple(version)


def find_compiler(wanted):
    path = shutil.which(wanted)
    if path is None:
        raise ConfigureError("No C++ compiler at '%s': apt-get install g++, or name one with --cxx." % wanted)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.cc")
        with open(source, "w") as f:
            f.write("#include <optional>\nint main() { return std::optional<int>(0).value(); }\n")
        run = subprocess.run(
            [path, "-std=c++17", "-shared", "-fPIC", source, "-o", os.path.join(folder, "probe.so")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    if run.returncode != 0:
        raise ConfigureError(
            "The compiler '%s' cannot build a C++17 program (%s): name a newer one with --cxx."
            % (path, run.stderr.decode(errors="replace").strip().splitlines()[0:1])
        )
    return path


def find_bazel(wanted):
    path = shutil.which(wanted)
    if path is None:
        raise ConfigureError("No Bazel at '%s': apt-get install bazel-bootstrap, or name one with --bazel." % wanted)
    return path


def check_wheel(path, name, version, hashes, tag):
    """Returns the path of a wheel file if it is the pinned one, and raises otherwise."""
    cure = "give the wheel of %s %s, or none and let pip fetch it." % (name, version)
    if not os.path.isfile(path):
        raise ConfigureError("There is no wheel at '%s': %s" % (path, cure))
    base = os.path.basename(path)
    if not re.match(r"%s-%s-.*\.whl$" % (name.replace("-", "[-_]"), re.escape(version)), base):
        raise ConfigureError("'%s' is not %s %s: %s" % (base, name, version, cure))
    if tag and ("-%s-" % tag) not in base:
        raise ConfigureError("'%s' is not for the chosen Python (%s): %s" % (base, tag, cure))
    got = sha256(path)
    if got not in hashes:
        raise ConfigureError(
            "'%s' has sha256 %s, which third_party/tensorflow/requirements.txt does not list: %s" % (path, got, cure)
        )
    return path


def pip_download(python, requirements, folder, what):
    os.makedirs(folder, exist_ok=True)
    probe = subprocess.run([python, "-m", "pip", "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if probe.returncode != 0:
        raise ConfigureError(
            "'%s' has no pip: apt-get install python3-pip, or name a Python that has it with --python." % python
        )
    print("Fetching %s through pip ..." % what, flush=True)
    command = [
        python,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--require-hashes",
        "--only-binary=:all:",
        "--requirement",
        requirements,
        "--dest",
        folder,
    ]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode != 0:
        sys.stderr.write(run.stdout.decode(errors="replace"))
        raise ConfigureError(
            "pip could not fetch %s: mend what it says above, or give the files by hand (--help)." % what
        )


def get_wheel(given, name, tag, folder, fetch):
    """Returns the checked path of one pinned wheel, fetching it at most once."""
    version, hashes = read_pins(PINS)[name]
    if given:
        return check_wheel(os.path.abspath(given), name, version, hashes, tag)
    pattern = os.path.join(folder, "%s-%s-%s*.whl" % (name.replace("-", "_"), version, tag + "-" if tag else ""))
    found = glob.glob(pattern)
    # A file cut short by an interrupted download must not be taken for the wheel.
    if found and sha256(found[0]) not in hashes:
        os.remove(found[0])
        found = []
    if not found:
        fetch()
        found = glob.glob(pattern)
    if not found:
        raise ConfigureError(
            "pip fetched no %s %s for %s: check the package index, or give the file by hand (--help)."
            % (name, version, tag or "any Python")
        )
    return check_wheel(found[0], name, version, hashes, tag)


def unpack(wheel, folder):
    """Unpacks the headers and libraries of the TensorFlow wheel once; returns the folder."""
    target = os.path.join(folder, "unpacked-" + sha256(wheel)[:16])
    if os.path.isdir(target):
        return target
    print("Unpacking %s ..." % os.path.basename(wheel), flush=True)
    temporary = tempfile.mkdtemp(dir=folder)
    with zipfile.ZipFile(wheel) as archive:
        members = [
            n
            for n in archive.namelist()
            if n.startswith("tensorflow/include/") or re.match(r"tensorflow/libtensorflow_\w+\.so\.2$", n)
        ]
        archive.extractall(temporary, members)
    os.chmod(temporary, 0o755)
    os.rename(temporary, target)  # atomic: a folder of this name is always whole
    return target


def write_rc(settings, cxx, disk_cache):
    lines = ["# Written by configure.py; run it again to change it."]
    lines += ["build --repo_env=%s=%s" % item for item in sorted(settings.items())]
    lines += ["build --repo_env=CC=%s" % cxx, "build --action_env=PYTHONHASHSEED=0"]
    if disk_cache:
        lines.append("build --disk_cache=%s" % disk_cache)
    with open(RC_FILE, "w") as f:
        f.write("\n".join(lines) + "\n")


def parse_args(argv):
    env = os.environ.get
    cache = env("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--python",
        default=env("DEEPREC_PYTHON") or sys.executable or "python3",
        help="Python that the wheel is for (DEEPREC_PYTHON; default: the one that runs this)",
    )
    parser.add_argument("--cxx", default=env("CXX") or "g++", help="C++ compiler (CXX; default: g++)")
    parser.add_argument("--bazel", default=env("BAZEL") or "bazel", help="Bazel (BAZEL; default: bazel)")
    parser.add_argument(
        "--cache_dir",
        default=env("DEEPREC_CACHE_DIR") or os.path.join(cache, "deeprec-tf2"),
        help="where fetched wheels are kept (DEEPREC_CACHE_DIR; default: %(default)s)",
    )
    parser.add_argument(
        "--tf_wheel",
        default=env("DEEPREC_TF_WHEEL_FILE"),
        help="a tensorflow-cpu wheel file to use instead of fetching it (DEEPREC_TF_WHEEL_FILE)",
    )
    parser.add_argument(
        "--tf_keras_wheel",
        default=env("DEEPREC_TF_KERAS_WHEEL_FILE"),
        help="the same for tf_keras (DEEPREC_TF_KERAS_WHEEL_FILE)",
    )
    parser.add_argument(
        "--tensorflow_estimator_wheel",
        default=env("DEEPREC_TENSORFLOW_ESTIMATOR_WHEEL_FILE"),
        help="the same for tensorflow-estimator (DEEPREC_TENSORFLOW_ESTIMATOR_WHEEL_FILE)",
    )
    parser.add_argument(
        "--tf_slim_wheel",
        default=env("DEEPREC_TF_SLIM_WHEEL_FILE"),
        help="the same for tf-slim (DEEPREC_TF_SLIM_WHEEL_FILE)",
    )
    parser.add_argument(
        "--self_contained",
        action="store_true",
        default=env("DEEPREC_SELF_CONTAINED") == "1",
        help="also fetch the Python dependencies, which //tools/pip_package:wheel_self_contained "
        "needs (DEEPREC_SELF_CONTAINED=1)",
    )
    parser.add_argument(
        "--disk_cache",
        default=env("DEEPREC_DISK_CACHE"),
        help="folder for Bazel's disk cache; 'none' for no disk cache (DEEPREC_DISK_CACHE; "
        "default: bazel-disk in the cache folder)",
    )
    return parser.parse_args(argv)


def configure(args):
    python, tag = find_python(args.python)
    cxx = find_compiler(args.cxx)
    bazel = find_bazel(args.bazel)
    folder = os.path.abspath(args.cache_dir)
    wheels = os.path.join(folder, "wheels")
    os.makedirs(wheels, exist_ok=True)

    def fetch():
        pip_download(python, PINS, wheels, "the pinned TensorFlow wheels (260 MB)")

    tf_wheel = get_wheel(args.tf_wheel, "tensorflow-cpu", tag, wheels, fetch)
    parts = {
        "TF_KERAS": get_wheel(args.tf_keras_wheel, "tf_keras", "", wheels, fetch),
        "TENSORFLOW_ESTIMATOR": get_wheel(args.tensorflow_estimator_wheel, "tensorflow-estimator", "", wheels, fetch),
        "TF_SLIM": get_wheel(args.tf_slim_wheel, "tf-slim", "", wheels, fetch),
    }
    bundled = ""
    if args.self_contained:
        pins = os.path.join(DEPENDENCY_PINS, "requirements-%s.txt" % tag)
        # One folder for each pin file: what lies in the folder is what the wheel carries.
        bundled = os.path.join(folder, "bundled-%s-%s" % (tag, sha256(pins)[:12]))
        expected = read_pins(pins)
        have = {sha256(p) for p in glob.glob(os.path.join(bundled, "*.whl"))}
        if not all(have & hashes for _, hashes in expected.values()):
            pip_download(python, pins, bundled, "the Python dependencies")
    pins = read_pins(PINS)
    write_rc(
        {
            "DEEPREC_PYTHON": python,
            "DEEPREC_TF_ROOT": unpack(tf_wheel, folder),
            "DEEPREC_TF_WHEEL": tf_wheel,
            **{f"DEEPREC_{name}_WHEEL": path for name, path in parts.items()},
            "DEEPREC_TF_VERSION": pins["tensorflow-cpu"][0],
            "DEEPREC_TF_KERAS_VERSION": pins["tf_keras"][0],
            "DEEPREC_BUNDLED_WHEELS": bundled,
        },
        cxx,
        "" if args.disk_cache == "none" else args.disk_cache or os.path.join(folder, "bazel-disk"),
    )
    print(
        "Python %s (%s), compiler %s, TensorFlow %s: written to %s.\nNow: %s build //tools/pip_package:%s"
        % (
            python,
            tag,
            cxx,
            pins["tensorflow-cpu"][0],
            os.path.basename(RC_FILE),
            os.path.basename(bazel),
            "wheel_self_contained" if args.self_contained else "wheel",
        )
    )


def main(argv):
    try:
        configure(parse_args(argv))
    except ConfigureError as e:
        sys.stderr.write("configure: %s\n" % e)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
