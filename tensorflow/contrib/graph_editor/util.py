"""Lists of ops and tensors, control outputs, placeholders, name scopes."""

import tensorflow as tf

# What a placeholder that stands in for a tensor is called, unless the caller says otherwise.
_DEFAULT_PREFIX = "geph"


def is_iterable(obj):
    """Whether `iter(obj)` works; a Tensor or a Graph does not count."""
    if isinstance(obj, (tf.Tensor, tf.Graph)):
        return False
    try:
        iter(obj)
    except Exception:  # noqa: BLE001 (an object may raise anything here)
        return False
    return True


def flatten_tree(tree, leaves=None):
    """The leaves of nested lists, tuples and dicts, in order; appended to `leaves` if that is given."""
    leaves = [] if leaves is None else leaves
    if isinstance(tree, dict):
        for value in tree.values():
            flatten_tree(value, leaves)
    elif is_iterable(tree):
        for value in tree:
            flatten_tree(value, leaves)
    else:
        leaves.append(tree)
    return leaves


def transform_tree(tree, fn, iterable_type=tuple):
    """`fn` of each leaf of nested lists, tuples and dicts, nested in the same way."""
    if isinstance(tree, dict):
        values = {key: transform_tree(value, fn) for key, value in tree.items()}
        return values if type(tree) is dict else type(tree)(**values)
    if is_iterable(tree):
        values = (transform_tree(value, fn) for value in tree)
        if isinstance(tree, tuple) and hasattr(tree, "_fields"):
            return type(tree)(*values)
        return (type(tree) if isinstance(tree, (list, tuple)) else iterable_type)(values)
    return fn(tree)


def concatenate_unique(la, lb):
    """Appends to the list `la` what of `lb` is not in it, in order; returns `la`."""
    seen = set(la)
    for item in lb:
        if item not in seen:
            la.append(item)
            seen.add(item)
    return la


