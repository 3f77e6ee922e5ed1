"""Summaries that are written by ops of the graph: core's."""

from tensorflow.python.ops.summary_ops_v2 import (
    SummaryWriter,
    all_v2_summary_ops as all_summary_ops,
    always_record_summaries,
    audio,
    create_file_writer,
    create_summary_file_writer,
    eval_dir,
    flush,
    generic,
    graph_v1 as graph,
    histogram,
    image,
    import_event,
    initialize,
    never_record_summaries,
    record_summaries_every_n_global_steps,
    scalar,
    should_record_summaries,
    summary_writer_initializer_op,
)

__all__ = [
    "SummaryWriter",
    "all_summary_ops",
    "always_record_summaries",
    "audio",
    "create_db_writer",
    "create_file_writer",
    "create_summary_file_writer",
    "eval_dir",
    "flush",
    "generic",
    "graph",
    "histogram",
    "image",
    "import_event",
    "initialize",
    "never_record_summaries",
    "record_summaries_every_n_global_steps",
    "scalar",
    "should_record_summaries",
    "summary_writer_initializer_op",
]


def create_db_writer(db_uri, experiment_name=None, run_name=None, user_name=None, name=None):
    """A writer into a SQLite database, whose kernels are gone.

    Raises:
      NotImplementedError: always.
    """
    raise NotImplementedError(
        f"create_db_writer({db_uri!r}): the runtime has no summary database any more. Use create_file_writer, and TensorBoard's "
        "data in event files."
    )
