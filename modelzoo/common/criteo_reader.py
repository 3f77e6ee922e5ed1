"""tf.data input for Criteo files: fast on good rows, exact about bad ones.

The pipeline is TextLineDataset -> shuffle -> batch -> check -> decode_csv. Two decisions shape it:

* **A row carries its address.** Beside every line runs one int64, file index and line number, so shuffle and
  parallel maps can't blur which row was malformed.
* **A batch is a number of lines, not of good rows.** Malformed rows are taken out of their batch, which then is shorter.
  So `lines_read` alone says where the input stands, and a resumed run continues on exactly the next line whatever was skipped.

The check runs in NumPy on the batch's bytes (about 1 us per row, beside 5 us for decode_csv). It is stricter than
needed: rows it can't vouch for are looked at one by one in Python, so only unusual rows pay.
"""

import re
import threading
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow as tf

from common import criteo

_LINE_BITS = 40
_FIELDS = len(criteo.COLUMNS)
_CHECKED = 1 + len(criteo.NUMERIC)  # label and numbers; a category may hold any text
_MAX_DIGITS = 15  # of a number on the fast path: no float32 overflow is possible
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECODE_THREADS = 2
_PREFETCH = 4
_FAILED = np.int64(-1)  # in place of the number of lines

# Byte codes of the fast check. High nibble: demands of this byte on the one before it; low nibble: demands the
# byte fails as a predecessor. A pair is misplaced in a plain number when the nibbles share a bit:
# 1 "never" (fails always), 2 "after a digit", 4 "after a separator", 8 "not after a dot or minus".
_OTHER, _DIGIT, _DOT, _MINUS, _SEPARATOR = 0x17, 0x05, 0x2F, 0x4F, 0x83


class Batch(NamedTuple):
    """One batch of B good rows out of `lines` lines.

    features: column name -> float32 [B] for I1..I13 (missing: 0), string [B] for C1..C26 (missing: " ").
    labels: float32 [B], 0 or 1.
    lines: int64 scalar, lines this batch took from the files; `lines - B` of them were malformed.
    """

    features: Dict[str, tf.Tensor]
    labels: tf.Tensor
    lines: tf.Tensor


class BadRows:
    """Collects malformed rows while the pipeline runs (it runs ahead of the training).

    With `skip`, each new one is given to `warn` once, up to `limit` of them. Without, the data set ends before the first
    batch that has one, and `failure` tells which it was.
    """

    def __init__(self, skip: bool, warn: Callable[[str], None], limit: int = 10):
        self.skip = skip
        self._warn = warn
        self._limit = limit
        self._seen = set()
        self._failures: List[Tuple[int, str]] = []
        self._lock = threading.Lock()

    def report(self, files: Sequence[criteo.CriteoFile], address: int, reason: str) -> None:
        where = f"{files[address >> _LINE_BITS].path}:{address & ((1 << _LINE_BITS) - 1)}"
        with self._lock:
            if not self.skip:
                self._failures.append((address, f"{where}: {reason}"))
                return
            if where in self._seen or len(self._seen) > self._limit:
                return
            self._seen.add(where)
            if len(self._seen) <= self._limit:
                self._warn(f"{where}: {reason}; row skipped")
            else:
                self._warn("further malformed rows are only counted")

    @property
    def failure(self) -> Optional[str]:
        """The first malformed row in the order of the files among those met so far; None with `skip`."""
        with self._lock:
            return min(self._failures)[1] if self._failures else None


def lines_dataset(files: Sequence[criteo.CriteoFile]) -> tf.data.Dataset:
    """Dataset of (address int64, line string) over all data lines of `files`, in order."""
    first_lines = [(index << _LINE_BITS) + 1 + file.has_header for index, file in enumerate(files)]

    def one_file(path, first_line, skip):
        addresses = tf.data.Dataset.range(first_line, np.iinfo(np.int64).max)
        return tf.data.Dataset.zip((addresses, tf.data.TextLineDataset(path).skip(skip)))

    names = tf.data.Dataset.from_tensor_slices(
        (
            [file.path for file in files],
            np.array(first_lines, np.int64),
            np.array([file.has_header for file in files], np.int64),
        )
    )
    return names.flat_map(one_file)


def batches(
    lines: tf.data.Dataset, files: Sequence[criteo.CriteoFile], batch_size: int, bad_rows: BadRows
) -> tf.data.Dataset:
    """Turns a (address, line) dataset into one of (features, labels, lines), see `Batch`."""
    delimiter = files[0].delimiter

    def check(addresses: np.ndarray, texts: np.ndarray) -> np.ndarray:
        good = np.arange(len(texts), dtype=np.int64)
        suspects = suspicious_rows(texts, delimiter)
        bad = []
        for row in suspects:
            reason = explain(texts[row], delimiter)
            if reason:
                bad.append(row)
                bad_rows.report(files, int(addresses[row]), reason)
        return np.delete(good, bad)

    defaults = [[0.0]] + [[criteo.MISSING_NUMBER]] * len(criteo.NUMERIC)
    defaults += [[criteo.MISSING_CATEGORY]] * len(criteo.CATEGORICAL)

    def decode(addresses, texts):
        good = tf.numpy_function(check, [addresses, texts], tf.int64)
        good.set_shape([None])
        columns = tf.io.decode_csv(tf.gather(texts, good), defaults, field_delim=delimiter, use_quote_delim=False)
        features = dict(zip(criteo.COLUMNS, columns))
        lines = tf.size(texts, out_type=tf.int64)
        if not bad_rows.skip:
            lines = tf.where(tf.equal(tf.size(good, out_type=tf.int64), lines), lines, _FAILED)
        return features, features.pop(criteo.LABEL), lines

    # All sizes are given, so there is nothing to tune; and the tuning thread may keep a session from closing for seconds.
    options = tf.data.Options()
    options.autotune.enabled = False
    decoded = lines.batch(batch_size).map(decode, num_parallel_calls=_DECODE_THREADS)
    if not bad_rows.skip:
        # Not an exception in `check`: TensorFlow would log its traceback.
        decoded = decoded.take_while(lambda features, labels, lines: tf.not_equal(lines, _FAILED))
    return decoded.prefetch(_PREFETCH).with_options(options)


