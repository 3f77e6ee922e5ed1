"""Lets `_pb2.py` files load that protoc before 3.20 made.

Such a file builds its descriptors one by one, which protobuf refuses since 4.21 ("Descriptors cannot be created directly").
It also holds the serialized description of the whole .proto file. A loader takes that out of the source, and builds the
messages as files of today's protoc do.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading

# What only an old file has.
_MARKS = (b"_descriptor.FileDescriptor(", b"_reflection.GeneratedProtocolMessageType(")


class _OldProtoLoader(importlib.abc.Loader):
    """Builds the messages of one old file."""

    def __init__(self, loader, source: bytes):
        self._loader = loader
        self._source = source

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        from google.protobuf import descriptor_pool, symbol_database
        from google.protobuf.internal import builder

        tree = ast.parse(self._source)
        # Files that this one imports must be in the pool first; their names are part of the module, too.
        imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        imports = [node for node in imports if not _is_of_protobuf_itself(node)]
        exec(compile(ast.Module(imports, []), module.__file__, "exec"), module.__dict__)
        module.DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(serialized_file(tree))
        module._sym_db = symbol_database.Default()
        builder.BuildMessageAndEnumDescriptors(module.DESCRIPTOR, module.__dict__)
        builder.BuildTopDescriptorsAndMessages(module.DESCRIPTOR, module.__name__, module.__dict__)


def _is_of_protobuf_itself(node) -> bool:
    """Whether an import is one of the generated file's tools, which may be gone, and not of another _pb2 file."""
    if isinstance(node, ast.Import):
        return not any(alias.name.endswith("_pb2") for alias in node.names)
    names = [alias.name for alias in node.names]
    return not (node.module or "").endswith("_pb2") and not any(name.endswith("_pb2") for name in names)


def serialized_file(tree: ast.Module) -> bytes:
    """The serialized FileDescriptorProto in the syntax tree of an old file.

    Raises:
      ImportError: there is none.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        value = next((k.value for k in node.keywords if k.arg == "serialized_pb"), None)
        if value is None and getattr(node.func, "attr", "") == "AddSerializedFile" and node.args:
            value = node.args[0]
        # _b('...') was the way to write bytes for Python 2 and 3 alike.
        while isinstance(value, ast.Call) and value.args:
            value = value.args[0]
        if isinstance(value, ast.Constant) and value.value:
            return value.value if isinstance(value.value, bytes) else value.value.encode("latin1")
    raise ImportError("an old _pb2 file without its serialized description: make it anew with protoc")


class _OldProtoFinder(importlib.abc.MetaPathFinder):
    """Looks into the _pb2 files that the other finders find."""

    def __init__(self):
        self._asking = threading.local()

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.endswith("_pb2") or getattr(self._asking, "name", None) == fullname:
            return None
        outer = getattr(self._asking, "name", None)
        self._asking.name = fullname
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asking.name = outer
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return spec
        source = spec.loader.get_data(spec.origin)
        if any(mark in source for mark in _MARKS):
            spec.loader = _OldProtoLoader(spec.loader, source)
        return spec


def install() -> None:
    """Puts the finder in front of the others, once."""
    if not any(isinstance(finder, _OldProtoFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _OldProtoFinder())
