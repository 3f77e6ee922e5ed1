"""The Amazon Books format: a file and its second one, vocabularies, and the generated set."""

import os
import pathlib
import random

import numpy as np
import pytest
import tensorflow as tf

from common import amazon, amazon_input, amazon_synthetic, ev_flags, flags, synthetic, text_file, text_reader
from common.errors import InputError
from common.metrics import roc_auc
from common.row_check import RowCheck
from modelzoo_helpers import read_batches

ROW = "1\tA1\tB1\tBooks 1\tB2\x02B3\tBooks 1\x02Books 2\n0\tA2\tB2\tBooks 1\t\t\n"
BESIDE = "B7\x02B8\tBooks 7\x02Books 8\n\t\n"


def write(folder, own=ROW, beside=BESIDE, vocabularies=True):
    (folder / "train").write_text(own)
    if beside is not None:
        (folder / "train_neg").write_text(beside)
    if vocabularies:
        for file in amazon.VOCABULARIES.values():
            (folder / file).write_text("default\nA1\n")
    return str(folder / "train")


def read(path, text_format):
    files = text_file.inspect_all(text_format, [path])
    bad_rows = text_reader.BadRows(False, pytest.fail)
    with tf.Graph().as_default(), tf.Session() as session:
        lines = text_reader.lines_dataset(files)
        batches = text_reader.batches(text_format, lines, files, 10, bad_rows)
        return session.run(tf.data.make_one_shot_iterator(batches).get_next())


def inputs(arguments, negatives=False):
    parser = flags.Parser("test")
    amazon_input.add_flags(parser)
    flags.add_run_flags(parser, "out")
    for kind in ev_flags.KINDS:
        parser.add_argument(f"--{kind}", action="store_true")
    args = parser.parse_args(arguments)
    flags.check(parser, args)
    amazon_input.check(parser, args)
    return args, amazon_input.AmazonInput(args, None, negatives)


def test_a_row_has_histories(tmp_path):
    features, labels, lines = read(write(tmp_path), amazon.FORMAT)
    assert labels.tolist() == [1, 0] and lines.tolist() == [2]
    assert features["HISTORY_ITEM"].tolist() == [b"B2\x02B3", b""]
    assert set(features) == {"UID", "ITEM", "CATEGORY", "HISTORY_ITEM", "HISTORY_CATEGORY"}


def test_a_row_goes_on_in_the_second_file(tmp_path):
    features, _, _ = read(write(tmp_path), amazon.FORMAT_WITH_NEGATIVES)
    assert features["NOCLK_HISTORY_ITEM"].tolist() == [b"B7\x02B8", b""]
    assert features["NOCLK_HISTORY_CATEGORY"].tolist() == [b"Books 7\x02Books 8", b""]


@pytest.mark.parametrize(
    "beside, message",
    [(None, "train_neg: cannot be read"), ("a\tb\n", "has 1 lines, expected the 2"), ("", "is empty")],
)
def test_a_wrong_second_file_is_named(tmp_path, beside, message):
    with pytest.raises(InputError, match=message):
        text_file.inspect(amazon.FORMAT_WITH_NEGATIVES, write(tmp_path, beside=beside))


def test_a_bad_row_of_the_second_file_is_found(tmp_path):
    path = write(tmp_path, beside="B7\x02B8\tBooks 7\x02Books 8\n\t\t\n")
    files = text_file.inspect_all(amazon.FORMAT_WITH_NEGATIVES, [path])
    bad_rows = text_reader.BadRows(True, lambda text: None)
    with tf.Graph().as_default(), tf.Session() as session:
        batches = text_reader.batches(
            amazon.FORMAT_WITH_NEGATIVES, text_reader.lines_dataset(files), files, 10, bad_rows
        )
        _, labels, lines = session.run(tf.data.make_one_shot_iterator(batches).get_next())
    assert labels.tolist() == [1] and lines.tolist() == [2]


def test_vocabularies_lie_beside_the_training_file(tmp_path):
    args, data = inputs(["--data", write(tmp_path), "--no_eval"])
    assert args.vocabulary == str(tmp_path)
    assert data.description["vocabularies"] == {"UID": 2, "ITEM": 2, "CATEGORY": 2}


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "No such file"),
        ("\n", "has no entries"),
        (b"\xff\n", "no UTF-8"),
        ("default\n\nB1\n", "empty line, expected an entry"),
        ("default\nB1\nB2\nB1\r\n", "has the entry 'B1' of line 2 again"),
    ],
)
def test_a_wrong_vocabulary_is_named(tmp_path, content, message):
    path = write(tmp_path)
    vocabulary = tmp_path / "mid_voc.txt"
    vocabulary.unlink()
    if content is not None:
        vocabulary.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=rf"mid_voc\.txt:(2:|4:)? .*{message}"):
        inputs(["--data", path, "--no_eval"])