def training_batches(
    files: Sequence[criteo.CriteoFile],
    batch_size: int,
    bad_rows: BadRows,
    *,
    rows: int,
    shuffle_buffer: int,
    seed: int,
    start_line: int,
    end_line: int,
) -> tf.data.Dataset:
    """Lines [start_line, end_line) of the endless sequence of shuffled passes over the first `rows` lines.

    Pass p is shuffled with the seed (seed, p), so the sequence depends on files, seed and buffer only: started at line n it
    gives what an iterator from line 0 gives after n lines.
    """
    start_pass, start_in_pass = divmod(start_line, rows)

    def one_pass(number):
        lines = lines_dataset(files).take(rows)
        if shuffle_buffer > 1:
            lines = lines.shuffle(shuffle_buffer, seed=seed + number, reshuffle_each_iteration=False)
        return lines.skip(tf.where(tf.equal(number, start_pass), tf.constant(start_in_pass, tf.int64), 0))

    passes = tf.data.Dataset.range(start_pass, np.iinfo(np.int64).max)
    lines = passes.flat_map(one_pass).take(end_line - start_line)
    return batches(lines, files, batch_size, bad_rows)


def suspicious_rows(texts: np.ndarray, delimiter: str) -> Sequence[int]:
    """Indices of the rows that are not plainly well-formed; a superset of the malformed ones.

    Plainly well-formed: valid UTF-8, 40 fields, label "0" or "1", each number empty or [-]digits[.digits] of at
    most 15 characters.
    """
    everything = range(len(texts))
    joined = b"\n".join(texts) + b"\n"
    data = np.frombuffer(joined, np.uint8)
    if not joined.isascii():
        try:
            joined.decode()
        except UnicodeDecodeError:
            return everything
    # bytes.translate looks up three times faster than NumPy indexing.
    codes = np.frombuffer(joined.translate(_BYTE_CODES[delimiter]), np.uint8)
    ends = np.flatnonzero(codes == _SEPARATOR)
    if len(ends) != _FIELDS * len(texts):
        return everything
    row_ends = ends[_FIELDS - 1 :: _FIELDS]
    if (data[row_ends] != ord("\n")).any() or joined.count(b"\n") != len(texts):
        return everything

    ends = ends.reshape(-1, _FIELDS)[:, :_CHECKED]
    starts = np.concatenate(([0], row_ends[:-1] + 1))
    good = (ends[:, 0] == starts + 1) & ((data[starts] | 1) == ord("1"))
    good &= (np.diff(ends, axis=1) <= _MAX_DIGITS + 1).all(axis=1)

    # Pairs (i, i + 1) from the end of the label to the end of the last number, reduced per row.
    misplaced = (codes[:-1] & (codes[1:] >> 4)) != 0
    good &= ~np.logical_or.reduceat(misplaced, ends[:, [0, -1]].ravel())[::2]
    # Pairs can't see a second dot in one number.
    dots = np.flatnonzero(codes == _DOT)
    if len(dots):
        fields = np.searchsorted(ends.ravel(), dots)
        good[fields[1:][fields[1:] == fields[:-1]] // _CHECKED % len(good)] = False
    return np.flatnonzero(~good)


def explain(text: bytes, delimiter: str) -> Optional[str]:
    """Why a line is malformed, or None for a good one. This is the definition of a good row."""
    try:
        fields = text.decode().split(delimiter)
    except UnicodeDecodeError as error:
        return f"not valid UTF-8 (byte {text[error.start]:#04x} at column {error.start + 1})"
    if not text.strip():
        return "blank line"
    if len(fields) != _FIELDS:
        return f"{len(fields)} columns, expected {_FIELDS}"
    if not (_NUMBER.fullmatch(fields[0]) and float(fields[0]) in (0, 1)):
        return f"{criteo.LABEL} is {_shorten(fields[0])}, expected 0 or 1"
    for name, field in zip(criteo.NUMERIC, fields[1:]):
        if field and not _NUMBER.fullmatch(field):
            return f"{name} is {_shorten(field)}, expected a number or nothing"
        if field and abs(float(field)) > np.finfo(np.float32).max:
            return f"{name} is {_shorten(field)}, too large for float32"
    return None


def _byte_codes(delimiter: str) -> bytes:
    codes = np.full(256, _OTHER, np.uint8)
    codes[ord("0") : ord("9") + 1] = _DIGIT
    codes[ord(".")] = _DOT
    codes[ord("-")] = _MINUS
    codes[[ord(delimiter), ord("\n")]] = _SEPARATOR
    return codes.tobytes()


_BYTE_CODES = {delimiter: _byte_codes(delimiter) for delimiter in ",\t"}


def _shorten(field: str) -> str:
    return repr(field if len(field) <= 40 else field[:37] + "...")
