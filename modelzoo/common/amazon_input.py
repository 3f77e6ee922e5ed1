"""The input of the Amazon Books models, and its vocabularies."""

import os

from common import amazon, amazon_synthetic, ev_flags, flags, parquet_input
from common.errors import InputError
from common.text_input import TextInput


def add_flags(parser) -> None:
    group = flags.add_data_flags(parser)
    group.add_argument(
        "--vocabulary",
        metavar="DIR",
        help=f"folder of {', '.join(amazon.VOCABULARIES.values())} (default: that of the first training file)",
    )


def check(parser, args) -> None:
    if ev_flags.by_key(args) and args.vocabulary:
        parser.error(f"--vocabulary has no effect with --{ev_flags.kind(args)}")


class AmazonInput(TextInput):
    """Sets args.vocabulary to the folder that is used; EmbeddingVariables need none.

    Raises:
      InputError: also for a vocabulary that is missing, has no entries, an empty line or an entry twice.
    """

    def __init__(self, args, stop, negatives: bool = False):
        if args.parquet_dataset:
            parquet_input.check_format(amazon.FORMAT)
        text_format = amazon.FORMAT_WITH_NEGATIVES if negatives else amazon.FORMAT
        if negatives:
            self.training_only = tuple(amazon.NEGATIVE.values())
        super().__init__(text_format, amazon_synthetic.GENERATOR, args, stop)
        if ev_flags.by_key(args):
            return
        args.vocabulary = args.vocabulary or os.path.dirname(self.description["train_files"][0]) or "."
        self.description["vocabularies"] = {
            column: _entries(os.path.join(args.vocabulary, file)) for column, file in amazon.VOCABULARIES.items()
        }


def _entries(path: str) -> int:
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path}: is not a regular file, expected a vocabulary")
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            lines = [line.rstrip("\r\n") for line in file]
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}; --vocabulary names the folder of "
            f"{', '.join(amazon.VOCABULARIES.values())}"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no UTF-8 text") from None
    if not any(lines):
        raise InputError(f"{path}: has no entries")
    first_line = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            raise InputError(f"{path}:{number}: empty line, expected an entry")
        if first_line.setdefault(line, number) != number:
            raise InputError(f"{path}:{number}: has the entry {line!r} of line {first_line[line]} again")
    return len(lines)
