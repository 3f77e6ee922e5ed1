"""Finds the Python dependencies that the self-contained wheel of tensorflow carries inside.

A `.pth` file imports this module when Python starts, so that `import numpy` works before `import tensorflow`. Then it costs one
object in sys.meta_path: the index is read when an import has failed everywhere else.

A distribution of the environment is always used, unless it is older than the wheel can work with; then the bundled one
takes its place from `import tensorflow` on, and only for the process that does so.
"""

import importlib.machinery
import importlib.metadata
import json
import os
import re
import sys

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tensorflow", "bundled")
_INDEX = os.path.join(_FOLDER, "index.json")


class BundledFinder:
    """An import finder over the bundled distributions.

    Args:
      names: the distributions to serve, as spelled in the index; None serves all.
    """

    def __init__(self, names=None):
        self._names = names
        self._folders = None

    def folders(self):
        """Returns {module: folder to search for it}."""
        if self._folders is None:
            self._folders = {}
            for name, entry in read_index().items():
                if self._names is None or name in self._names:
                    for module in entry["modules"]:
                        namespace, _, _ = module.rpartition(".")
                        self._folders[module] = os.path.join(_FOLDER, name, namespace)
                        if namespace:
                            self._folders.setdefault(namespace, os.path.join(_FOLDER, name))
        return self._folders

    def find_spec(self, fullname, path=None, target=None):
        folder = self.folders().get(fullname)
        return folder and importlib.machinery.PathFinder.find_spec(fullname, [folder], target)

    def find_distributions(self, context=importlib.metadata.DistributionFinder.Context()):
        """Makes importlib.metadata see the bundled distributions."""
        index = read_index()
        wanted = context.name and _normal(context.name)
        chosen = [
            n for n in index if (self._names is None or n in self._names) and (not wanted or _normal(n) == wanted)
        ]
        inner = importlib.metadata.DistributionFinder.Context(
            name=context.name, path=[os.path.join(_FOLDER, n) for n in chosen]
        )
        return importlib.metadata.MetadataPathFinder.find_distributions(inner) if chosen else iter(())

    def invalidate_caches(self):
        self._folders = None


def read_index():
    """Returns the index: {distribution: {version, minimum or null, modules}}; empty if there is none."""
    try:
        with open(_INDEX, encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        # The wheel was removed but its .pth file was left.
        return {}


def install():
    """Adds the finder behind all others, once."""
    if not any(isinstance(finder, BundledFinder) for finder in sys.meta_path):
        sys.meta_path.append(BundledFinder())


def prefer_over_outdated():
    """Puts the bundled distribution before the environment's where that is too old; `import tensorflow` calls it.

    Raises:
      ImportError: a distribution that is too old was imported already, and cannot be exchanged any more.
    """
    install()
    if any(isinstance(finder, BundledFinder) and finder._names is not None for finder in sys.meta_path):
        return
    outdated = {}
    for name, entry in read_index().items():
        if entry["minimum"]:
            version = _environment_version(name)
            if version and _release(version) < _release(entry["minimum"]):
                outdated[name] = version
    for name, version in outdated.items():
        entry = read_index()[name]
        loaded = [m for m in entry["modules"] if m in sys.modules]
        if loaded:
            raise ImportError(
                f"{name} {version} was imported before tensorflow, which needs {entry['minimum']} or newer and carries "
                f"{entry['version']}: import tensorflow first, or upgrade {name} in this environment."
            )
    if outdated:
        sys.meta_path.insert(0, BundledFinder(frozenset(outdated)))


def _environment_version(name):
    """The version of a distribution on sys.path, not counting the bundled one; None if there is none."""
    context = importlib.metadata.DistributionFinder.Context(name=name, path=sys.path)
    for distribution in importlib.metadata.MetadataPathFinder.find_distributions(context):
        return distribution.version
    return None


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def _release(version):
    """The numbers of a version, without what follows them: enough to compare with a minimum."""
    return tuple(int(n) for n in re.match(r"\d+(?:\.\d+)*", version).group().split("."))
