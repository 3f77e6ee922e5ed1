"""Puts the Python dependencies into the self-contained wheel.

Each distribution gets a folder tensorflow/bundled/<name>/ with its modules and its dist-info; index.json says what is
there and from which version on an environment's own copy is good enough. The finder that reads it is
self_contained/_deeprec_bundled.py.
"""

import json
import os
import posixpath
import re
import zipfile

_FOLDER = "tensorflow/bundled"
_RUNTIME = ("_deeprec_bundled.py", "deeprec_bundled.pth")


def minimum(requirements, name):
    """The lower bound that the wheel's own requirements set for a distribution, or None."""
    for requirement in requirements:
        found = re.match(r"([\w.-]+)", requirement).group()
        if _normal(found) == _normal(name):
            bound = re.search(r">=([\d.]+)", requirement)
            return bound.group(1) if bound else None
    return None


def top_level_modules(names):
    """The importable names at the top of a wheel; for a namespace package, those one level below (`google.protobuf`)."""
    modules = set()
    for name in names:
        first, _, rest = name.partition("/")
        if first.endswith((".dist-info", ".data", ".libs")):
            continue
        if rest and "." not in first:
            is_package = f"{first}/__init__.py" in names
            modules.add(first if is_package else f"{first}.{rest.split('/')[0].split('.')[0]}")
        elif not rest and first.endswith((".py", ".so")):
            modules.add(first.split(".")[0])
    return sorted(modules)


def add(builder, wheels, requirements):
    """Adds the distributions in the wheel files `wheels`, their index, and the finder, to a WheelBuilder."""
    index = {}
    for path in sorted(wheels, key=os.path.basename):
        name, version = os.path.basename(path).split("-")[:2]
        with zipfile.ZipFile(path) as archive:
            names = sorted(n for n in archive.namelist() if not n.endswith("/"))
            for member in names:
                builder.add(
                    posixpath.join(_FOLDER, name, _installed_path(member)),
                    archive.read(member),
                    0o755 if ".so" in member else 0o644,
                )
        index[name] = {"version": version, "minimum": minimum(requirements, name), "modules": top_level_modules(names)}
    builder.add(f"{_FOLDER}/index.json", (json.dumps(index, indent=1, sort_keys=True) + "\n").encode())
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "self_contained")
    for name in _RUNTIME:
        with open(os.path.join(here, name), "rb") as f:
            builder.add(name, f.read())


def _installed_path(member):
    """Where an installer would put a member: `X.data/purelib/` goes to the top."""
    return re.sub(r"^[^/]+\.data/(purelib|platlib)/", "", member)


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()