def test_a_vocabulary_that_is_no_file_is_refused_and_not_waited_for(tmp_path):
    path = write(tmp_path)
    (tmp_path / "uid_voc.txt").unlink()
    os.mkfifo(tmp_path / "uid_voc.txt")
    with pytest.raises(InputError, match=r"uid_voc\.txt: is not a regular file"):
        inputs(["--data", path, "--no_eval"])


@pytest.mark.parametrize(
    "own, beside, reason",
    [
        ("a\x02b\tc", "d\x02e\tf\x02g", "HISTORY_CATEGORY has 1 entries, expected the 2 of HISTORY_ITEM"),
        ("a\x02\x02b\tc\x02d\x02e", "\t", "HISTORY_ITEM has an empty entry, the 2. of 3"),
        ("a\tb\x02", "c\td", "HISTORY_CATEGORY has an empty entry, the 2. of 2"),
        ("a\tb", "c\x02d\te\x02f", "NOCLK_HISTORY_ITEM has 2 entries, expected the 1 of HISTORY_ITEM"),
        ("a\tb", "\t", "NOCLK_HISTORY_ITEM has 0 entries, expected the 1 of HISTORY_ITEM"),
        ("a", "b\tc\td", "5 columns, expected 6"),
        ("a\tb\tc", "d", "7 columns, expected 6"),
        ("a\tb", "c", "1 columns in the _neg file, expected 2"),
    ],
)
def test_a_malformed_row_of_two_files_is_named(tmp_path, own, beside, reason):
    path = write(tmp_path, ROW + f"0\tA1\tB1\tBooks 1\t{own}\n", BESIDE + f"{beside}\n")
    batches, warnings = read_batches(amazon.FORMAT_WITH_NEGATIVES, path, skip=True)
    assert warnings == [f"{path}:3: {reason}; row skipped"]
    assert [labels.tolist() for _, labels, _ in batches] == [[1, 0]]


def test_fast_check_of_aligned_lists_misses_no_malformed_row_and_vouches_for_good_ones():
    rng = random.Random(8)
    text_format = amazon.FORMAT_WITH_NEGATIVES
    check, malformed_rows = RowCheck(text_format, "\t"), 0
    for _ in range(100):
        rows = []
        for _ in range(20):
            count = rng.randrange(4)
            lists = [[rng.choice(["B1", "é", "x"]) for _ in range(count)] for _ in range(4)]
            if rng.random() < 0.05:
                chosen = rng.choice(lists)
                chosen.insert(rng.randrange(len(chosen) + 1), rng.choice(["", "B2"]))
            own = ["1", "A1", "B1", "C1", *map(amazon.SEPARATOR.join, lists[:2])]
            rows.append(("\t".join(own) + "\n" + "\t".join(map(amazon.SEPARATOR.join, lists[2:]))).encode())
        suspects = set(check.suspicious(np.array(rows, object)))
        malformed = {i for i in range(20) if text_format.explain(rows[i], "\t")}
        assert suspects == malformed
        malformed_rows += len(malformed)
    assert 50 < malformed_rows < 150


def test_embedding_variables_need_no_vocabularies(tmp_path, capsys):
    path = write(tmp_path, vocabularies=False)
    args, _ = inputs(["--data", path, "--no_eval", "--ev"])
    assert args.vocabulary is None
    with pytest.raises(SystemExit):
        inputs(["--data", path, "--no_eval", "--ev", "--vocabulary", str(tmp_path)])
    assert "--vocabulary has no effect with --ev" in capsys.readouterr().err


def test_the_generated_set_is_of_the_format_and_of_its_seed(tmp_path):
    sets = [
        synthetic.generate(amazon_synthetic.GENERATOR, str(tmp_path / name), 300, 100, seed)
        for name, seed in (("a", 7), ("b", 7), ("c", 8))
    ]
    contents = [[pathlib.Path(path + end).read_bytes() for path in paths for end in ("", "_neg")] for paths in sets]
    assert contents[0] == contents[1] and contents[0][0] != contents[2][0]
    features, labels, _ = read(sets[0].train, amazon.FORMAT_WITH_NEGATIVES)
    vocabulary = set((tmp_path / "a" / "mid_voc.txt").read_text().split("\n"))
    for name in ("HISTORY_ITEM", "NOCLK_HISTORY_ITEM"):
        for row, other in zip(features[name], features[name.replace("ITEM", "CATEGORY")]):
            items = row.decode().split(amazon.SEPARATOR)
            assert (
                set(items) <= vocabulary and len(items) == len(other.split(amazon.SEPARATOR.encode())) <= amazon.LENGTH
            )
    assert set(labels) == {0, 1}


def test_the_planted_signal_is_there():
    truth = synthetic.truth(amazon_synthetic.GENERATOR, 2021)
    rows = truth.draw(np.random.default_rng(3), 20_000)
    assert 0.81 < roc_auc(rows.labels, truth.scores(rows)) < 0.84
