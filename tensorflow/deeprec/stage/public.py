"""`tf.staged` and `tf.prefetch_join`, with the arguments of both generations of DeepRec."""

import inspect

from tensorflow.deeprec.stage import exception_types, feeds, records, runner
from tensorflow.deeprec.stage.buffer import Buffer, BufferOptions, boolean, positive
from tensorflow.deeprec.stage.uncounted import uncounted
from tensorflow.python.eager import context
from tensorflow.python.framework import errors, ops
from tensorflow.python.ops import array_ops
from tensorflow.python.platform import tf_logging as logging

_NEW_TAIL = {
    "timeout_millis": 300000,
    "closed_exception_types": (errors.OUT_OF_RANGE,),
    "ignored_exception_types": (),
}
_OLD_TAIL = {"timeout_millis": 300000, "closed_exception_types": None, "ignored_exception_types": None, "name": None}
_POOL = {
    "use_stage_subgraph_thread_pool": False,
    "stage_subgraph_thread_pool_id": 0,
    "stage_subgraph_stream_id": 0,
    "name": None,
}


def _signature(defaults: dict) -> inspect.Signature:
    parameter = inspect.Parameter
    return inspect.Signature(
        [parameter(name, parameter.POSITIONAL_OR_KEYWORD, default=value) for name, value in defaults.items()]
    )


def _signatures(threads: dict) -> tuple:
    """The old and the new arguments after the first."""
    counts = {"capacity": 1, **threads, "num_clients": 1}
    return (
        _signature({"feed_list": None, "feed_generator": None, **counts, **_OLD_TAIL}),
        _signature({"feed_dict": {}, **counts, **_NEW_TAIL, **_POOL}),
    )


_STAGED = _signatures({"num_threads": 1})
_JOIN = _signatures({})


def _arguments(function: str, signatures: tuple, args: tuple, kwargs: dict) -> dict:
    """The arguments by name: of the old form if there is a feed list, or a feed generator in its place."""
    old = "feed_list" in kwargs or "feed_generator" in kwargs
    if args and not isinstance(args[0], dict):
        old = old or args[0] is not None or (len(args) > 1 and not hasattr(args[1], "__index__"))
    try:
        bound = signatures[0 if old else 1].bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{function}: {error}") from None
    bound.apply_defaults()
    return bound.arguments


def _feeds(arguments: dict):
    if "feed_dict" in arguments:
        given = arguments["feed_dict"]
        if given is not None and not isinstance(given, dict):
            raise TypeError(f"feed_dict must be a dictionary, got {given!r}")
        return feeds.TensorFeeds(given) if given else feeds.NoFeeds()
    given, generator = arguments["feed_list"], arguments["feed_generator"]
    if (given is None) != (generator is None):
        raise ValueError("feed_list and feed_generator go together, got one of them")
    return feeds.NoFeeds() if given is None else feeds.GeneratedFeeds(given, generator)


def _closed_types(arguments: dict) -> tuple:
    given = arguments["closed_exception_types"]
    if given is None:
        given = (errors.OutOfRangeError, errors.CancelledError, StopIteration)
    return exception_types.classes("closed_exception_types", given)


def _thread_pool(arguments: dict):
    """The index of the thread pool, or None."""
    if arguments.get("stage_subgraph_stream_id", 0):
        logging.warning("stage_subgraph_stream_id has no effect: there are no streams on a CPU.")
    number = arguments.get("stage_subgraph_thread_pool_id", 0)
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"stage_subgraph_thread_pool_id must be a whole number, got {number!r}")
    if number < 0:
        raise ValueError(f"stage_subgraph_thread_pool_id must not be negative, got {number}")
    name = "use_stage_subgraph_thread_pool"
    return number if boolean(name, arguments.get(name, False)) else None


def _check_place() -> None:
    if context.executing_eagerly():
        raise RuntimeError("A stage needs a graph: it cannot be made in eager mode.")
    graph = ops.get_default_graph()
    if graph.building_function or graph._get_control_flow_context() is not None:
        raise ValueError("A stage must be made at the top of a graph, not in a function, tf.cond or tf.while_loop.")


def _stage(threads: list, arguments: dict):
    """Makes a stage that one thread for each of the structures fills."""
    first = threads[0]
    feed, closed = _feeds(arguments), _closed_types(arguments)
    ignored = exception_types.classes("ignored_exception_types", arguments["ignored_exception_types"] or ())
    pool = _thread_pool(arguments)
    name = arguments["name"]
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a string, or None, got {name!r}")
    # A slash would mean a scope that is there already, and its buffer.
    with ops.name_scope(name.rstrip("/") if name else name, runner.PREFETCH) as scope:
        options = BufferOptions(
            scope[:-1], arguments["capacity"], arguments["num_clients"], arguments["timeout_millis"]
        )
        buffer = Buffer(options)
        puts = {}
        for structure in threads:
            if structure not in puts:
                puts[structure] = buffer.put(structure.tensors)
        taken = buffer.take(_common(list(puts)))
        stage = runner.PrefetchRunner(
            options.name,
            [puts[structure] for structure in threads],
            taken[0].op,
            buffer.controls(),
            options.capacity,
            feed,
            closed,
            ignored,
            pool,
        )
        # What a program holds are these, so that the op that takes can be another one.
        record = [array_ops.identity(tensor, name="record") for tensor in taken]
    ops.add_to_collection(runner.PREFETCH, stage)
    return first.pack(record)


