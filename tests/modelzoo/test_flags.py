"""Flags: one-line errors for bad values and for flags that would have no effect."""

import argparse

import pytest

import train
from common import flags


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--batch_size", "0"], "argument --batch_size: got '0', expected a positive integer"),
        (["--batch_size", "2.5"], "argument --batch_size: got '2.5', expected a positive integer"),
        (["--steps", "-1"], "argument --steps: got '-1', expected an integer of at least 0"),
        (["--holdout", "1"], "argument --holdout: got '1', expected a number between 0 and 1"),
        (["--deep_learning_rate", "nan"], "argument --deep_learning_rate: got 'nan', expected a positive number"),
        (["--linear_learning_rate", "inf"], "argument --linear_learning_rate: got 'inf', expected a positive number"),
        (["--hidden_units", "64,,8"], "argument --hidden_units: got '', expected a positive integer"),
        (["--seed", "2147483648"], "argument --seed: got '2147483648', expected an integer from 0 to 2147483647"),
        (["--inter", "3000000000"], "argument --inter: got '3000000000', expected an integer from 0 to 1024"),
        (["--intra", "-1"], "argument --intra: got '-1', expected an integer from 0 to 1024"),
        (["--micro_batch", "1025"], "argument --micro_batch: got '1025', expected an integer from 0 to 1024"),
        (["--optimizer", "adamw"], "argument --optimizer: invalid choice: 'adamw'"),
        (["--bad_rows", "ignore"], "argument --bad_rows: invalid choice: 'ignore'"),
        (["--step", "5"], "unrecognized arguments: --step 5"),
        (["--data"], "argument --data: expected at least one argument"),
        (["--eval_data", "f"], "--eval_data needs --data"),
        (["--data", "f", "--data_location", "d"], "--data has no effect with --data_location"),
        (["--data_location", "d", "--holdout", ".5"], "--holdout has no effect with --data_location"),
        (["--data", "f", "--synthetic_rows", "5"], "--synthetic_rows has no effect with --data"),
        (["--holdout", ".5"], "--holdout has no effect without --data"),
        (["--data", "f", "--eval_data", "g", "--holdout", ".5"], "--holdout has no effect with --eval_data"),
        (["--data", "f", "--eval_data", "g", "--no_eval"], "--eval_data has no effect with --no_eval"),
        (["--incremental_ckpt", "-1"], "argument --incremental_ckpt: got '-1', expected an integer of at least 0"),
        (["--tf", "--incremental_ckpt", "30"], "--tf and --incremental_ckpt contradict each other"),
        (["--steps", "5", "--epochs", "2"], "--epochs has no effect with --steps"),
        (["--no_eval", "--curve_rows", "5"], "--curve_rows has no effect with --no_eval"),
        (["--emb_fusion", "--group_embedding"], "--emb_fusion and --group_embedding contradict each other"),
        (["--tf", "--group_embedding"], "--tf and --group_embedding contradict each other"),
        (["--tf", "--optimizer", "adagraddecay"], "--tf and --optimizer adagraddecay contradict each other"),
        (["--full_size", "--embedding_dim", "8"], "--embedding_dim and --full_size contradict each other"),
    ],
)
def test_refuses_in_one_line(capsys, arguments, message):
    with pytest.raises(SystemExit) as caught:
        train.parse(arguments)
    assert caught.value.code == 2
    output = capsys.readouterr()
    assert output.out == "" and output.err.count("\n") == 1
    assert f"error: {message}" in output.err


def test_defaults_that_depend_on_others():
    args = train.parse(["--output_dir", "somewhere"])
    assert (args.checkpoint, args.epochs, args.holdout) == ("somewhere/checkpoint", 1, 0.1)
    assert train.size_of(args) == train.model.DEFAULT_SIZE


def test_plain_tensorflow_has_adam_for_adamasync():
    assert train.parse(["--tf", "--optimizer", "adamasync"]).optimizer == "adam"
    assert train.parse(["--optimizer", "adamasync"]).optimizer == "adamasync"
    assert train.parse([]).optimizer == "adam"


def test_full_size_is_the_published_one():
    size = train.size_of(train.parse(["--full_size", "--hash_buckets", "500"]))
    assert size.hidden_units == (1024, 512, 256) and size.hash_buckets == 500
    assert size.dimension("C1") == 64
    large = [f"C{i}" for i in range(1, 27) if size.dimension(f"C{i}") == 128]
    assert large == ["C3", "C4", "C10", "C12", "C16", "C21", "C24", "C26"]


def test_help_names_every_flag_with_its_default(capsys):
    with pytest.raises(SystemExit):
        train.parse(["--help"])
    text = capsys.readouterr().out
    assert "None" not in text
    for flag in vars(train.parse([])):
        assert f"--{flag}" in text


def test_int_list():
    assert flags.int_list("7") == (7,) and flags.int_list("3,2,1") == (3, 2, 1)
    with pytest.raises(argparse.ArgumentTypeError):
        flags.int_list("")
