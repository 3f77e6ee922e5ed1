"""Names that Python, NumPy and protobuf have dropped since the days of 1.15, put back for the programs of those days.

One switch: TF_DEEPREC_PY_COMPAT, 1 (the default on the 1.x root) or 0. The names are set on the modules themselves, for the
whole process, and only where they are missing: what is there is never changed. What cannot be put back (methods of
built-in types, syntax) is listed in docs/limits.md.
"""

import builtins
import collections
import collections.abc
import inspect
import sys
import threading
import time
import types

from tensorflow.api_v1 import import_hooks
from tensorflow.deeprec import settings


def install() -> None:
    """Restores the names, unless the switch is off; modules that are not loaded get theirs when they are."""
    if not settings.PY_COMPAT:
        return
    from tensorflow.api_v1 import old_protos

    _restore(collections, {name: getattr(collections.abc, name) for name in collections.abc.__all__})
    _restore(inspect, {"ArgSpec": _ArgSpec, "formatargspec": _formatargspec, "getargspec": _getargspec})
    # The interval had no effect since Python 3.2.
    _restore(sys, {"getcheckinterval": lambda: 100, "setcheckinterval": lambda interval: None})
    _restore(time, {"clock": time.process_time})
    _restore(threading.Thread, {"isAlive": threading.Thread.is_alive})
    for module, names in _LATER.items():
        import_hooks.after_import(module, names)
    import_hooks.after_import("numpy", _numpy)
    old_protos.install()
    if sys.version_info >= (3, 12) and "imp" not in sys.modules:
        from tensorflow.api_v1.restored import imp_module

        sys.modules["imp"] = imp_module


def _restore(owner, names: dict) -> None:
    for name, value in names.items():
        # Not hasattr: NumPy answers for names that it has dropped with a warning.
        if name not in vars(owner):
            setattr(owner, name, value)


_ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def _getargspec(func):
    """(args, varargs, keywords, defaults) of a function without keyword-only arguments.

    Raises:
      ValueError: it has keyword-only arguments or annotations: use inspect.getfullargspec.
    """
    spec = inspect.getfullargspec(func)
    if spec.kwonlyargs or spec.annotations:
        raise ValueError("Function has keyword-only parameters or annotations, use inspect.signature() API")
    return _ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def _formatargspec(
    args,
    varargs=None,
    varkw=None,
    defaults=None,
    kwonlyargs=(),
    kwonlydefaults=None,
    annotations=None,
    formatarg=str,
    formatvarargs=lambda name: "*" + name,
    formatvarkw=lambda name: "**" + name,
    formatvalue=lambda value: "=" + repr(value),
):
    """An argument list as text, e.g. "(a, b=1, *args, **kwargs)"; annotations are left out."""
    del annotations
    first = len(args) - len(defaults or ())
    parts = [formatarg(a) + (formatvalue(defaults[i - first]) if i >= first else "") for i, a in enumerate(args)]
    if varargs:
        parts.append(formatvarargs(varargs))
    elif kwonlyargs:
        parts.append("*")
    kwonlydefaults = kwonlydefaults or {}
    parts += [formatarg(a) + (formatvalue(kwonlydefaults[a]) if a in kwonlydefaults else "") for a in kwonlyargs]
    if varkw:
        parts.append(formatvarkw(varkw))
    return f"({', '.join(parts)})"