class _Like:
    """A tensor's dtype and the static shape that several have in common."""

    def __init__(self, tensors):
        self.dtype = tensors[0].dtype
        shapes = [tensor.shape for tensor in tensors]
        self.shape = shapes[0]
        for shape in shapes[1:]:
            self.shape = self.shape.most_specific_compatible_shape(shape)


def _common(structures: list) -> list:
    return [_Like(tensors) for tensors in zip(*(structure.tensors for structure in structures))]


def staged(features, *args, **kwargs):
    """Computes `features` ahead of the step, in threads of their own.

    What comes back has the same structure, and in each step the values of another record, in the order in which they were made (with
    one thread). The threads are started by `tf.make_prefetch_hook()` in the hooks of the session, or by hand:
    `tf.get_collection("prefetch")` holds a runner with `create_threads`. After the end of the input and the last record, steps end with
    `tf.errors.OutOfRangeError`; after an error in a thread, with that error.

    Two forms of arguments are understood:

        staged(features, feed_dict={}, capacity=1, num_threads=1, num_clients=1, timeout_millis=300000,
               closed_exception_types=(tf.errors.OUT_OF_RANGE,), ignored_exception_types=(),
               use_stage_subgraph_thread_pool=False, stage_subgraph_thread_pool_id=0, stage_subgraph_stream_id=0, name=None)
        staged(features, feed_list=None, feed_generator=None, capacity=1, num_threads=1, num_clients=1,
               timeout_millis=300000, closed_exception_types=None, ignored_exception_types=None, name=None)

    Args:
      features: nest of tensors of any shape and dtype, SparseTensors, RaggedTensors and None.
      feed_dict: placeholders, or SparseTensors of them -> tensors, evaluated before each record and fed to its run.
      feed_list: placeholders; `feed_generator` then yields a list of their values for each record.
      capacity: number of records that may wait.
      num_threads: number of threads.
      num_clients: number of threads that run steps. It is written into the graph; any number works, each record goes to one of them, and
        the end to all.
      timeout_millis: a record that has waited that long for room is kept beyond the capacity, with a warning, and the thread pauses until
        there is room. A step that has waited that long in a stage without threads ends with DeadlineExceededError.
      closed_exception_types: error codes or exception classes that are the end of the input. The default of the second form:
        OutOfRangeError, CancelledError, StopIteration.
      ignored_exception_types: error codes or exception classes after which a thread goes on with the next record.
      use_stage_subgraph_thread_pool: whether the ops run in a pool of `ConfigProto.session_stage_subgraph_thread_pool`.
      stage_subgraph_thread_pool_id: the index of that pool.
      stage_subgraph_stream_id: no effect on a CPU; a warning.
      name: name of the ops and of the buffer.

    Returns:
      The nest, with the dtypes and static shapes of `features`.

    Raises:
      TypeError, ValueError: an argument is not as above, or the place is in a function, a loop or a condition.
      RuntimeError: eager mode.
    """
    arguments = _arguments("staged", _STAGED, args, kwargs)
    threads = positive("num_threads", arguments["num_threads"])
    _check_place()
    with uncounted(ops.get_default_graph()):
        return _stage([records.Structure(features)] * threads, arguments)


def prefetch_join(thread_to_features, *args, **kwargs):
    """Like `tf.staged`, of several inputs: one thread for each of them, and one buffer. It ends when all have ended.

    Args:
      thread_to_features: list of nests of the same structure and dtypes, one for each thread.
      *args, **kwargs: those of `tf.staged` after `features`, in both forms, without `num_threads`.

    Returns:
      A nest like the first, with the static shapes that all have in common.

    Raises:
      TypeError, ValueError: an argument is not as above.
    """
    arguments = _arguments("prefetch_join", _JOIN, args, kwargs)
    if not isinstance(thread_to_features, (list, tuple)) or not thread_to_features:
        raise ValueError(f"thread_to_features must be a list with an entry for each thread, got {thread_to_features!r}")
    _check_place()
    with uncounted(ops.get_default_graph()):
        threads = [records.Structure(features) for features in thread_to_features]
        for number, other in enumerate(threads[1:], 1):
            threads[0].check_like(other, f"thread_to_features[{number}]")
        return _stage(threads, arguments)
