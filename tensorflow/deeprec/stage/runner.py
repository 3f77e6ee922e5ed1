"""The runner of a stage: what its threads need, in the collection `prefetch` of the graph."""

from tensorflow.core.protobuf import config_pb2
from tensorflow.deeprec.stage import exception_types, feeds, sessions
from tensorflow.deeprec.stage.filling import Filling
from tensorflow.python.client import session
from tensorflow.python.framework import ops
from tensorflow.python.platform import tf_logging as logging

PREFETCH = "prefetch"

_OPERATIONS = ("cancel", "resume", "close", "fail")


class PrefetchRunner:
    """Starts the threads that fill a stage.

    `tf.make_prefetch_hook()` does it in monitored sessions. In a plain session:

        for runner in tf.get_collection("prefetch"):
            runner.create_threads(session, start=True)
    """

    def __init__(
        self,
        name: str,
        put_ops: list,
        take_op,
        controls: dict,
        capacity: int,
        feed=None,
        closed_exception_types: tuple = (),
        ignored_exception_types: tuple = (),
        thread_pool=None,
    ):
        """`put_ops`: one operation a thread; `controls`: see `Buffer.controls`; `thread_pool`: index of the session's pool or None."""
        self.name, self.put_ops, self.take_op, self.ops = name, list(put_ops), take_op, controls
        self.capacity = capacity
        self.feeds = feed or feeds.NoFeeds()
        self.closed_types, self.ignored_types = closed_exception_types, ignored_exception_types
        self.thread_pool = thread_pool
        # Errors that ended the filling, in any session.
        self.exceptions_raised = []

    def create_threads(self, sess, coord=None, daemon=True, start=False) -> list:
        """Makes the threads that fill the stage in a session.

        They end with the input, with an error, when `coord` stops, or when the session is closed, which waits for them.

        Args:
          sess: a `tf.Session` on the graph of the stage.
          coord: optional `tf.train.Coordinator`.
          daemon: whether the threads are daemons.
          start: whether they are started; otherwise the caller does.

        Returns:
          The list of threads; empty where the stage is being filled in this session already.

        Raises:
          TypeError: `sess` is no session of its own, such as a monitored one.
          ValueError: the session is on another graph, or has no stage thread pool of the index asked for.
          RuntimeError: the session is closed.
          tf.errors.OpError: the session cannot run anything.
        """
        # A session that the debugger has wrapped.
        sess = getattr(sess, "session", sess)
        if not isinstance(sess, session.BaseSession):
            raise TypeError(f"sess must be a tf.Session, got {sess!r}; monitored sessions have tf.make_prefetch_hook()")
        if sess.graph is not self.put_ops[0].graph:
            raise ValueError(f"sess is on another graph than the stage {self.name!r}")
        filling = Filling(self, sess, coord, self._run_options(sess))
        if not sessions.add(sess, filling):
            return []
        threads = filling.make_threads(daemon)
        if start:
            # Not by a thread alone: a step that comes before it would count its time limit.
            try:
                filling.begin()
            except Exception:
                filling.stop()
                raise
            for thread in threads:
                thread.start()
        return threads

    def _run_options(self, sess):
        if self.thread_pool is None:
            return None
        pools = len(sess._config.session_stage_subgraph_thread_pool)
        if self.thread_pool >= pools:
            raise ValueError(
                f"stage_subgraph_thread_pool_id of the stage {self.name!r} is {self.thread_pool}, but the ConfigProto of the session has "
                f"{pools} session_stage_subgraph_thread_pool"
            )
        if sess._target:
            logging.warning(
                "Stage %r: sessions of a server have no stage thread pools; it runs on the common one.", self.name
            )
            return None
        # `config.effects` has appended them to the pools that runs can choose.
        first = len(sess._config.session_inter_op_thread_pool) - pools
        return config_pb2.RunOptions(inter_op_thread_pool=first + self.thread_pool)

    def to_proto(self, export_scope=None):
        """As PrefetchRunnerOptions; None if the stage is fed from Python, or outside of the scope."""
        fed = self.feeds.names()
        if fed is None or (export_scope and not self.take_op.name.startswith(export_scope + "/")):
            return None

        def inside(name):
            return ops.strip_name_scope(name, export_scope)

        proto = config_pb2.PrefetchRunnerOptions(
            name=self.name,
            put_ops=[inside(op.name) for op in self.put_ops],
            take_op=inside(self.take_op.name),
            capacity=self.capacity,
            closed_exception_types=exception_types.codes(self.closed_types),
            ignored_exception_types=exception_types.codes(self.ignored_types),
            fed_tensors=[inside(name) for name in fed[0]],
            fed_values=[inside(name) for name in fed[1]],
            use_stage_subgraph_thread_pool=self.thread_pool is not None,
            stage_subgraph_thread_pool_id=self.thread_pool or 0,
        )
        for key in _OPERATIONS:
            setattr(proto, f"{key}_op", inside(self.ops[key].name))
        proto.size_op = inside(self.ops["size"].name)
        proto.fail_code, proto.fail_message = (inside(self.ops[key].name) for key in ("fail_code", "fail_message"))
        return proto

    @staticmethod
    def from_proto(proto, import_scope=None) -> "PrefetchRunner":
        """The runner that a MetaGraphDef describes, on the default graph."""
        graph = ops.get_default_graph()

        def find(name):
            return graph.as_graph_element(ops.prepend_name_scope(name, import_scope))

        controls = {key: find(getattr(proto, f"{key}_op")) for key in _OPERATIONS}
        controls.update(
            size=find(proto.size_op), fail_code=find(proto.fail_code), fail_message=find(proto.fail_message)
        )
        fed = {find(tensor): find(value) for tensor, value in zip(proto.fed_tensors, proto.fed_values)}
        return PrefetchRunner(
            proto.name,
            [find(name) for name in proto.put_ops],
            find(proto.take_op),
            controls,
            proto.capacity,
            feeds.TensorFeeds(fed) if fed else None,
            exception_types.classes("closed_exception_types", proto.closed_exception_types),
            exception_types.classes("ignored_exception_types", proto.ignored_exception_types),
            proto.stage_subgraph_thread_pool_id if proto.use_stage_subgraph_thread_pool else None,
        )


def install() -> None:
    """Lets MetaGraphDefs carry runners."""
    ops.register_proto_function(
        PREFETCH,
        proto_type=config_pb2.PrefetchRunnerOptions,
        to_proto=PrefetchRunner.to_proto,
        from_proto=PrefetchRunner.from_proto,
    )
