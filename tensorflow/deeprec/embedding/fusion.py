"""Which columns share an op: `tf.feature_column.group_embedding_column_scope`, `do_fusion`, and how their lookups become one.

A column that is to be fused makes a GroupEmbeddingLookup of its own while the layer goes through its columns. At the end of the
layer those of one scope are replaced by one op for all: their consumers are given its outputs. What was replaced stays in the
graph, but nothing runs it.
"""

import contextlib
import functools
import itertools
import threading

from tensorflow.python.framework import ops

_state = threading.local()
_scope_numbers = itertools.count(1)


class Scope:
    """A set of columns that share an op. Columns of no scope with `do_fusion` share one of theirs."""

    def __init__(self, name=None):
        self.name = name or f"group_embedding_column_scope_{next(_scope_numbers)}"

    def __repr__(self):
        return f"<scope of embedding columns {self.name!r}>"


_DO_FUSION = Scope("do_fusion")


@contextlib.contextmanager
def _set(**values):
    before = {name: getattr(_state, name, None) for name in values}
    for name, value in values.items():
        setattr(_state, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(_state, name, value)


@contextlib.contextmanager
def group_embedding_column_scope(name=None):
    """A context: the embedding columns that are made in it are looked up in one op.

    Args:
      name: of the scope; None: a number.

    Yields:
      The scope.
    """
    scope = Scope(name)
    with _set(column_scope=scope):
        yield scope


def coalesced_embedding_scope(name=None, num_partitions=None):
    """As group_embedding_column_scope, under DeepRec's older name. Each column keeps a variable of its own.

    Args:
      name: of the scope.
      num_partitions: must be None: variables are partitioned by their own columns or scopes.

    Yields:
      The scope, which `embedding_column(coalesced_scope=...)` takes as well.

    Raises:
      ValueError: num_partitions is given.
    """
    if num_partitions is not None:
        raise ValueError(
            f"num_partitions must be None, got {num_partitions!r}: columns keep variables of their own, which their scope's "
            "partitioner cuts."
        )
    return group_embedding_column_scope(name)


def mark(column, do_fusion, coalesced_scope=None):
    """Notes on a new column what it shares an op with.

    Raises:
      ValueError: coalesced_scope is no scope.
    """
    if coalesced_scope is not None and not isinstance(coalesced_scope, Scope):
        raise ValueError(
            "coalesced_scope must be what `with tf.feature_column.coalesced_embedding_scope() as scope` gives, got "
            f"{coalesced_scope!r}"
        )
    column.do_fusion = bool(do_fusion)
    column.coalesced_scope = coalesced_scope
    column.fusion_scope = (
        coalesced_scope or getattr(_state, "column_scope", None) or (_DO_FUSION if do_fusion else None)
    )
    return column


# While a column is looked up.


def none():
    """A context in which lookups are composed."""
    return _set(lookup_scope=None)


def of_column(column):
    """A context in which lookups are those of `column`."""
    return _set(lookup_scope=getattr(column, "fusion_scope", None))


def is_on() -> bool:
    """Whether safe lookups are to be fused."""
    return getattr(_state, "lookup_scope", None) is not None


def made(op) -> None:
    """A GroupEmbeddingLookup was made."""
    scope, found = getattr(_state, "lookup_scope", None), getattr(_state, "found", None)
    if scope is not None and found is not None:
        found.append((scope, op))


# While a layer goes through its columns.


def layer(function):
    """The function, with lookups of columns of one scope joined when it ends."""

    @functools.wraps(function)
    def in_one_op(*args, **kwargs):
        with _set(found=[]):
            result = function(*args, **kwargs)
            _join(_state.found)
        return result

    return in_one_op


def _join(found) -> None:
    groups = {}
    for scope, op in found:
        # One op runs in one place, with one dtype.
        key = (scope, op.graph, op._get_control_flow_context(), op.device, op.get_attr("T"))
        groups.setdefault(key, []).append(op)
    for (scope, *_), members in groups.items():
        if len(members) > 1:
            _join_ops(scope, members)


def _join_ops(scope, members) -> None:
    from tensorflow.deeprec import library
    from tensorflow.deeprec.embedding import group_lookup

    inputs, attributes = {}, {}
    for op in members:
        own = group_lookup.attributes_of(op)
        for target, source in ((inputs, group_lookup.inputs_of(op.inputs, own)), (attributes, own)):
            for name, values in source.items():
                target.setdefault(name, []).extend(values)
    with ops.control_dependencies(None), ops.colocate_with(members[0], ignore_existing=True):
        rows = library.ops().group_embedding_lookup(
            **inputs, **attributes, T=members[0].get_attr("T"), name=scope.name.replace("/", "_")
        )
    outputs = [output for op in members for output in op.outputs]
    for old, new in zip(outputs, rows):
        for consumer in old.consumers():
            for i, tensor in enumerate(consumer.inputs):
                if tensor is old:
                    consumer._update_input(i, new)  # pylint: disable=protected-access
