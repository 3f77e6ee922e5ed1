"""EmbeddingVariables: embedding tables found by key, of no fixed size.

`options` holds what a user asks for, `variable` the object in the graph, `getter` the functions that make it, `slots`
and `updates` what optimizers do with it. The table itself is C++, `core/embedding`.
"""


def install() -> None:
    """Teaches the released optimizers and graph functions to deal with EmbeddingVariables."""
    from tensorflow.deeprec.embedding import (
        control_flow,
        initial_checkpoints,
        public_columns,
        public_lookups,
        saveables,
        slots,
        updates,
        variable,
        whole_values,
    )

    variable.install()
    control_flow.install()
    slots.install()
    updates.install()
    saveables.install()
    initial_checkpoints.install()
    public_lookups.install()
    public_columns.install()
    whole_values.install()
