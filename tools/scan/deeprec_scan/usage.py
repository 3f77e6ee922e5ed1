"""What a source file takes from TensorFlow: read from its syntax tree, nothing of it is run."""

import ast
import json
import re
import warnings
from typing import NamedTuple, Optional

# Packages whose names are followed.
PACKAGES = ("tensorflow", "tensorflow_core", "tensorflow_estimator", "tf_slim", "keras")
_TOO_DEEP = "its expressions or blocks are nested too deeply"


class Use(NamedTuple):
    """One place where a file names something of TensorFlow."""

    line: int
    # Dotted from the package on: "tensorflow.contrib.layers.fully_connected".
    name: str
    # Argument names of the call, where the name is called at once; None where it is not.
    keywords: Optional[tuple[str, ...]]
    # Whether an ImportError or AttributeError there is caught.
    guarded: bool


class NotPython3(Exception):
    """The file does not parse, or is nested too deeply to be followed; `line` says where."""

    def __init__(self, line: int, reason: str):
        super().__init__(reason)
        self.line = line


def uses_in(source: str) -> list[Use]:
    """The uses in a source text, in the order of their lines, each name once a line.

    Raises:
      NotPython3: the text is no Python 3, or is nested too deeply.
    """
    visitor = _Visitor()
    try:
        visitor.visit(_parsed(source))
    except (SyntaxError, ValueError) as error:
        raise NotPython3(getattr(error, "lineno", None) or 1, str(error)) from None
    except (MemoryError, RecursionError):
        # The parser of Python raises the first, where there is memory enough.
        raise NotPython3(1, _TOO_DEEP) from None
    unique = {(use.line, use.name): use for use in visitor.uses}
    return sorted(unique.values(), key=lambda use: (use.line, use.name))


# Lines for IPython: "%magic", "!command", "?name", "name?", "names = !command".
_IPYTHON = re.compile(r"\s*[%!?]|[^#]*\?\s*$|\s*[\w.,\s]+=\s*[%!]")
# Cells that begin with "%%": their text is Python after these.
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun")


def notebook_source(text: str) -> str:
    """The code cells of a Jupyter notebook as one text; lines that are for IPython do nothing in it.

    Raises:
      NotPython3: the text is no notebook.
    """
    try:
        notebook = json.loads(text)
        # Format 3 had sheets.
        sheets = [notebook] if "cells" in notebook else notebook["worksheets"]
        cells = [cell for sheet in sheets for cell in sheet["cells"] if cell["cell_type"] == "code"]
        code = ["".join(cell["source"] if "source" in cell else cell["input"]) for cell in cells]
    except RecursionError:
        raise NotPython3(1, _TOO_DEEP) from None
    except (ValueError, KeyError, TypeError) as error:
        raise NotPython3(1, f"not a notebook: {error}") from None
    return "\n".join(map(_without_ipython, code))


def _without_ipython(cell: str) -> str:
    lines = cell.splitlines()
    if cell.startswith("%%") and not cell.startswith(_PYTHON_CELLS):
        return "\n" * (len(lines) - 1)
    try:
        _parsed(cell)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        # A block may have no other line.
        lines = [f"{line[: len(line) - len(line.lstrip())]}pass" if _IPYTHON.match(line) else line for line in lines]
    return "\n".join(lines)


def _parsed(source: str) -> ast.AST:
    with warnings.catch_warnings():
        # Old code has invalid escapes; they are not what is asked for.
        warnings.simplefilter("ignore")
        return ast.parse(source)


class _Visitor(ast.NodeVisitor):
    """Follows imports and plain assignments of modules; a name that is also something else is followed all the same."""

    def __init__(self):
        self.uses = []
        # Local name -> dotted name.
        self._known = {}
        self._guards = 0
        self._called = {}

    def _add(self, node, name, keywords=None):
        self.uses.append(Use(node.lineno, name, keywords, self._guards > 0))

    def visit_Import(self, node):
        for item in node.names:
            top = item.name.partition(".")[0]
            if top in PACKAGES:
                self._known[item.asname or top] = item.name if item.asname else top
                self._add(node, item.name)

    def visit_ImportFrom(self, node):
        if node.level or not node.module or node.module.partition(".")[0] not in PACKAGES:
            return
        for item in node.names:
            if item.name == "*":
                self._add(node, node.module)
            else:
                name = f"{node.module}.{item.name}"
                self._known[item.asname or item.name] = name
                self._add(node, name)

    def visit_Try(self, node):
        caught = [n for handler in node.handlers for n in ast.walk(handler.type or ast.Name("Exception"))]
        names = {getattr(n, "id", getattr(n, "attr", "")) for n in caught}
        guard = bool(names & {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"})
        self._guards += guard
        for child in node.body:
            self.visit(child)
        self._guards -= guard
        for child in [*node.handlers, *node.orelse, *node.finalbody]:
            self.visit(child)

    def visit_Assign(self, node):
        self.generic_visit(node)
        name = self._dotted(node.value)
        if name and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._known[node.targets[0].id] = name

    def visit_Call(self, node):
        if self._dotted(node.func):
            # Positional and **unknown arguments are not looked at.
            self._called[node.func] = tuple(k.arg for k in node.keywords if k.arg)
        self.generic_visit(node)

    def visit_Attribute(self, node):
        name = self._dotted(node)
        if name:
            self._add(node, name, self._called.get(node))
        else:
            self.generic_visit(node)

    def visit_Name(self, node):
        if node in self._called:
            self._add(node, self._known[node.id], self._called[node])

    def _dotted(self, node):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in self._known:
            return ".".join([self._known[node.id], *reversed(parts)])
        return None
