"""A summary writer for tests: it keeps what it is given."""

import tensorflow as tf


class FakeSummaryWriter:
    """Has the methods of `tf.summary.FileWriter` and writes nothing.

    Args:
      logdir: what the real writer would write to.
      graph: graph of the session under test.
    """

    _replaced = None

    def __init__(self, logdir, graph=None):
        self._logdir = logdir
        self._graph = graph
        self._summaries = {}
        self._added_graphs = []
        self._added_meta_graphs = []
        self._added_session_logs = []
        self._added_run_metadata = {}

    @property
    def summaries(self):
        """Dict from step to the list of Summary protos added at it."""
        return self._summaries

    @classmethod
    def install(cls):
        """Takes the place of `tf.summary.FileWriter` until `uninstall`.

        Raises:
          ValueError: it is in that place already.
        """
        from tensorflow.python.summary.writer import writer, writer_cache

        if cls._replaced is not None:
            raise ValueError("FakeSummaryWriter is installed already")
        cls._replaced = writer.FileWriter
        writer.FileWriter = writer_cache.FileWriter = cls

    @classmethod
    def uninstall(cls):
        """Puts the real writer back.

        Raises:
          ValueError: `install` was not called.
        """
        from tensorflow.python.summary.writer import writer, writer_cache

        if cls._replaced is None:
            raise ValueError("FakeSummaryWriter is not installed")
        writer.FileWriter = writer_cache.FileWriter = cls._replaced
        cls._replaced = None

    def add_summary(self, summary, current_global_step):
        """Keeps a Summary proto, or a serialized one, under its step."""
        if isinstance(summary, bytes):
            parsed = tf.Summary()
            parsed.ParseFromString(summary)
            summary = parsed
        self._summaries.setdefault(current_global_step, []).append(summary)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Keeps a graph.

        Raises:
          ValueError: a step or the deprecated `graph_def` is given, or another graph than the session's.
        """
        if global_step is not None and global_step < 0:
            raise ValueError(f"global_step must not be negative, got {global_step}")
        if graph_def is not None:
            raise ValueError("graph_def is not taken: give graph")
        if self._graph is not None and graph is not self._graph:
            raise ValueError(f"Expected the graph {self._graph}, got {graph}")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Keeps a MetaGraphDef."""
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log, global_step=None):
        """Keeps a SessionLog."""
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Keeps RunMetadata under a tag.

        Raises:
          ValueError: the tag was used at this step or without one.
        """
        if global_step is not None and global_step < 0:
            raise ValueError(f"global_step must not be negative, got {global_step}")
        if tag in self._added_run_metadata:
            raise ValueError(f"The tag {tag!r} was used already")
        self._added_run_metadata[tag] = run_metadata

    def assert_summaries(
        self,
        test_case,
        expected_logdir=None,
        expected_graph=None,
        expected_summaries=None,
        expected_added_graphs=None,
        expected_added_meta_graphs=None,
        expected_session_logs=None,
    ):
        """Asserts, through a `TestCase`, what the writer was given. None is not looked at.

        Args:
          test_case: `unittest.TestCase`.
          expected_logdir, expected_graph: the constructor's arguments.
          expected_summaries: dict from step to dict from tag to simple value.
          expected_added_graphs, expected_added_meta_graphs, expected_session_logs: lists.
        """
        for expected, got in (
            (expected_logdir, self._logdir),
            (expected_graph, self._graph),
            (expected_added_graphs, self._added_graphs),
            (expected_added_meta_graphs, self._added_meta_graphs),
            (expected_session_logs, self._added_session_logs),
        ):
            if expected is not None:
                test_case.assertEqual(expected, got)
        for step, values in (expected_summaries or {}).items():
            got = {v.tag: v.simple_value for summary in self._summaries.get(step, ()) for v in summary.value}
            for tag, value in values.items():
                test_case.assertIn(tag, got, f"step {step}")
                test_case.assertAlmostEqual(value, got[tag], places=6, msg=f"step {step}, {tag}")

    def flush(self):
        """Nothing is pending."""

    def reopen(self):
        """Nothing is open."""

    def close(self):
        """Nothing is open."""

    def get_logdir(self):
        return self._logdir
