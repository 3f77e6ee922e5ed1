"""A warning when a step is about to wait for a stage that nothing fills. Whether the program starts threads later is not known, so it is
no error; SmartStage makes stages of which a program knows nothing."""

import functools
import weakref

from tensorflow.deeprec.stage import runner, sessions
from tensorflow.python.client import session as session_lib
from tensorflow.python.framework import errors
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.util import nest


def watch(session) -> None:
    """Makes a session warn, once for each stage, before a run that reads a stage without threads in this session."""
    stages = session.graph.get_collection(runner.PREFETCH)
    if stages:
        _Watched(session, stages)


class _Watched:
    """Stands before `_run` of a session, which it does not keep alive, until every stage has threads or was told of."""

    def __init__(self, session, stages):
        self._session, self._stages = weakref.ref(session), list(stages)
        # Names of what was fetched and fed in runs that read no stage.
        self._harmless = set()
        session._run = functools.partial(self._run, type(session)._run)

    def _run(self, own, handle, fetches, feed_dict, *args):
        session = self._session()
        self._stages = [stage for stage in self._stages if not sessions.has(session, stage)]
        if self._stages:
            self._look(session.graph, fetches, feed_dict)
        else:
            session.__dict__.pop("_run", None)
        return own(session, handle, fetches, feed_dict, *args)

    def _look(self, graph, fetches, feed_dict) -> None:
        try:
            handler = session_lib._FetchHandler(graph, fetches, {})
            feeds = nest.flatten(list(feed_dict or {}), expand_composites=True)
            fed = {graph.as_graph_element(feed, allow_operation=False).name for feed in feeds}
        except (TypeError, ValueError, KeyError, RuntimeError, errors.OpError):
            # The run says what is wrong.
            return
        fetched = [tensor for tensor in handler.fetches() if tensor.name not in fed]
        form = (*(tensor.name for tensor in fetched), *(op.name for op in handler.targets()), *sorted(fed))
        if form in self._harmless:
            return
        read = _needed([*(tensor.op for tensor in fetched), *handler.targets()], fed)
        waiting = [stage for stage in self._stages if stage.take_op in read]
        self._stages = [stage for stage in self._stages if stage not in waiting]
        if not waiting:
            self._harmless.add(form)
        for stage in waiting:
            logging.warning(
                "Stage %r has no threads in this session: this step waits for them, at most %g s. Put tf.make_prefetch_hook() among the "
                'hooks, or call create_threads(session, start=True) of the runners in tf.get_collection("prefetch").',
                stage.name,
                stage.take_op.get_attr("timeout_millis") / 1000,
            )


def _needed(operations: list, fed: set) -> set:
    """These operations and all that they depend on, but for what makes the tensors of the names `fed`."""
    found, stack = set(), list(operations)
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack += [tensor.op for tensor in op.inputs if tensor.name not in fed] + list(op.control_inputs)
    return found
