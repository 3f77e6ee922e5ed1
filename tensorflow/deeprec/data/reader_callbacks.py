"""The functions that the C++ datasets open files with: `reader` behind ctypes, which takes Python's lock for them.

The structure and the error codes are those of `core/kernels/columnar_file.h`.
"""

import atexit
import collections
import ctypes
import itertools
import logging

from tensorflow.deeprec import library

# absl::StatusCode
_INVALID_ARGUMENT, _NOT_FOUND, _PERMISSION_DENIED, _RESOURCE_EXHAUSTED = 3, 5, 7, 8
_FAILED_PRECONDITION, _INTERNAL, _UNAVAILABLE, _DATA_LOSS = 9, 13, 14, 15

_files = {}
_numbers = itertools.count(1)
_skipped = collections.Counter()

_INT, _TEXT, _ADDRESS = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p


class _Reader(ctypes.Structure):
    _fields_ = [
        (
            "open",
            ctypes.CFUNCTYPE(
                _INT, _TEXT, _TEXT, ctypes.POINTER(_TEXT), _INT, _INT, _INT, _INT, ctypes.POINTER(_INT), _ADDRESS, _INT
            ),
        ),
        ("read", ctypes.CFUNCTYPE(_INT, _INT, _INT, _INT, _ADDRESS, _ADDRESS, _INT)),
        ("close", ctypes.CFUNCTYPE(None, _INT)),
        ("skipped", ctypes.CFUNCTYPE(None, _TEXT, _TEXT)),
    ]


def skipped() -> dict[str, int]:
    """How often `skip_corrupted_data` passed over data in this process: {file: number of row groups, stripes or whole files}."""
    return dict(_skipped)


def register() -> None:
    """Registers the functions with the library, until Python exits."""
    fields = dict(_Reader._fields_)
    reader = _Reader(
        fields["open"](_open), fields["read"](_read), fields["close"](_close), fields["skipped"](_note_skipped)
    )
    set_reader = ctypes.CDLL(library.PATH).deeprec_set_file_reader
    set_reader.argtypes, set_reader.restype = [ctypes.POINTER(_Reader)], None
    set_reader(ctypes.byref(reader))

    # A thread of the runtime must not come for Python's lock when there is no Python. `reader` lives on in this function.
    def forget():
        set_reader(None)
        return reader

    atexit.register(forget)


def _open(path, format_, columns, num_columns, batch_size, count, index, num_parts, error, error_size):
    def do():
        from tensorflow.deeprec.data import reader

        names = [columns[i].decode() for i in range(num_columns)]
        opened = reader.open_file(path.decode(), format_.decode(), names, batch_size, count, index)
        num_parts[0] = opened.num_parts
        number = next(_numbers)
        _files[number] = opened
        return number

    return _guarded(do, path.decode(errors="replace"), error, error_size)


def _read(number, part, skip, stream, error, error_size):
    opened = _files[number]

    def do():
        opened.stream(part, skip)._export_to_c(stream)
        return 0

    return _guarded(do, opened.location, error, error_size, reading=True)


def _close(number):
    try:
        _files.pop(number).close()
    except Exception:
        logging.getLogger(__name__).exception("A columnar file did not close")


def _note_skipped(path, reason):
    name = path.decode(errors="replace")
    _skipped[name] += 1
    logging.getLogger("tensorflow").warning(
        "Data of %s is passed over, %d times now: %s", name, _skipped[name], reason.decode(errors="replace")
    )


def _guarded(function, path, error, error_size, reading=False):
    """What `function` returns, or the negative error code of what it raises, with the text in `error`."""
    try:
        value = function()
        ctypes.memset(error, 0, 1)  # says that the function has ended
        return value
    except BaseException as e:
        text = f"{path}: {e}" if path and path not in str(e) else str(e)
        data = text.encode()[: error_size - 1] + b"\0"
        ctypes.memmove(error, data, len(data))
        return -_code(e, reading)


def _code(e: BaseException, reading: bool) -> int:
    from tensorflow.deeprec.data import reader

    if isinstance(e, reader.CorruptedError):
        return _DATA_LOSS
    if isinstance(e, (FileNotFoundError, IsADirectoryError, NotADirectoryError)):
        return _NOT_FOUND
    if isinstance(e, PermissionError):
        return _PERMISSION_DENIED
    if isinstance(e, MemoryError):
        return _RESOURCE_EXHAUSTED
    if isinstance(e, ImportError):
        return _FAILED_PRECONDITION
    if reading and isinstance(e, (ValueError, OSError)):
        # pyarrow's errors are of these two kinds; the file was whole enough to be opened.
        return _DATA_LOSS if getattr(e, "errno", None) is None else _UNAVAILABLE
    if isinstance(e, OSError):
        return _UNAVAILABLE
    return _INVALID_ARGUMENT if isinstance(e, (ValueError, TypeError)) else _INTERNAL
