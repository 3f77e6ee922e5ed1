"""Sessions whose step reads several batches, and those that share a graph with them."""

import functools
import threading
import weakref

from tensorflow.deeprec.micro_batch import inputs
from tensorflow.python.framework import errors, ops
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.util import nest

_SESSIONS = "_deeprec_sessions"
# Each read is ops of the graph, made one by one: a number of millions would keep the session from being made for hours.
_MOST = 1024
_lock = threading.Lock()


def prepare(graph, number: int) -> int:
    """Makes the iterators of a graph be read as a session wants it; called before the session is made.

    Args:
      graph: the graph of the session; None: the default graph.
      number: `micro_batch_num`; 0 and 1: one batch a step.

    Returns:
      The number of batches a step.

    Raises:
      ValueError: the number is negative or above 1024, or an iterator can not be read so.
    """
    if not 0 <= number <= _MOST:
        raise ValueError(
            "graph_options.optimizer_options.micro_batch_num must be at least 1, or 0 for the default, and at most "
            f"{_MOST}, got {number}"
        )
    number = max(number, 1)
    graph = graph or ops.get_default_graph()
    found = inputs.of(graph, make=number > 1)
    if found is not None:
        _rewire(graph, found, number)
    return number


def follow(session, number: int) -> None:
    """Makes a session see what is added to its graph later, and fetches and feeds of what iterators give mean all rows."""
    with _lock:
        others = getattr(session.graph, _SESSIONS, None)
        if others is None:
            others = weakref.WeakKeyDictionary()
            setattr(session.graph, _SESSIONS, others)
        others[session] = number
    if number > 1:
        _Followed(session, number)


def _rewire(graph, found, number: int) -> None:
    if not found.follow(number):
        return
    with _lock:
        others = list(getattr(graph, _SESSIONS, {}).items())
    for session, theirs in others:
        if theirs != number and not session._closed:
            # It would read as many batches as the new one.
            session._extend_graph = functools.partial(_refuse_graph, theirs, number)


def _refuse_graph(mine: int, theirs: int) -> None:
    raise errors.FailedPreconditionError(
        None,
        None,
        f"micro_batch_num of this session is {mine}, but a later session on its graph was made with {theirs} and has changed how "
        "the iterators are read: close this session before, or use another graph.",
    )


class _Followed:
    """What a session with micro batches does before and instead of its own methods, which it does not keep alive."""

    def __init__(self, session, number: int):
        self._session, self._number, self._warned = weakref.ref(session), number, False
        self._inputs = inputs.of(session.graph)
        for name in ("_extend_graph", "_do_run"):
            own = getattr(type(session), name)
            setattr(session, name, functools.partial(getattr(self, name), own))
        for name in ("make_callable", "partial_run_setup", "_make_callable_from_options"):
            own = getattr(type(session), name)
            setattr(session, name, functools.partial(self._without_inputs, name, own))

    def _follow(self) -> None:
        if self._inputs.number != self._number:
            _refuse_graph(self._number, self._inputs.number)
        self._inputs.follow(self._number)

    def _extend_graph(self, own) -> None:
        self._follow()
        if not self._inputs.operations and not self._warned:
            self._warned = True
            logging.warning(
                "micro_batch_num has no effect: the graph has no tf.data iterator outside of functions, loops and conditions."
            )
        own(self._session())

    def _do_run(self, own, handle, target_list, fetch_list, feed_dict, options, run_metadata):
        # Before the names are looked up: what is fetched may have been added after the session was made.
        self._follow()
        tensors, operations = self._inputs.tensors, self._inputs.operations
        if not tensors.keys().isdisjoint(feed_dict):
            for fed in tensors.keys() & feed_dict.keys():
                if not self._inputs.graph().is_feedable(tensors[fed]):
                    raise ValueError(f"Tensor {fed.deref().name} may not be fed.")
            feed_dict = {(tensors[fed].ref() if fed in tensors else fed): value for fed, value in feed_dict.items()}
        fetch_list = [tensors.get(fetch.ref(), fetch) for fetch in fetch_list]
        target_list = [operations.get(target, target) for target in target_list]
        return own(self._session(), handle, target_list, fetch_list, feed_dict, options, run_metadata)

    def _without_inputs(self, method: str, own, fetches, *args, **kwargs):
        self._follow()
        graph = self._inputs.graph()
        if method == "_make_callable_from_options":
            names = [*fetches.fetch, *fetches.feed, *fetches.target]
        elif method == "make_callable" and (args[:1] or [kwargs.get("feed_list")])[0] is not None:
            # Calls session.run.
            names = []
        else:
            names = nest.flatten([fetches, args, kwargs], expand_composites=True)
        for name in names:
            try:
                element = graph.as_graph_element(name)
            except (TypeError, ValueError, KeyError):
                # Not an element of the graph: an option.
                continue
            if element in self._inputs.operations or (
                isinstance(element, ops.Tensor) and element.ref() in self._inputs.tensors
            ):
                raise ValueError(
                    f"{method}: with micro_batch_num, what an iterator gives ({element.name}) is fetched and fed by session.run alone"
                )
        return own(self._session(), fetches, *args, **kwargs)
