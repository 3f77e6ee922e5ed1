"""Writes delimited text files as Parquet files.

    python -m tensorflow.deeprec.data.to_parquet day0.csv day1.csv --output parquet/
    python -m tensorflow.deeprec.data.to_parquet train.txt --output train.parquet --delimiter tab --no_quotes \\
        --columns label:int64,I1:float32,C1:string --missing_number 0

Without --columns the first line of a file names the columns. Types that are not given are found out from the beginning of the file:
int64, uint64, float64, bool, or string, as dates and times become.
Rows come in their order. A file appears under its name when it is whole.
"""

import argparse
import os
import sys
from typing import Mapping

from tensorflow.deeprec.data import arrow
from tensorflow.deeprec.data.progress import Bar

_BLOCK_BYTES = 4 << 20
_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64", "bool", "string", "binary")  # fmt: skip


class ConversionError(ValueError):
    """Text that cannot be converted; the message names file and column."""


def convert(
    source: str,
    output: str,
    columns: Mapping[str, str | None] | None = None,
    missing: Mapping[str, float | str] | float | None = None,
    delimiter: str = ",",
    has_header: bool | None = None,
    quotes: bool = True,
    row_group_size: int = 100_000,
    compression: str = "snappy",
    progress=None,
) -> int:
    """Writes one text file as a Parquet file.

    Args:
      source: the text file, UTF-8.
      output: the Parquet file; one that is there is replaced at the end.
      columns: names in their order, with a type each (one of int8 ... uint64, float32, float64, bool, string, binary) or None, where it is to be
        found out; None: the first line names them.
      missing: what stands for an empty field: of number columns, or by column name. Without it, an empty number is an error. An empty
        text is an empty text, unless a value is given by name.
      delimiter: one character.
      has_header: whether the first line is left out though `columns` are given; None: it is there if `columns` are not.
      quotes: whether '"' may surround fields.
      row_group_size: rows of a row group.
      compression: of Parquet: snappy, zstd, gzip, none.
      progress: called with the bytes and the rows that are done.

    Returns:
      The number of rows.

    Raises:
      ConversionError: the text does not fit.
      OSError: a file cannot be read or written.
      ValueError: an argument is none of those above.
    """
    pa, csv, parquet = (arrow.module(f"pyarrow{part}") for part in ("", ".csv", ".parquet"))
    if len(delimiter) != 1:
        raise ValueError(f"delimiter must be one character, got {delimiter!r}")
    if row_group_size < 1:
        raise ValueError(f"row_group_size must be at least 1, got {row_group_size}")
    if os.path.exists(output) and os.path.exists(source) and os.path.samefile(source, output):
        raise ValueError(f"output must be another file than the text, got {output!r}")
    for name, type_ in (columns or {}).items():
        if type_ is not None and type_ not in _TYPES:
            raise ValueError(f"the type of column {name!r} must be one of {', '.join(_TYPES)}, got {type_!r}")
    read = csv.ReadOptions(
        block_size=_BLOCK_BYTES,
        column_names=list(columns) if columns else None,
        skip_rows=1 if columns and has_header else 0,
    )
    parse = csv.ParseOptions(delimiter=delimiter, quote_char='"' if quotes else False)
    types = {name: pa.type_for_alias(type_) for name, type_ in (columns or {}).items() if type_}

    def open_rows(file, types, names=None):
        # An empty field alone is a missing number: words such as "NA" are an error, or a text.
        options = csv.ConvertOptions(
            column_types=types, include_columns=names, null_values=[""], strings_can_be_null=False
        )
        return csv.open_csv(file, read, parse, options)

    partial = f"{output}.partial"
    rows = 0
    try:
        types = _found_types(source, open_rows, types, pa)
        with pa.OSFile(source) as file, open_rows(file, types) as reader:
            filled = _Filling(source, reader.schema, missing, pa, arrow.module("pyarrow.compute"))
            with parquet.ParquetWriter(partial, filled.schema, compression=compression) as writer:
                waiting = []
                for number, batch in enumerate(reader, 1):
                    waiting.append(filled.fill(batch, rows))
                    rows += batch.num_rows
                    if sum(b.num_rows for b in waiting) >= row_group_size:
                        waiting = _write(pa, writer, waiting, row_group_size)
                    if progress is not None:
                        # A batch is a block; the file is read far ahead of it.
                        progress(min(file.tell(), number * _BLOCK_BYTES), rows)
                if waiting:
                    writer.write_table(pa.Table.from_batches(waiting), row_group_size=row_group_size)
        os.replace(partial, output)
    except (pa.ArrowException, UnicodeDecodeError) as e:
        raise ConversionError(f"{source}: {e}") from e
    finally:
        if os.path.exists(partial):
            os.remove(partial)
    return rows


def _found_types(source, open_rows, types, pa) -> dict:
    """`types`, and others than pyarrow finds for columns that no tensor would hold, or that would lose digits.

    Raises:
      ConversionError: two columns have one name.
    """
    with pa.OSFile(source) as file, open_rows(file, types) as reader:
        schema = reader.schema
    found = dict(types)
    for name, type_ in zip(schema.names, schema.types):
        if schema.names.count(name) > 1:
            raise ConversionError(f"{source}: {schema.names.count(name)} columns are named {name!r}")
        if name in types:
            continue
        if pa.types.is_temporal(type_):
            found[name] = pa.string()
        elif pa.types.is_floating(type_):
            # Integers that an int64 does not hold, such as hashes.
            try:
                with pa.OSFile(source) as file, open_rows(file, {name: pa.uint64()}, [name]) as reader:
                    reader.read_next_batch()
                found[name] = pa.uint64()
            except pa.ArrowInvalid:
                pass
    return found


