"""Errors of sessions and checkpoint readers: classes and order of their texts as in 1.15."""

import numpy as np
import pytest
import tensorflow as tf


def failing():
    return tf.nn.embedding_lookup(tf.ones([3, 2]), [7], name="el")


def test_the_message_comes_first():
    with tf.Graph().as_default(), tf.Session() as session:
        values = failing()
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(values)
    lines = str(caught.value).split("\n")
    assert lines[0] == "indices[0] = 7 is not in [0, 3)"
    assert lines[1].startswith("\t [[node el (defined at ") and "test_error_texts.py:" in lines[1]
    assert caught.value.message.startswith(lines[0]) and caught.value.op.name == "el"
    text = str(caught.value)
    # Nothing of what the release says is lost.
    assert "Detected at node 'el'" in text and text.index("Node: 'el'") < text.index("Original stack trace for 'el'")
    assert "Graph execution error" not in text


def test_a_message_without_a_node_stays():
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(2, tf.int32)
        session.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError) as caught:
            session.run(queue.dequeue())
    assert str(caught.value).startswith("FIFOQueue '_")


@pytest.fixture
def checkpoint(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", [300], initializer=tf.ones_initializer())
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "m"))


def changed(data, place):
    return data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]


# How the index is damaged -> what 1.15.5 raises.
INDEX = {
    "short": (lambda data: b"xx", tf.errors.DataLossError),
    "empty": (lambda data: b"", tf.errors.DataLossError),
    "garbage": (lambda data: b"x" * 100, tf.errors.DataLossError),
    "cut": (lambda data: data[:-3], tf.errors.DataLossError),
    "header": (lambda data: changed(data, 10), tf.errors.DataLossError),
    "footer": (lambda data: changed(data, 63), tf.errors.DataLossError),
    "place of a block": (lambda data: changed(data, len(data) - 45), tf.errors.OutOfRangeError),
}


@pytest.mark.parametrize("kind", INDEX)
def test_a_damaged_index(kind, checkpoint, tmp_path):
    damage, error = INDEX[kind]
    index = tmp_path / "m.index"
    index.write_bytes(damage(index.read_bytes()))
    with pytest.raises(error):
        tf.train.NewCheckpointReader(checkpoint)


@pytest.mark.parametrize(
    "damage, error",
    [
        (lambda data: data[:-8], tf.errors.OutOfRangeError),
        (lambda data: b"", tf.errors.OutOfRangeError),
        (lambda data: changed(data, 0), tf.errors.DataLossError),
    ],
)
def test_damaged_data(damage, error, checkpoint, tmp_path):
    data = tmp_path / "m.data-00000-of-00001"
    data.write_bytes(damage(data.read_bytes()))
    reader = tf.train.NewCheckpointReader(checkpoint)
    assert reader.get_variable_to_shape_map() == {"v": [300]}
    with pytest.raises(error):
        reader.get_tensor("v")


def test_a_whole_checkpoint_and_what_is_not_in_it(checkpoint, tmp_path):
    reader = tf.train.NewCheckpointReader(checkpoint)
    np.testing.assert_array_equal(reader.get_tensor("v"), np.ones(300))
    assert reader.has_tensor("v") and reader.get_variable_to_dtype_map() == {"v": tf.float32}
    with pytest.raises(tf.errors.NotFoundError):
        reader.get_tensor("nope")
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.NewCheckpointReader(str(tmp_path / "none"))
