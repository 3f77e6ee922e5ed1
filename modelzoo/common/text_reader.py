"""tf.data input for delimited text files: fast on good rows, exact about bad ones.

The pipeline is TextLineDataset -> shuffle -> batch -> check -> decode. Two decisions shape it:

* **A row carries its address.** Beside every line runs one int64, file index and line number, so shuffle and
  parallel maps can't blur which row was malformed.
* **A batch is a number of lines, not of good rows.** Malformed rows are taken out of their batch, which then is shorter.
  So `lines_read` alone says where the input stands, and a resumed run continues on exactly the next line whatever was skipped.

The check looks at the batch's bytes at once (`row_check`) and only at unusual rows one by one.
"""

import threading
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import tensorflow as tf

from common.row_check import RowCheck
from common.text_file import TextFile
from common.text_format import Format

_LINE_BITS = 40
_DECODE_THREADS = 2
_PREFETCH = 4
_FAILED = np.int64(-1)  # in place of the number of lines
# These functions have no Python control flow on tensors; looking for it takes a second of every start.
_as_it_is = tf.autograph.experimental.do_not_convert


class Batch(NamedTuple):
    """One batch of B good rows out of the sum of `lines` lines.

    features, labels: see Format.decode.
    lines: int64 [1], lines this batch took from the files; `lines - B` of them were malformed. Batches can be concatenated
      along their first dimension.
    """

    features: Dict[str, tf.Tensor]
    labels: Union[tf.Tensor, Dict[str, tf.Tensor]]
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

    def report(self, files: Sequence[TextFile], address: int, reason: str) -> None:
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


def lines_dataset(files: Sequence[TextFile]) -> tf.data.Dataset:
    """Dataset of (address int64, line string) over all data lines of `files`, in order.

    To a line is joined that of the second file, for a format that has one (see text_format.Format).
    """
    first_lines = [(index << _LINE_BITS) + 1 + file.has_header for index, file in enumerate(files)]

    @_as_it_is
    def one_file(path, beside, first_line, skip):
        addresses = tf.data.Dataset.range(first_line, np.iinfo(np.int64).max)
        lines = tf.data.TextLineDataset(path).skip(skip)
        if files[0].beside:
            lines = _joined(lines, tf.data.TextLineDataset(beside).skip(skip))
        return tf.data.Dataset.zip((addresses, lines))

    names = tf.data.Dataset.from_tensor_slices(
        (
            [file.path for file in files],
            [file.beside for file in files],
            np.array(first_lines, np.int64),
            np.array([file.has_header for file in files], np.int64),
        )
    )
    return names.flat_map(one_file)


def work_dataset(files: Sequence[TextFile], work: tf.Tensor) -> tf.data.Dataset:
    """Likewise over the data lines of `path?start=a&end=b`, path being that of one of the files."""
    from tensorflow.python.ops.work_queue import parse_slice  # the released TensorFlow has none

    path, start, end = parse_slice(work)
    file = tf.argmax(tf.cast(tf.equal([file.path for file in files], path), tf.int32))
    first_line, header, beside = (
        tf.gather(values, file)
        for values in (
            np.array([(index << _LINE_BITS) + 1 + file.has_header for index, file in enumerate(files)], np.int64),
            np.array([file.has_header for file in files], np.int64),
            [file.beside for file in files],
        )
    )
    lines = tf.data.TextLineDataset(path).skip(header + start)
    if files[0].beside:
        lines = _joined(lines, tf.data.TextLineDataset(beside).skip(header + start))
    addresses = tf.data.Dataset.range(first_line + start, np.iinfo(np.int64).max)
    return tf.data.Dataset.zip((addresses, lines)).take(end - start)


def _joined(lines: tf.data.Dataset, beside: tf.data.Dataset) -> tf.data.Dataset:
    both = tf.data.Dataset.zip((lines, beside))
    return both.map(_as_it_is(lambda left, right: tf.strings.join([left, right], "\n")))


def batches(
    text_format: Format, lines: tf.data.Dataset, files: Sequence[TextFile], batch_size: int, bad_rows: BadRows
) -> tf.data.Dataset:
    """Turns a (address, line) dataset into one of (features, labels, lines), see `Batch`."""
    delimiter = files[0].delimiter
    row_check = RowCheck(text_format, delimiter)

    def check(addresses: np.ndarray, texts: np.ndarray) -> np.ndarray:
        bad = []
        for row in row_check.suspicious(texts):
            reason = text_format.explain(texts[row], delimiter)
            if reason:
                bad.append(row)
                bad_rows.report(files, int(addresses[row]), reason)
        return np.delete(np.arange(len(texts), dtype=np.int64), bad)

    @_as_it_is
    def decode(addresses, texts):
        good = tf.numpy_function(check, [addresses, texts], tf.int64)
        good.set_shape([None])
        features, labels = text_format.decode(tf.gather(texts, good), delimiter)
        lines = tf.size(texts, out_type=tf.int64)
        if not bad_rows.skip:
            lines = tf.where(tf.equal(tf.size(good, out_type=tf.int64), lines), lines, _FAILED)
        # Of unknown length: micro batches have several of them.
        return features, labels, tf.placeholder_with_default(tf.reshape(lines, [1]), [None])

    # All sizes are given, so there is nothing to tune; and the tuning thread may keep a session from closing for seconds.
    options = tf.data.Options()
    options.autotune.enabled = False
    decoded = lines.batch(batch_size).map(decode, num_parallel_calls=_DECODE_THREADS)
    if not bad_rows.skip:
        # Not an exception in `check`: TensorFlow would log its traceback.
        decoded = decoded.take_while(_as_it_is(lambda features, labels, lines: tf.not_equal(lines[0], _FAILED)))
    return decoded.prefetch(_PREFETCH).with_options(options)


def training_batches(
    text_format: Format,
    files: Sequence[TextFile],
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

    @_as_it_is
    def one_pass(number):
        lines = lines_dataset(files).take(rows)
        if shuffle_buffer > 1:
            lines = lines.shuffle(shuffle_buffer, seed=seed + number, reshuffle_each_iteration=False)
        return lines.skip(tf.where(tf.equal(number, start_pass), tf.constant(start_in_pass, tf.int64), 0))

    passes = tf.data.Dataset.range(start_pass, np.iinfo(np.int64).max)
    lines = passes.flat_map(one_pass).take(end_line - start_line)
    return batches(text_format, lines, files, batch_size, bad_rows)


def batches_of_works(
    text_format: Format,
    files: Sequence[TextFile],
    batch_size: int,
    bad_rows: BadRows,
    *,
    works: tf.data.Dataset,
    shuffle_buffer: int,
    seed: int,
) -> tf.data.Dataset:
    """Batches of the lines of works, one work after the other; see `work_dataset`."""

    @_as_it_is
    def one_work(work):
        lines = work_dataset(files, work)
        return lines.shuffle(shuffle_buffer, seed=seed) if shuffle_buffer > 1 else lines

    return batches(text_format, works.flat_map(one_work), files, batch_size, bad_rows)