def _numpy(np: types.ModuleType) -> None:
    plain = {name: getattr(builtins, name) for name in ("bool", "int", "float", "complex", "object", "str")}
    sized = {
        "bool8": np.bool_,
        "cfloat": np.complex128,
        "clongfloat": np.clongdouble,
        "complex_": np.complex128,
        "float_": np.float64,
        "longcomplex": np.clongdouble,
        "longfloat": np.longdouble,
        "object0": np.object_,
        "singlecomplex": np.complex64,
        "str0": np.str_,
        "string_": np.bytes_,
        "unicode_": np.str_,
    }
    constants = {"Inf": np.inf, "Infinity": np.inf, "infty": np.inf, "NaN": np.nan, "PINF": np.inf, "NINF": -np.inf}

    def find_common_type(array_types, scalar_types):
        """The type of arrays and scalars together: scalars count only where their kind is the higher one."""
        array, scalar = (np.result_type(*types) if len(types) else None for types in (array_types, scalar_types))
        if array is None or scalar is None:
            return scalar if array is None else array
        kinds = "buifcSUVO"
        return scalar if kinds.index(scalar.kind) > kinds.index(array.kind) else array

    functions = {
        "alltrue": np.all,
        "asfarray": lambda a, dtype=np.float64: np.asarray(
            a, dtype if np.issubdtype(dtype, np.inexact) else np.float64
        ),
        "asscalar": lambda a: np.asarray(a).item(),
        "cast": {t: (lambda x, t=t: np.asarray(x).astype(t)) for t in set(np.sctypeDict.values())},
        "cumproduct": np.cumprod,
        "find_common_type": find_common_type,
        "in1d": lambda ar1, ar2, assume_unique=False, invert=False: np.isin(
            np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert
        ),
        "mat": lambda data, dtype=None: np.asmatrix(data, dtype=dtype),
        "product": np.prod,
        "rank": np.ndim,
        "row_stack": np.vstack,
        "sometrue": np.any,
        "trapz": getattr(np, "trapezoid", None) or getattr(np, "trapz", None),
    }
    aliases = {"long": int, "unicode": str, "typeDict": np.sctypeDict}

    groups = {
        "int": [np.int8, np.int16, np.int32, np.int64],
        "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
        "float": [np.float16, np.float32, np.float64, np.longdouble],
        "complex": [np.complex64, np.complex128, np.clongdouble],
        "others": [bool, object, bytes, str, np.void],
    }
    _restore(np, {**plain, **sized, **constants, **functions, **aliases, "sctypes": groups})


def _html_escape(s, quote=None):
    """The text with &, < and > (and ", if quote is true) replaced by entities."""
    import html

    return html.escape(s, quote=False).replace('"', "&quot;") if quote else html.escape(s, quote=False)


def _linux_distribution(*unused, **unused_named):
    """(name, version, code name) of the Linux distribution, from /etc/os-release."""
    import platform

    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        facts = {}
    return facts.get("ID", ""), facts.get("VERSION_ID", ""), facts.get("VERSION_CODENAME", "")


def _gcd(a, b):
    """The greatest common divisor, with the sign of b, as `fractions.gcd` had it."""
    import math

    divisor = math.gcd(a, b)
    return -divisor if b < 0 or (b == 0 and a < 0) else divisor


def _test_names(module: types.ModuleType) -> None:
    case = module.TestCase
    pairs = {
        "assertAlmostEquals": "assertAlmostEqual",
        "assertEquals": "assertEqual",
        "assertItemsEqual": "assertCountEqual",
        "assertNotAlmostEquals": "assertNotAlmostEqual",
        "assertNotEquals": "assertNotEqual",
        "assertNotRegexpMatches": "assertNotRegex",
        "assertRaisesRegexp": "assertRaisesRegex",
        "assertRegexpMatches": "assertRegex",
        "assert_": "assertTrue",
    }
    _restore(case, {old: getattr(case, new) for old, new in pairs.items()})


# Modules that `import tensorflow` need not load.
_LATER = {
    "asyncio": lambda m: _restore(m, {"coroutine": types.coroutine, "async": m.ensure_future}),
    "base64": lambda m: _restore(m, {"encodestring": m.encodebytes, "decodestring": m.decodebytes}),
    "cgi": lambda m: _restore(m, {"escape": _html_escape}),
    "fractions": lambda m: _restore(m, {"gcd": _gcd}),
    "html.parser": lambda m: _restore(m.HTMLParser, {"unescape": lambda self, s: m.unescape(s)}),
    "platform": lambda m: _restore(m, {"dist": _linux_distribution, "linux_distribution": _linux_distribution}),
    "unittest.case": _test_names,
}