def get_unique_graph(tops, check_types=None, none_if_empty=False):
    """The one graph that all ops and tensors belong to.

    Args:
      tops: an op, tensor or graph, or an iterable of ops and tensors.
      check_types: type or types that each must be of; Tensor and Operation by default.
      none_if_empty: whether an empty iterable gives None, not an error.

    Raises:
      TypeError: something is neither a tensor nor an op.
      ValueError: they belong to several graphs, or to none.
    """
    if isinstance(tops, tf.Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    if check_types is None:
        check_types = (tf.Operation, tf.Tensor)
    elif not is_iterable(check_types):
        check_types = (check_types,)
    graph = None
    for top in tops:
        if not isinstance(top, tuple(check_types)):
            names = ", ".join(t.__name__ for t in check_types)
            raise TypeError(f"Expected a type in ({names}), got: {type(top)}")
        if graph is None:
            graph = top.graph
        elif graph is not top.graph:
            raise ValueError(f"Operation {top} does not belong to the graph of the others")
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def check_graphs(*args):
    """Checks that all arguments, those without a graph aside, have one graph.

    Raises:
      ValueError: they have several.
    """
    graph = None
    for position, item in enumerate(args):
        if item.graph is None:
            continue
        if graph is None:
            graph = item.graph
        elif item.graph is not graph:
            raise ValueError(f"Argument[{position}]: Wrong graph!")


def make_list_of_op(ops, check_graph=True, allow_graph=True, ignore_ts=False):
    """A list of ops from an op, an iterable of ops, or a graph.

    Args:
      ops: what to convert.
      check_graph: whether the ops must all belong to one graph.
      allow_graph: whether a graph is taken.
      ignore_ts: whether tensors in an iterable are dropped, not an error.

    Raises:
      TypeError: something is no op, or a graph that is not taken.
      ValueError: the ops belong to several graphs.
    """
    return _make_list(ops, tf.Operation, tf.Graph.get_operations, check_graph, allow_graph, ignore_ts)


def make_list_of_t(ts, check_graph=True, allow_graph=True, ignore_ops=False):
    """A list of tensors from a tensor, an iterable of tensors, or a graph; see `make_list_of_op`."""
    return _make_list(ts, tf.Tensor, get_tensors, check_graph, allow_graph, ignore_ops)


def _make_list(items, kind, of_graph, check_graph, allow_graph, ignore_others):
    if isinstance(items, tf.Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return list(of_graph(items))
    items = list(items) if is_iterable(items) else [items]
    if items and check_graph:
        get_unique_graph(items, None if ignore_others else kind)
    return [item for item in items if isinstance(item, kind)]


def get_tensors(graph):
    """All tensors of a graph, in the order of their ops.

    Raises:
      TypeError: `graph` is no graph.
    """
    if not isinstance(graph, tf.Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def get_generating_ops(ts):
    """The ops that make the tensors, each once, in order."""
    return concatenate_unique([], (t.op for t in make_list_of_t(ts, allow_graph=False)))


def get_consuming_ops(ts):
    """The ops that take the tensors, each once, in order."""
    found = []
    for t in make_list_of_t(ts, allow_graph=False):
        concatenate_unique(found, t.consumers())
    return found


class ControlOutputs:
    """Which ops wait for an op by a control input: the graph itself knows only the other direction."""

    def __init__(self, graph):
        """Reads all control inputs of `graph`.

        Raises:
          TypeError: `graph` is no graph.
        """
        if not isinstance(graph, tf.Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self.update()

    def update(self):
        """Reads the graph again; returns self."""
        self._outputs = {}
        for op in self._graph.get_operations():
            for source in op.control_inputs:
                waiting = self._outputs.setdefault(source, [])
                if op not in waiting:
                    waiting.append(op)
        return self

    def get_all(self):
        """Dict from op to the list of ops that wait for it."""
        return self._outputs

    def get(self, op):
        """List of the ops that wait for `op`."""
        return self._outputs.get(op, [])

    @property
    def graph(self):
        return self._graph


def scope_finalize(scope):
    """`scope` with a slash at its end, unless it is empty."""
    return scope if not scope or scope.endswith("/") else scope + "/"


def scope_dirname(scope):
    """The part up to and with the last slash; empty where there is none."""
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope):
    """The part after the last slash."""
    return scope[scope.rfind("/") + 1 :]


def placeholder_name(t=None, scope=None, prefix=_DEFAULT_PREFIX):
    """A name for a placeholder.

    Args:
      t: the tensor that it stands in for, if any: its name and index become part of the name.
      scope: where to put it; by default where `t` is.
      prefix: what the name starts with. A name that starts with it already is kept.

    Raises:
      TypeError: `t` is no Tensor.
    """
    if scope is not None:
        scope = scope_finalize(scope)
    if t is None:
        return f"{scope or ''}{prefix}"
    if not isinstance(t, tf.Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    base = scope_basename(t.op.name)
    if not base.startswith(f"{prefix}__"):
        base = f"{prefix}__{base}_{t.value_index}"
    return (scope_dirname(t.op.name) if scope is None else scope) + base


def make_placeholder_from_tensor(t, scope=None, prefix=_DEFAULT_PREFIX):
    """A placeholder of the type and shape of `t` in the default graph, named by `placeholder_name`."""
    return tf.placeholder(t.dtype, t.shape, name=placeholder_name(t, scope, prefix))


def make_placeholder_from_dtype_and_shape(dtype, shape=None, scope=None, prefix=_DEFAULT_PREFIX):
    """A placeholder of that type and shape in the default graph, named by `placeholder_name`."""
    return tf.placeholder(dtype, shape, name=placeholder_name(scope=scope, prefix=prefix))


def get_predefined_collection_names():
    """The names of `tf.GraphKeys`."""
    return [value for key, value in vars(tf.GraphKeys).items() if not key.startswith("_") and isinstance(value, str)]
