#!/usr/bin/env python3
"""Writes a model's text files as Parquet files, for --parquet_dataset.

python modelzoo/to_parquet.py criteo train.txt eval.txt --output parquet/

Delimiter and header are found out; an empty field holds what it stands for in the format. Rows come in their order, and batches of them are
those of the text files. Any other text: python -m tensorflow.deeprec.data.to_parquet.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from common import criteo, taobao, text_file
from common.errors import InputError
from common.text_format import LABEL, TEXT

_FORMATS = {"criteo": criteo.FORMAT, "taobao": taobao.FORMAT}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", choices=sorted(_FORMATS))
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--output", required=True, metavar="PATH", help="a file, or a folder")
    parser.add_argument(
        "--row_group_size", type=int, default=100_000, metavar="ROWS", help="rows of a row group (100000)"
    )
    args = parser.parse_args(argv)
    from tensorflow.deeprec.data import to_parquet

    text_format = _FORMATS[args.format]
    columns = {column.name: "string" if column.kind == TEXT else "float32" for column in text_format.columns}
    missing = {column.name: column.missing for column in text_format.columns if column.kind != LABEL}
    try:
        files = text_file.inspect_all(text_format, args.files)
        headers = {file.has_header for file in files}
        if len(headers) > 1:
            raise InputError("some of the files have a header and others have none; convert them one by one")
        to_parquet.convert_all(
            args.files,
            args.output,
            columns=columns,
            missing=missing,
            delimiter=files[0].delimiter,
            has_header=headers.pop(),
            quotes=False,
            row_group_size=args.row_group_size,
        )
    except (InputError, ImportError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
