"""Ops that DeepRec adds: text to tensors, cut-off sparse tensors, layers in one op.

Each function is in `string_ops`, `sparse_ops` or `nn_ops`, where DeepRec has it too; `gradients` is what backpropagation
needs to know.
"""


def install() -> None:
    """Registers the gradients; graphs from files have these ops without a call of their functions."""
    from tensorflow.deeprec.ops import gradients

    gradients.register()
