"""A check of a batch of rows at once, in NumPy: about 1 us per row of 40 columns.

It is stricter than needed: rows it can't vouch for are to be looked at one by one (`Format.explain`), so only unusual
rows pay.
"""

from typing import Sequence

import numpy as np

from common.text_format import LABEL, NUMBER, NUMBERS, Format

_MAX_DIGITS = 15  # of a number on the fast path: no float32 overflow is possible

# Byte codes. High nibble: demands of this byte on the one before it; low nibble: demands the byte fails as a
# predecessor. A pair is misplaced in a plain number when the nibbles share a bit:
# 1 "never" (fails always), 2 "after a digit", 4 "after a separator", 8 "not after a dot or minus".
_OTHER, _DIGIT, _DOT, _MINUS, _SEPARATOR = 0x17, 0x05, 0x2F, 0x4F, 0x83


class RowCheck:
    """Of a format with one of its delimiters."""

    def __init__(self, text_format: Format, delimiter: str):
        columns = text_format.columns
        self._fields = len(columns)
        self._lines = 2 if text_format.beside else 1
        self._own = len(text_format.own_columns)
        self._labels = [i for i, column in enumerate(columns) if column.kind == LABEL]
        self._is_number = np.array([column.kind in (LABEL, NUMBER) for column in columns])
        self._numbers = np.flatnonzero(self._is_number)
        self._runs = _runs(self._is_number)
        self._codes = _byte_codes(delimiter)
        list_separators = {column.separator for column in columns if column.kind == NUMBERS}
        if len(list_separators) > 1:
            raise ValueError(f"{text_format.name}: lists of numbers have the separators {sorted(list_separators)}")
        self._is_list = np.array([column.kind == NUMBERS for column in columns])
        self._list_runs = _runs(self._is_list)
        self._is_aligned = np.array([column.name in text_format.aligned for column in columns])
        self._aligned = np.flatnonzero(self._is_aligned)
        self._aligned_separator = text_format.aligned_separator.encode()
        self._ends_entry = np.zeros(256, bool)
        self._ends_entry[list(f"\n{delimiter}".encode() + self._aligned_separator)] = True
        # In a list its separator is what the delimiter is in the row.
        self._list_codes = _byte_codes(delimiter, *list_separators)

    def suspicious(self, texts: np.ndarray) -> Sequence[int]:
        """Indices of the rows that are not plainly well-formed; a superset of the malformed ones.

        Plainly well-formed: valid UTF-8, as many fields as columns, labels "0" or "1", each number empty or
        [-]digits[.digits] of at most 15 characters, and each item of a list of numbers likewise; aligned lists are.
        """
        everything = range(len(texts))
        joined = b"\n" + b"\n".join(texts) + b"\n"
        data = np.frombuffer(joined, np.uint8)
        if not joined.isascii():
            try:
                joined.decode()
            except UnicodeDecodeError:
                return everything
        # bytes.translate looks up three times faster than NumPy indexing.
        codes = np.frombuffer(joined.translate(self._codes), np.uint8)
        separators = np.flatnonzero(codes == _SEPARATOR)
        if len(separators) != self._fields * len(texts) + 1:
            return everything
        if joined.count(b"\n") != self._lines * len(texts) + 1:
            return everything
        if (data[separators[:: self._fields]] != ord("\n")).any():
            return everything
        if self._lines == 2 and (data[separators[self._own :: self._fields]] != ord("\n")).any():
            return everything

        # Field j of row i lies between bounds[i, j] and bounds[i, j + 1].
        bounds = np.lib.stride_tricks.sliding_window_view(separators, self._fields + 1)[:: self._fields]
        good = np.ones(len(texts), bool)
        for column in self._labels:
            starts = bounds[:, column] + 1
            good &= (bounds[:, column + 1] == starts + 1) & ((data[starts] | 1) == ord("1"))
        widths = bounds[:, self._numbers + 1] - bounds[:, self._numbers]
        good &= (widths <= _MAX_DIGITS + 1).all(axis=1)

        good &= ~_any_misplaced(codes, bounds[:, self._runs])
        dots = np.flatnonzero(codes == _DOT)
        good[self._rows_of(_second_dots(separators, dots), separators, self._is_number)] = False
        if self._is_list.any():
            codes = np.frombuffer(joined.translate(self._list_codes), np.uint8)
            good &= ~_any_misplaced(codes, bounds[:, self._list_runs])
            ends = np.flatnonzero(codes == _SEPARATOR)
            long = ends[:-1][np.diff(ends) > _MAX_DIGITS + 1] + 1
            for places in (long, _second_dots(ends, dots)):
                good[self._rows_of(places, separators, self._is_list)] = False
        if self._is_aligned.any():
            good &= self._equally_long(data, bounds)
            inner = np.flatnonzero(data == ord(self._aligned_separator))
            empty = inner[self._ends_entry[data[inner - 1]] | self._ends_entry[data[inner + 1]]]
            good[self._rows_of(empty, separators, self._is_aligned)] = False
        return np.flatnonzero(~good)

    def _equally_long(self, data: np.ndarray, bounds: np.ndarray) -> np.ndarray:
        """bool [rows]: whether the aligned lists of a row have as many entries."""
        before = np.searchsorted(np.flatnonzero(data == ord(self._aligned_separator)), bounds)
        starts, ends = bounds[:, self._aligned], bounds[:, self._aligned + 1]
        entries = before[:, self._aligned + 1] - before[:, self._aligned] + (ends > starts + 1)
        return (entries == entries[:, :1]).all(axis=1)

    def _rows_of(self, places: np.ndarray, separators: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Rows of those of the places in the text that are in one of the columns (bool by column)."""
        fields = np.searchsorted(separators, places) - 1
        return fields[columns[fields % self._fields]] // self._fields


def _runs(chosen: np.ndarray) -> np.ndarray:
    """First and last + 1 of each run of neighbouring columns that are chosen."""
    return np.flatnonzero(np.diff(np.concatenate(([False], chosen, [False])).astype(np.int8)))


def _any_misplaced(codes: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """bool [rows]: whether there is a misplaced pair (i, i + 1) from the separator before a run to the one behind it.

    Args:
      spans: the places of those separators, [rows, 2 runs].
    """
    misplaced = np.empty(len(codes), bool)
    misplaced[:-1] = (codes[:-1] & (codes[1:] >> 4)) != 0
    misplaced[-1] = False
    return np.logical_or.reduceat(misplaced, spans.ravel())[::2].reshape(len(spans), -1).any(axis=1)


def _second_dots(ends: np.ndarray, dots: np.ndarray) -> np.ndarray:
    """Dots that are not the first between their neighbours among the ends; pairs can't see them."""
    parts = np.searchsorted(ends, dots)
    return dots[1:][parts[1:] == parts[:-1]]


def _byte_codes(*separators: str) -> bytes:
    codes = np.full(256, _OTHER, np.uint8)
    codes[ord("0") : ord("9") + 1] = _DIGIT
    codes[ord(".")] = _DOT
    codes[ord("-")] = _MINUS
    codes[[ord(separator) for separator in (*separators, "\n")]] = _SEPARATOR
    return codes.tobytes()
