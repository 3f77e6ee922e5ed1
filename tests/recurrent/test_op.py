"""RecurrentLoop by itself: wrong inputs."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.deeprec import library

# A cell of one value: its state plus its input, times a matrix.
PROGRAM = [0, 3, 0, 0, 1, 3, 0, 0, 7, 3, 0, 2, 0, 1, 4, 3, 0, 1, 2]
RIGHT = {
    "inputs": [np.ones((4, 2, 3))],
    "initial_states": [np.ones((2, 3))],
    "captures": [np.eye(3)],
    "sequence_length": [],
    "K": 1,
    "program": PROGRAM,
    "scalars": [0.0] * 8,
    "output_values": [2],
    "output_widths": [3],
    "new_state_values": [3],
}


def loop(**changed):
    arguments = {**RIGHT, **changed}
    for name in ("inputs", "initial_states", "captures"):
        arguments[name] = [tf.placeholder_with_default(np.float32(value), None) for value in arguments[name]]
    arguments["sequence_length"] = [
        tf.placeholder_with_default(np.int32(v), None) for v in arguments["sequence_length"]
    ]
    count = arguments.pop("K")
    with tf.Session() as session:
        return session.run(library.ops().recurrent_loop(K=count, **arguments))


def test_right_arguments():
    outputs, states = loop(sequence_length=[[1, 4]])
    np.testing.assert_array_equal(outputs[0][:, :, 0], [[2, 2], [0, 3], [0, 4], [0, 5]])
    np.testing.assert_array_equal(states[0][:, 0], [2, 5])


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"inputs": [np.ones((4, 2))]}, r"inputs\[0\] must be of shape \[steps, batch, width\], got \[4,2\]"),
        ({"inputs": [np.ones((4, 2, 5))]}, r"inputs\[0\] must be of shape \[4,2,3\], got \[4,2,5\]"),
        ({"initial_states": [np.ones((1, 3))]}, r"initial_states\[0\] must be of shape \[2,3\], got \[1,3\]"),
        ({"captures": [np.ones((3, 2))]}, r"captures\[0\] must be of shape \[3,3\], got \[3,2\]"),
        ({"sequence_length": [[1]]}, r"sequence_length must be of shape \[2\], got \[1\]"),
        ({"sequence_length": [[1, 1], [1, 1]]}, "sequence_length must be one tensor or none, got 2"),
        ({"program": PROGRAM[:-1]}, "program is wrong: value 3: cut short"),
        ({"new_state_values": []}, "expected 1 new_state_values and 1 output_values, got 0 and 1|state"),
        ({"output_values": [9]}, "program is wrong: outputs name no value"),
    ],
)
def test_wrong_arguments_are_named(changed, message):
    with tf.Graph().as_default(), pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        loop(**changed)