def _write(pa, writer, batches: list, row_group_size: int) -> list:
    """Writes whole row groups; returns what is left of the batches."""
    table = pa.Table.from_batches(batches)
    whole = table.num_rows // row_group_size * row_group_size
    writer.write_table(table.slice(0, whole), row_group_size=row_group_size)
    return table.slice(whole).to_batches()


class _Filling:
    """Puts values in the place of missing ones."""

    def __init__(self, source, schema, missing, pa, compute):
        self._source, self._missing, self._pa, self._compute = source, missing, pa, compute
        by_name = missing if isinstance(missing, Mapping) else {}
        for name in by_name:
            if name not in schema.names:
                raise ConversionError(f"{source}: missing names column {name!r}, but there are {schema.names}")
        # A column without any value in the beginning.
        self.schema = pa.schema(
            [field if field.type != pa.null() else field.with_type(pa.string()) for field in schema]
        )

    def fill(self, batch, rows_before: int):
        arrays = []
        for field, array in zip(self.schema, batch.columns):
            arrays.append(self._filled(field, array.cast(field.type), rows_before))
        return self._pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _filled(self, field, array, rows_before):
        pa, compute = self._pa, self._compute
        is_text = pa.types.is_string(field.type) or pa.types.is_binary(field.type)
        given = self._missing.get(field.name) if isinstance(self._missing, Mapping) else self._missing
        if is_text:
            if isinstance(self._missing, Mapping) and given is not None:
                return compute.if_else(compute.equal(array, ""), pa.scalar(given, field.type), array)
            return array.fill_null("") if array.null_count else array
        if not array.null_count:
            return array
        if given is None:
            row = rows_before + array.is_null().index(True).as_py() + 1
            raise ConversionError(
                f"{self._source}: column {field.name!r} is empty in row {row}, and no value for missing numbers is given"
            )
        try:
            return array.fill_null(pa.scalar(given).cast(field.type))
        except pa.ArrowException as e:
            raise ConversionError(
                f"{self._source}: missing of column {field.name!r} must be of {field.type}, got {given!r}"
            ) from e


def convert_all(sources: list[str], output: str, **kwargs) -> int:
    """Converts files, with a progress bar: to the file `output`, or, for several or if it is a folder, to files in it.

    Returns:
      The number of rows of all files.

    Raises:
      As convert; ValueError: two files have one name.
    """
    in_folder = len(sources) > 1 or os.path.isdir(output) or output.endswith(os.sep)
    names = [os.path.splitext(os.path.basename(source))[0] + ".parquet" for source in sources]
    if len(set(names)) < len(names):
        raise ValueError(f"files of different names are needed, to name their outputs; got {sources}")
    if in_folder:
        os.makedirs(output, exist_ok=True)
    total = 0
    for source, name in zip(sources, names):
        target = os.path.join(output, name) if in_folder else output
        with Bar(os.path.basename(source), os.path.getsize(source)) as bar:
            rows = convert(source, target, progress=bar, **kwargs)
        print(f"{source}: {rows:,} rows -> {target}, {os.path.getsize(target) / 1e6:,.1f} MB", file=sys.stderr)
        total += rows
    return total


def _columns(text: str) -> dict:
    found = {}
    for item in text.split(","):
        name, _, type_ = item.partition(":")
        if not name or name in found:
            raise argparse.ArgumentTypeError(f"got {text!r}, expected different names, with :type behind each or not")
        found[name] = type_ or None
    return found


def _number(text: str):
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a number") from None


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tensorflow.deeprec.data.to_parquet",
        description="Writes delimited text files as Parquet files.",
        allow_abbrev=False,
    )
    parser.add_argument("sources", nargs="+", metavar="FILE", help="text files")
    parser.add_argument("--output", required=True, metavar="PATH", help="a file, or a folder")
    parser.add_argument(
        "--columns", type=_columns, metavar="NAME[:TYPE],...", help="columns; without it the first line names them"
    )
    parser.add_argument("--header", action="store_true", help="with --columns: the first line is no row")
    parser.add_argument("--delimiter", default=",", help="one character, or tab (default: a comma)")
    parser.add_argument("--no_quotes", action="store_true", help="a quotation mark is a character as any other")
    parser.add_argument(
        "--missing_number", type=_number, metavar="X", help="in place of empty numbers, which are an error without it"
    )
    parser.add_argument(
        "--row_group_size", type=int, default=100_000, metavar="ROWS", help="rows of a row group (100000)"
    )
    parser.add_argument("--compression", default="snappy", choices=("snappy", "zstd", "gzip", "none"))
    args = parser.parse_args(argv)
    if args.header and not args.columns:
        parser.error("--header has no effect without --columns")
    try:
        convert_all(
            args.sources,
            args.output,
            columns=args.columns,
            missing=args.missing_number,
            delimiter="\t" if args.delimiter == "tab" else args.delimiter,
            has_header=args.header if args.columns else None,
            quotes=not args.no_quotes,
            row_group_size=args.row_group_size,
            compression=args.compression,
        )
    except (ConversionError, ImportError, OSError, ValueError) as e:
        print(e, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; the file that was being written is removed", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
