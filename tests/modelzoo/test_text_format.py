"""A format of several labels, with numbers between texts: its check, its decoding, and multi-task training on it."""

import argparse
import random

import numpy as np
import pytest
import tensorflow as tf

from common import text_file, text_reader
from common.errors import InputError
from common.graph import Model, TrainingGraph
from common.metrics import roc_auc
from common.row_check import RowCheck
from common.text_format import Format, label, number, numbers, text
from modelzoo_helpers import check_vouches

MIXED = Format(
    "mixed",
    columns=(text("user"), label("clk"), label("buy"), number("age", 7.0), text("tags", "none"), number("price")),
    delimiters=(";",),
    layout="user;clk;buy;age;tags;price",
)


def write(path, rows):
    path.write_text("".join(";".join(row) + "\n" for row in rows))
    return str(path)


def read(path, batch_size=4):
    files = text_file.inspect_all(MIXED, [path])
    bad_rows = text_reader.BadRows(True, lambda warning: None)
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = text_reader.batches(MIXED, text_reader.lines_dataset(files), files, batch_size, bad_rows)
        batch, result = tf.data.make_one_shot_iterator(dataset).get_next(), []
        try:
            while True:
                result.append(session.run(batch))
        except tf.errors.OutOfRangeError:
            return result


def test_several_labels_are_a_dict_and_missing_fields_have_their_defaults(tmp_path):
    path = write(tmp_path / "f", [["u", "1", "0", "2.5", "a|b", "-3"], ["", "0", "1", "", "", ""]])
    ((features, labels, lines),) = read(path)
    assert lines.tolist() == [2]
    assert {name: values.tolist() for name, values in labels.items()} == {"clk": [1, 0], "buy": [0, 1]}
    assert features["user"].tolist() == [b"u", b" "] and features["tags"].tolist() == [b"a|b", b"none"]
    assert features["age"].tolist() == [2.5, 7] and features["price"].tolist() == [-3, 0]


def test_fast_check_misses_no_malformed_row_and_vouches_for_plain_ones():
    """Random damage in any column, the first and the last included; neighbours must not be blamed."""
    rng = random.Random(5)
    odd = ["", "0", "2", "1.5.2", "-", "1-2", "+1", "x", "1e39", "é", "9" * 16, "a.b.c-d"]
    rows, plain = [], []
    for _ in range(2000):
        row = [rng.choice(["u", "v.w.x", "é-"]), rng.choice("01"), rng.choice("01"), "-1.5", "a.b|c.d", "12"]
        damaged = rng.random() < 0.3
        if damaged:
            row[rng.randrange(6)] = rng.choice(odd)
        rows.append(";".join(row).encode())
        plain.append(not damaged)
    explained = check_vouches(MIXED, ";", rows, plain)
    assert 200 < explained < 600


def test_fast_check_of_lists_misses_no_malformed_item_and_vouches_for_plain_ones():
    """Lists beside each other, at both ends and around a number, with random damage in any of them."""
    text_format = Format(
        "lists",
        (
            numbers("a", "|"),
            label("clk"),
            text("tags"),
            numbers("b", "|"),
            number("x"),
            *(numbers(n, "|") for n in "cd"),
        ),
        (",",),
        "a,clk,tags,b,x,c,d",
    )
    rng = random.Random(6)
    odd = [
        "2",
        "1.5.2",
        "-",
        "1-2",
        "+1",
        "x",
        "1e39",
        "é",
        "9" * 16,
        "9" * 40,
        "1.|.5",
        "|",
        "1..",
        "1e5",
        ".",
        ".5",
        "3.",
    ]

    def items(count):
        return [rng.choice(["", "0", "-1.5", "12", "0.25", "9" * 15]) for _ in range(count)]

    rows, plain = [], []
    for _ in range(2000):
        lists = [items(rng.randrange(5)) for _ in range(4)]
        damaged = rng.random() < 0.3
        if damaged:
            rng.choice(lists).insert(0, rng.choice(odd))
        a, b, c, d = map("|".join, lists)
        rows.append(
            f"{a},{rng.choice('01')},{rng.choice(['t|1.2.3|x', ''])},{b},{rng.choice(['', '1.5'])},{c},{d}".encode()
        )
        plain.append(not damaged)
    malformed_rows = check_vouches(text_format, ",", rows, plain)
    assert 200 < malformed_rows < 500


def test_lists_of_numbers_of_a_format_share_one_separator():
    text_format = Format("two", (numbers("a", "|"), numbers("b", "/"), label("y")), (",",), "a,b,y")
    with pytest.raises(ValueError, match="two: lists of numbers have the separators"):
        RowCheck(text_format, ",")


