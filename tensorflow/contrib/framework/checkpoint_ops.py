"""Initializers that load tensors from checkpoints and follow changed vocabularies."""

from tensorflow.python.ops import init_ops
from tensorflow.python.training import checkpoint_ops

load_and_remap_matrix_initializer = checkpoint_ops._load_and_remap_matrix_initializer
load_embedding_initializer = checkpoint_ops._load_embedding_initializer

__all__ = [
    "load_and_remap_matrix_initializer",
    "load_embedding_initializer",
    "load_linear_multiclass_bias_initializer",
    "load_variable_slot_initializer",
]


def load_linear_multiclass_bias_initializer(
    ckpt_path,
    bias_tensor_name,
    new_class_vocab_size,
    old_class_vocab_file,
    new_class_vocab_file,
    num_class_oov_buckets=0,
    initializer=None,
    max_rows_in_memory=-1,
):
    """Loads the biases of a linear model, and follows a changed vocabulary of classes.

    Args:
      ckpt_path: checkpoint with the old biases.
      bias_tensor_name: their name in it.
      new_class_vocab_size: number of classes, without out-of-vocabulary ones.
      old_class_vocab_file, new_class_vocab_file: files, a class a line.
      num_class_oov_buckets: number of out-of-vocabulary classes.
      initializer: for classes that the checkpoint lacks; zeros by default.
      max_rows_in_memory: rows read at once; -1: all.

    Returns:
      An initializer for a variable `[new_class_vocab_size + num_class_oov_buckets, 1]`.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=bias_tensor_name,
        new_row_vocab_size=new_class_vocab_size,
        new_col_vocab_size=1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer or init_ops.zeros_initializer(),
        max_rows_in_memory=max_rows_in_memory,
    )


def load_variable_slot_initializer(
    ckpt_path,
    old_tensor_name,
    primary_partition_info,
    new_row_vocab_size,
    new_col_vocab_size,
    old_row_vocab_file=None,
    new_row_vocab_file=None,
    old_col_vocab_file=None,
    new_col_vocab_file=None,
    num_row_oov_buckets=0,
    num_col_oov_buckets=0,
    initializer=None,
    max_rows_in_memory=-1,
):
    """Loads an optimizer's slot, and follows changed vocabularies of rows and columns.

    A slot is made without knowledge of its variable's partitions, so they are given here.

    Args:
      ckpt_path: checkpoint with the old slot.
      old_tensor_name: its name in it.
      primary_partition_info: `_PartitionInfo` of the variable that has the slot.
      new_row_vocab_size, new_col_vocab_size: shape of the variable, without out-of-vocabulary rows and columns.
      old_row_vocab_file, new_row_vocab_file, old_col_vocab_file, new_col_vocab_file: files, an entry a line; None: no change.
      num_row_oov_buckets, num_col_oov_buckets: numbers of out-of-vocabulary rows and columns.
      initializer: for what the checkpoint lacks.
      max_rows_in_memory: rows read at once; -1: all.

    Returns:
      An initializer.
    """
    load = load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=old_tensor_name,
        new_row_vocab_size=new_row_vocab_size,
        new_col_vocab_size=new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )

    def slot_initializer(shape, dtype, partition_info=None):
        return load(shape, dtype, partition_info=primary_partition_info)

    return slot_initializer
