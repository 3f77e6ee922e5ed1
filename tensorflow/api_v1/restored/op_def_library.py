"""OpDefLibrary: adds ops to the graph by name, and the list of registered ops."""

from tensorflow.python.framework import op_def_library, op_def_registry
from tensorflow.core.framework import op_def_pb2


class OpDefLibrary:
    """Builds ops of a set of definitions; all ops of the runtime are known to begin with."""

    def __init__(self):
        self._ops = {}

    def add_op(self, op_def):
        """Adds an OpDef; the runtime must have registered the op, whose definition is the one that counts."""
        if not isinstance(op_def, op_def_pb2.OpDef):
            raise TypeError(f"{op_def} is {type(op_def)}, not an op_def_pb2.OpDef")
        if op_def_registry.get(op_def.name) is None:
            raise RuntimeError(f"op {op_def.name} is not registered in the runtime")
        self._ops[op_def.name] = op_def

    def add_op_list(self, op_list):
        for op_def in op_list.op:
            self.add_op(op_def)

    def apply_op(self, op_type_name, name=None, **keywords):
        """Adds a node to the default graph; returns its output tensors, or the Operation if it has none.

        Raises:
          RuntimeError: an op that is not registered. TypeError, ValueError: bad inputs or attributes.
        """
        return op_def_library.apply_op(op_type_name, name=name, **keywords)


def get_registered_ops():
    """Name -> OpDef of every op in the runtime."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    buffer = pywrap_tf_session.TF_GetAllOpList()
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(buffer))
    pywrap_tf_session.TF_DeleteBuffer(buffer)
    return {op.name: op for op in ops.op}


def register_op_list(op_list):
    """Checks that the runtime has every op of an OpList, which is all that registration means now.

    Raises:
      TypeError: not an OpList. ValueError: an op that the runtime does not have.
    """
    if not isinstance(op_list, op_def_pb2.OpList):
        raise TypeError(f"{op_list} is {type(op_list)}, not an op_def_pb2.OpList")
    for op_def in op_list.op:
        if op_def_registry.get(op_def.name) is None:
            raise ValueError(f"op {op_def.name} is not registered in the runtime: load its library first")
