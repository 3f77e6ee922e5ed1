"""What a delimited text format is: its columns, what a good row is, and how rows become features and labels."""

import dataclasses
import re
from typing import Dict, NamedTuple, Optional, Tuple, Union

import numpy as np
import tensorflow as tf

LABEL, NUMBER, NUMBERS, TEXT = "label", "number", "numbers", "text"
_LARGEST = float(np.finfo(np.float32).max)
_NUMBER_PATTERN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Column(NamedTuple):
    """kind: LABEL, 0 or 1; NUMBER, finite in float32, or empty; NUMBERS, a list of such; TEXT, anything.
    missing: what stands for an empty field. separator: of the items of NUMBERS."""

    name: str
    kind: str
    missing: Union[float, str]
    separator: str = ""


def label(name: str) -> Column:
    return Column(name, LABEL, 0.0)


def number(name: str, missing: float = 0.0) -> Column:
    return Column(name, NUMBER, missing)


def numbers(name: str, separator: str) -> Column:
    """A list of numbers in a field, which stays a string; empty items do not count."""
    return Column(name, NUMBERS, "", separator)


def text(name: str, missing: str = " ") -> Column:
    return Column(name, TEXT, missing)


@dataclasses.dataclass(frozen=True)
class Format:
    """A format of UTF-8 text with one row a line. Quotes have no meaning.

    Attributes:
      name: for messages.
      columns: in the order of the fields.
      delimiters: the characters that may separate fields; a file uses one of them.
      layout: the columns in short, for messages.
      beside: how many of the last columns stand in a second file with as many lines, named with `suffix`.
      suffix: of the name of the second file.
      aligned: names of text columns that are lists with the same number of entries, none of them empty.
      aligned_separator: of those lists, one byte.
      files: names of the training and the evaluation file in a folder of --data_location, as in DeepRec's modelzoo.

    A row of two files is the line of the first, "\\n", and that of the second.
    """

    name: str
    columns: Tuple[Column, ...]
    delimiters: Tuple[str, ...]
    layout: str
    beside: int = 0
    suffix: str = ""
    aligned: Tuple[str, ...] = ()
    aligned_separator: str = ""
    files: Tuple[str, str] = ("train.csv", "eval.csv")

    @property
    def own_columns(self) -> Tuple[Column, ...]:
        """Those of the file itself."""
        return self.columns[: len(self.columns) - self.beside]

    @property
    def names(self) -> Tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def labels(self) -> Tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.kind == LABEL)

    def explain(self, row: bytes, delimiter: str) -> Optional[str]:
        """Why a line is malformed, or None for a good one. This is the definition of a good row."""
        try:
            lines = [line.split(delimiter) for line in row.decode().split("\n")]
        except UnicodeDecodeError as error:
            return f"not valid UTF-8 (byte {row[error.start]:#04x} at column {error.start + 1})"
        if not row.strip():
            return "blank line"
        own = len(self.own_columns)
        if len(lines[0]) != own:
            return f"{len(lines[0])} columns, expected {own}"
        if self.beside and len(lines[1]) != self.beside:
            return f"{len(lines[1])} columns in the {self.suffix} file, expected {self.beside}"
        fields = [field for line in lines for field in line]
        for column, field in zip(self.columns, fields):
            if column.kind == LABEL:
                if not (_NUMBER_PATTERN.fullmatch(field) and float(field) in (0, 1)):
                    return f"{column.name} is {_shorten(field)}, expected 0 or 1"
            elif column.kind in (NUMBER, NUMBERS):
                several = column.kind == NUMBERS
                for item in filter(None, field.split(column.separator) if several else [field]):
                    named = f"{column.name} has the item" if several else f"{column.name} is"
                    if not _NUMBER_PATTERN.fullmatch(item):
                        return f"{named} {_shorten(item)}, expected a number or nothing"
                    if abs(float(item)) > _LARGEST:
                        return f"{named} {_shorten(item)}, too large for float32"
        return self._explain_aligned(dict(zip(self.names, fields)))

    def _explain_aligned(self, fields: Dict[str, str]) -> Optional[str]:
        counts = {}
        for name in self.aligned:
            entries = fields[name].split(self.aligned_separator) if fields[name] else []
            if "" in entries:
                return f"{name} has an empty entry, the {entries.index('') + 1}. of {len(entries)}"
            counts[name] = len(entries)
            if counts[name] != counts[self.aligned[0]]:
                return f"{name} has {counts[name]} entries, expected the {counts[self.aligned[0]]} of {self.aligned[0]}"
        return None

    def decode(self, rows: tf.Tensor, delimiter: str) -> Tuple[Dict[str, tf.Tensor], Union[tf.Tensor, Dict]]:
        """Good rows, string [B], as features and labels.

        Returns:
          features: column name -> float32 [B] of a number, string [B] of a text.
          labels: float32 [B], 0 or 1; a format of several labels has a dict of them by column name.
        """
        if self.beside:
            rows = tf.strings.regex_replace(rows, "\n", delimiter)
        defaults = [[column.missing] for column in self.columns]
        fields = tf.io.decode_csv(rows, defaults, field_delim=delimiter, use_quote_delim=False)
        features = dict(zip(self.names, fields))
        labels = {name: features.pop(name) for name in self.labels}
        return features, labels if len(labels) > 1 else labels[self.labels[0]]


def _shorten(field: str) -> str:
    return repr(field if len(field) <= 40 else field[:37] + "...")