@pytest.mark.parametrize(
    "row, reason",
    [
        ("u;1;2;3;t;4", "buy is '2', expected 0 or 1"),
        ("u;;0;3;t;4", "clk is '', expected 0 or 1"),
        ("u;1;0;3;t;cheap", "price is 'cheap', expected a number or nothing"),
        ("u;1;0;3;t", "5 columns, expected 6"),
    ],
)
def test_reason_names_the_column(row, reason):
    assert MIXED.explain(row.encode(), ";") == reason


def test_refusal_names_the_format_and_its_delimiter(tmp_path):
    path = write(tmp_path / "f", [["1", "2"]])
    with pytest.raises(InputError, match="has 6 semicolon separated columns .line 1 has 2.; expected user;clk"):
        text_file.inspect(MIXED, path)
    with pytest.raises(InputError, match="is a directory, expected a mixed text file"):
        text_file.inspect(MIXED, str(tmp_path))


def test_two_number_columns_make_a_header_only_with_the_names_of_the_format(tmp_path):
    few = Format("few", (label("y"), text("a")), (",",), "y,a")
    for header, expected in (("y,a", True), ("Y, A", True), ("z,a", False), ("z,b", False)):
        (tmp_path / "f").write_text(f"{header}\n1,b\n")
        assert text_file.inspect(few, str(tmp_path / "f")).has_header == expected


class _Rows:
    """A graph.Input of one batch of 40 rows, cut in two and concatenated again, as micro batches are."""

    def __init__(self, path):
        self.files = text_file.inspect_all(MIXED, [path])
        self.train_rows = self.eval_rows = 40
        self.train_failure = self.eval_failure = None

    def training(self, start_line, end_line):
        bad_rows = text_reader.BadRows(True, lambda warning: None)
        lines = text_reader.lines_dataset(self.files)
        dataset = text_reader.batches(MIXED, lines, self.files, 20, bad_rows).batch(2)
        return dataset.map(lambda *batch: tf.nest.map_structure(lambda x: tf.reshape(x, [-1]), batch))

    def evaluation(self, limit, batch_size):
        return self.training(0, 40)


def test_graph_of_several_tasks_counts_rows_once_and_has_the_auc_of_each(tmp_path):
    rng = random.Random(1)
    rows = [["u", rng.choice("01"), rng.choice("01"), str(rng.randrange(9)), "t", "1"] for _ in range(40)]
    path = write(tmp_path / "f", rows)

    def model_fn(features, labels, training):
        weight = tf.get_variable("weight", initializer=0.3)
        logits = {"buy": weight * features["age"], "clk": -weight * features["age"]}
        losses = [tf.nn.sigmoid_cross_entropy_with_logits(labels=labels[t], logits=logits[t]) for t in logits]
        return Model(
            tf.add_n(losses),
            {task: tf.sigmoid(value) for task, value in logits.items()},
            lambda loss, step: tf.train.GradientDescentOptimizer(0.0).minimize(loss, step),
        )

    args = argparse.Namespace(
        batch_size=40, keep_checkpoint_max=1, smartstaged=False, workqueue=False, incremental_ckpt=0
    )
    stop = argparse.Namespace(signum=None)
    age = np.array([float(row[3]) for row in rows])
    clk, buy = (np.array([int(row[i]) for row in rows]) for i in (1, 2))
    with tf.Graph().as_default():
        graph = TrainingGraph(args, _Rows(path), model_fn, 0, 40)
        with tf.train.SingularMonitoredSession(scaffold=graph.scaffold) as session:
            step = session.run(graph.step)
            evaluation = session.run_step_fn(lambda step_context: graph.evaluate(step_context.session, stop))
    assert (step["lines"], step["examples"]) == (40, 40) and list(step["labels"]) == ["buy", "clk"]
    assert evaluation.examples == 40 and evaluation.auc == evaluation.aucs["buy"]
    assert evaluation.aucs["buy"] == pytest.approx(roc_auc(buy, age), abs=5e-3)
    assert evaluation.aucs["clk"] == pytest.approx(roc_auc(clk, -age), abs=5e-3)
    sigmoid = 1 / (1 + np.exp(-0.3 * age))
    expected = -(buy * np.log(sigmoid) + (1 - buy) * np.log(1 - sigmoid))
    expected = expected - (clk * np.log(1 - sigmoid) + (1 - clk) * np.log(sigmoid))
    assert evaluation.loss == pytest.approx(expected.mean(), rel=1e-4)
