"""EmbeddingVariables: embedding tables found by key, of no fixed size.

`options` holds what a user asks for, `variable` the object in the graph, `getter` the functions that make it, `slots`
and `updates` what optimizers do with it. The table itself is C++, `core/embedding`.
"""


def install() -> None:
    """Teaches the released optimizers and graph functions to deal with EmbeddingVariables."""
    from tensorflow.deeprec.embedding import initial_checkpoints, saveables, slots, updates, variable

    variable.install()
    slots.install()
    updates.install()
    saveables.install()
    initial_checkpoints.install()
