"""A model's own defaults, flags and checks, and the losses and probabilities of one task or several."""

import numpy as np
import pytest
import tensorflow as tf

from common import zoo


def network(**values):
    return zoo.Network(name="tiny", data=None, **values)


def test_defaults_of_other_flags_are_the_models_own_and_can_be_given():
    tiny = network(run_defaults={"batch_size": 4096, "shuffle_buffer": 7})
    args = zoo.parse(tiny, "", [])
    assert (args.batch_size, args.shuffle_buffer, args.output_dir) == (4096, 7, "tiny_output")
    assert zoo.parse(tiny, "", ["--batch_size", "5"]).batch_size == 5
    assert zoo.parse(network(), "", []).batch_size == 512


def test_help_shows_the_models_own_default(capsys):
    with pytest.raises(SystemExit):
        zoo.parse(network(run_defaults={"batch_size": 4096}), "", ["--help"])
    assert "rows per step (default: 4096)" in " ".join(capsys.readouterr().out.split())


def test_flags_that_contradict_each_other_end_the_program(capsys):
    def check(parser, args):
        if args.width % 2:
            parser.error(f"--width is {args.width}, expected an even number")

    tiny = network(add_flags=lambda group: group.add_argument("--width", type=int, default=2), check=check)
    assert zoo.parse(tiny, "", []).width == 2
    with pytest.raises(SystemExit):
        zoo.parse(tiny, "", ["--width", "3"])
    assert "--width is 3, expected an even number" in capsys.readouterr().err


def test_losses_of_several_tasks_are_added_and_each_has_its_probabilities():
    rng = np.random.default_rng(1)
    logits = {"buy": rng.standard_normal(9), "clk": rng.standard_normal(9)}
    labels = {task: rng.integers(0, 2, 9).astype(float) for task in ("clk", "buy", "other")}
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = zoo.classify(
            zoo.squared_error,
            {task: tf.constant(values) for task, values in labels.items()},
            {task: tf.constant(values) for task, values in logits.items()},
        )
        assert list(outputs.probabilities) == ["buy", "clk"]
        losses, probabilities = session.run(outputs)
    sigmoid = {task: 1 / (1 + np.exp(-values)) for task, values in logits.items()}
    np.testing.assert_allclose(losses, sum((sigmoid[task] - labels[task]) ** 2 for task in logits))
    for task in logits:
        np.testing.assert_allclose(probabilities[task], sigmoid[task])


def test_one_task_needs_no_name():
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = zoo.classify(zoo.cross_entropy, tf.constant([1.0]), tf.constant([0.0]))
        losses, probabilities = session.run(outputs)
    assert losses[0] == pytest.approx(np.log(2)) and list(probabilities.values()) == [pytest.approx(0.5)]
