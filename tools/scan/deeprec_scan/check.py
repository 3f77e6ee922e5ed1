"""Looks uses up in the TensorFlow that is installed."""

import importlib
import inspect
import types
import warnings
from typing import NamedTuple, Optional

from deeprec_scan import changes
from deeprec_scan.usage import NotPython3, Use, notebook_source, uses_in

# What is found, worst first.
LACKS, CHANGES, UNREADABLE = "lacks", "changes", "unreadable"


class Finding(NamedTuple):
    """Something that a file uses and that is not as it was in 1.15."""

    file: str
    line: int
    kind: str
    symbol: str
    what: str
    todo: str
    guarded: bool


class Checker:
    """Answers for names, each looked up once."""

    def __init__(self):
        # Old names may warn when they are looked up.
        warnings.simplefilter("ignore")
        importlib.import_module("tensorflow")
        self._problems = {}

    def findings(self, file: str, text: str) -> list[Finding]:
        """What a source text, or the text of a notebook (.ipynb), uses that lacks or changed."""
        try:
            uses = uses_in(notebook_source(text) if file.endswith(".ipynb") else text)
        except NotPython3 as error:
            return [
                Finding(
                    file, error.line, UNREADABLE, "", f"cannot be read: {error}", "if it is Python 2, run 2to3", False
                )
            ]
        found = []
        for use in uses:
            problem = self._problem(use.name) or self._unknown_argument(use)
            if problem:
                kind, symbol, what, todo = problem
                found.append(Finding(file, use.line, kind, symbol, what, todo, use.guarded))
        return found

    def _problem(self, name):
        if name not in self._problems:
            self._problems[name] = self._look_up(name)[1]
        return self._problems[name]

    def _unknown_argument(self, use: Use):
        if not use.keywords:
            return None
        target, _ = self._look_up(use.name)
        try:
            parameters = inspect.signature(target).parameters
        except (TypeError, ValueError):
            return None
        if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
            return None
        unknown = [keyword for keyword in use.keywords if keyword not in parameters]
        if not unknown:
            return None
        return (LACKS, use.name, f"has no argument {', '.join(unknown)}", f"it takes {', '.join(parameters) or 'none'}")

    def _look_up(self, name: str) -> tuple[object, Optional[tuple]]:
        """(object, None), or (None, (kind, symbol, what happens, what to do))."""
        change = changes.change_of(name)
        if change:
            return None, (CHANGES, name, *change)
        parts = name.split(".")
        found, path = None, ""
        for position, part in enumerate(parts):
            path = f"{path}.{part}".lstrip(".")
            if position and not isinstance(found, types.ModuleType):
                # Members of classes and of values are not followed: instances have more than their classes.
                return None, None
            try:
                found = getattr(found, part) if position else importlib.import_module(part)
            except Exception as error:  # noqa: BLE001 (an import of old names can fail in any way)
                try:
                    found = importlib.import_module(path)
                except Exception as import_error:  # noqa: BLE001
                    reason = import_error if "successor" in str(import_error) or not position else error
                    return None, (LACKS, path, f"is not there: {reason}", _advice(path))
            left_out = _left_out(found, name)
            if left_out:
                return None, left_out
        return found, None


def _left_out(found, name: str):
    module = name.split(".")[2] if name.startswith("tensorflow.contrib.") else None
    if module is None:
        return None
    from tensorflow.contrib import left_out

    if module not in left_out.MODULES:
        return None
    why, instead = left_out.MODULES[module]
    return LACKS, name, f"is left out: {why}; it imports, and raises when it is used", f"use {instead}"


def _advice(path: str) -> str:
    if path.startswith("tensorflow.python."):
        return "it is private: use the public API, or ask for the old path to be added"
    return "see docs/migration.md"
