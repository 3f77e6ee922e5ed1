"""Names of tables in names of ops and in errors."""

import contextlib
import re

import tensorflow as tf


def op_name(variable) -> str:
    """The name of a table, as a part of the name of an op: errors of graphs and functions name ops alone."""
    return re.sub(r"[^\w./-]", "_", variable.name.split(":")[0], flags=re.ASCII)


@contextlib.contextmanager
def lookup_of(variable):
    """A context in which errors of ops name the table: eagerly their text does, later the name of the op. In another name scope."""
    with tf.name_scope(op_name(variable)):
        try:
            yield
        except tf.errors.OpError as e:
            if variable.name in e.message:
                raise
            raise type(e)(e.node_def, e.op, f"lookup in {variable.name}: {e.message}") from e
