"""`gather_tree`, an op of this wheel's library."""

from tensorflow.deeprec import library


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token, name=None):
    """The full beams of a beam search from the ids and parents of each step.

    Args:
      step_ids: [time, batch, beams] int32.
      parent_ids: [time, batch, beams] int32, the beam of the step before that each beam goes on.
      max_sequence_lengths: [batch] int32, steps of the longest beam.
      end_token: scalar int32; fills what lies behind a beam's end.
      name: name of the op.

    Returns:
      [time, batch, beams] int32.

    Raises:
      tf.errors.InvalidArgumentError: a parent is out of range.
    """
    return library.ops().gather_tree(
        step_ids=step_ids,
        parent_ids=parent_ids,
        max_sequence_lengths=max_sequence_lengths,
        end_token=end_token,
        name=name,
    )
