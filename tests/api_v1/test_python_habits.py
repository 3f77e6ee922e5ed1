"""Names that Python and NumPy dropped are back, and old _pb2.py files load."""

import sys

import pytest

_NAMES = """
import collections, inspect, time, base64, fractions, platform, threading, cgi, asyncio, warnings
warnings.simplefilter("error")
import numpy as np, tensorflow as tf
assert (np.int, np.float, np.bool, np.object, np.str, np.complex, np.long) == (int, float, bool, object, str, complex, int)
assert np.asscalar(np.array([3])) == 3 and np.zeros(2, np.int).dtype == np.int64
assert np.float_ is np.float64 and np.Inf == np.inf
assert isinstance({}, collections.Mapping) and isinstance([], collections.Sequence)
def f(a, b=1, *args, **kwargs): pass
spec = inspect.getargspec(f)
assert spec == (["a", "b"], "args", "kwargs", (1,)) and spec.keywords == "kwargs"
assert inspect.formatargspec(*inspect.getfullargspec(f)[:4]) == "(a, b=1, *args, **kwargs)"
assert time.clock() <= time.process_time()
assert base64.decodestring(base64.encodestring(b"abc")) == b"abc"
assert (fractions.gcd(12, 18), fractions.gcd(12, -18)) == (6, -6)
assert len(platform.dist()) == 3 and cgi.escape("<&>") == "&lt;&amp;&gt;"
assert not threading.Thread().isAlive() and asyncio.coroutine
"""


def test_dropped_names_are_back(check_python):
    code = (
        _NAMES
        if sys.version_info < (3, 13)
        else _NAMES.replace("cgi, ", "").replace('and cgi.escape("<&>") == "&lt;&amp;&gt;"', "")
    )
    check_python(code.replace('warnings.simplefilter("error")\n', ""))
    check_python(
        "import unittest, tensorflow\nunittest.TestCase().assertEquals(1, 1); unittest.TestCase().assertItemsEqual([1], [1])"
    )


def test_an_html_parser_unescapes(check_python):
    code = "import tensorflow, html.parser\nprint(html.parser.HTMLParser().unescape('a &lt; b &amp;&#33;'))"
    assert check_python(code) == "a < b &!"


def test_the_check_interval_is_taken(check_python):
    assert check_python("import sys, tensorflow\nsys.setcheckinterval(5)\nprint(sys.getcheckinterval() > 0)") == "True"


def test_the_switch_turns_them_off(check_python):
    out = check_python(
        "import collections, inspect, numpy as np, tensorflow\n"
        "print(hasattr(collections, 'Mapping'), hasattr(inspect, 'getargspec'), 'int' in vars(np))",
        TF_DEEPREC_PY_COMPAT="0",
    )
    assert out == "False False False"


def test_the_2x_root_is_left_alone(check_python):
    code = "import collections, tensorflow; print(hasattr(collections, 'Mapping'))"
    assert check_python(code, TF_DEEPREC_ROOT="2") == "False"


def test_another_value_is_refused(run_python):
    assert (
        "TF_DEEPREC_PY_COMPAT is 'yes', but must be one of 0, 1"
        in run_python("import tensorflow", TF_DEEPREC_PY_COMPAT="yes").stderr
    )


def _old_file(name, imports="", byte_literal=False):
    """The source of an old generated file for a message with one int32, one repeated string and an enum."""
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name=f"{name}.proto", package=name, syntax="proto3")
    message = file.message_type.add(name="Item")
    message.field.add(name="id", number=1, type=5, label=1)
    message.field.add(name="tags", number=2, type=9, label=3)
    file.enum_type.add(name="Kind").value.add(name="NONE", number=0)
    if imports:
        file.dependency.append(f"{imports}.proto")
        message.field.add(name="other", number=3, type=11, label=1, type_name=f".{imports}.Item")
    data = file.SerializeToString()
    literal = repr(data) if byte_literal else f"_b({data.decode('latin1')!r})"
    needs = f"import {imports}_pb2 as {imports}__pb2\n" if imports else ""
    return (
        "import sys\n_b=sys.version_info[0]<3 and (lambda x:x) or (lambda x:x.encode('latin1'))\n"
        "from google.protobuf import descriptor as _descriptor\nfrom google.protobuf import message as _message\n"
        f"from google.protobuf import reflection as _reflection\n{needs}"
        f"DESCRIPTOR = _descriptor.FileDescriptor(\n  name='{name}.proto',\n  package='{name}',\n  syntax='proto3',\n"
        f"  serialized_pb={literal}\n)\n"
        "_ITEM = _descriptor.Descriptor(name='Item', full_name='x.Item')\n"
        "Item = _reflection.GeneratedProtocolMessageType('Item', (_message.Message,), {'DESCRIPTOR': _ITEM})\n"
    )


@pytest.fixture
def old_protos(tmp_path):
    (tmp_path / "olda_pb2.py").write_text(_old_file("olda"))
    (tmp_path / "oldb_pb2.py").write_text(_old_file("oldb", imports="olda", byte_literal=True))


_USE = """
import sys; sys.path.insert(0, "")
import tensorflow as tf, oldb_pb2, olda_pb2
item = oldb_pb2.Item(id=3, tags=["a", "b"], other=olda_pb2.Item(id=4))
again = oldb_pb2.Item.FromString(item.SerializeToString())
print(again == item, again.other.id, list(again.tags), oldb_pb2._ITEM.full_name, oldb_pb2.NONE, oldb_pb2.olda__pb2.Item is olda_pb2.Item)
"""


def test_an_old_generated_file_loads(old_protos, check_python):
    assert check_python(_USE) == "True 4 ['a', 'b'] oldb.Item 0 True"


def test_without_the_switch_protobuf_refuses_it(old_protos, run_python):
    assert run_python(_USE, TF_DEEPREC_PY_COMPAT="0").returncode != 0


def test_an_old_file_without_its_description_is_refused(tmp_path, run_python):
    (tmp_path / "bad_pb2.py").write_text(
        "from google.protobuf import descriptor as _descriptor\nD = _descriptor.FileDescriptor()\n"
    )
    done = run_python("import sys; sys.path.insert(0, '')\nimport tensorflow, bad_pb2")
    assert "without its serialized description" in done.stderr


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has imp")
def test_imp_is_back(tmp_path, check_python):
    (tmp_path / "part.py").write_text("X = 3\n")
    assert check_python("import tensorflow, imp; print(imp.load_source('part', 'part.py').X)") == "3"
