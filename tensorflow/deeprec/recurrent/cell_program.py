"""What a cell computes, read from the ops it made in the body of a loop: the program of `core/recurrent/program.h`."""

from typing import Dict, List, NamedTuple, Optional, Sequence

from tensorflow.python.framework import dtypes, tensor_util
from tensorflow.python.framework.tensor import Tensor

# Numbers of the enum Code.
_INPUT, _STATE, _CONCAT, _SLICE, _MATMUL, _ADD_VECTOR, _MUL_VECTOR, _ADD, _SUBTRACT, _MULTIPLY, _AFFINE = range(11)
_FUNCTIONS = {"Sigmoid": 11, "Tanh": 12, "Relu": 13}
_OPERATIONS = {"Add": _ADD, "AddV2": _ADD, "BiasAdd": _ADD, "Sub": _SUBTRACT, "Mul": _MULTIPLY}

# Matrices that leave the cache between time steps are better multiplied by many rows at once, as the loop does.
_MAX_CAPTURED = 1 << 18


class Unreadable(Exception):
    """The cell does something that no program says; the message is why."""


class Program(NamedTuple):
    """Attributes of the ops; `captures` are tensors outside of the loop, the handle of a variable where it is read in it."""

    integers: List[int]
    scalars: List[float]
    outputs: List[int]
    widths: List[int]
    new_states: List[int]
    captures: List[Tensor]


def read(
    inputs: Sequence[Tensor], states: Sequence[Tensor], outputs: Sequence[Tensor], new_states: Sequence[Tensor]
) -> Program:
    """The program of a cell that was called in the body of a loop.

    Args:
      inputs, states: what it was called with, float32 [batch, width].
      outputs, new_states: what it returned.

    Raises:
      Unreadable: there is none.
    """
    reader = _Reader(inputs, states)
    chosen = [reader.value_of(tensor) for tensor in outputs]
    new = [reader.value_of(tensor) for tensor in new_states]
    for tensor, value, state in zip(new_states, new, states):
        if reader.widths[value] != _width(state):
            raise Unreadable(f"{tensor.name} has another width than the state it replaces")
    if sum(tensor.shape.num_elements() or 0 for tensor in reader.capture_shapes) > _MAX_CAPTURED:
        raise Unreadable("its matrices are large")
    widths = [reader.widths[value] for value in chosen]
    return Program(reader.integers, reader.scalars, chosen, widths, new, reader.captures)


def _width(tensor: Tensor) -> int:
    shape = tensor.shape
    if tensor.dtype != dtypes.float32 or shape.rank != 2 or not shape.dims[1].value:
        raise Unreadable(f"{tensor.name} is {tensor.dtype.name} of shape {shape}, not float32 [batch, width]")
    return shape.dims[1].value


class _Reader:
    """Goes from results to what they are made of, and writes values down on the way back."""

    def __init__(self, inputs: Sequence[Tensor], states: Sequence[Tensor]):
        self.integers: List[int] = []
        self.scalars: List[float] = []
        self.widths: List[int] = []
        self.captures: List[Tensor] = []
        self.capture_shapes: List[Tensor] = []
        self._values: Dict[int, int] = {}  # by id of the tensor, all of which the graph keeps
        for code, tensors in ((_INPUT, inputs), (_STATE, states)):
            for index, tensor in enumerate(tensors):
                if id(tensor) in self._values:
                    raise Unreadable(f"{tensor.name} is both input and state")
                self._values[id(tensor)] = self._add(code, _width(tensor), index)

    def value_of(self, tensor: Tensor) -> int:
        """The value that `tensor` is, with all before it. Without recursion: cells may be deep."""
        waiting = [tensor]
        while waiting:
            current = waiting[-1]
            if id(current) in self._values:
                waiting.pop()
                continue
            missing = [operand for operand in self._operands(current) if id(operand) not in self._values]
            if missing:
                if len(waiting) > 10000:
                    raise Unreadable("it is made of too many ops")
                waiting.extend(missing)
            else:
                self._values[id(current)] = self._write(current)
        return self._values[id(tensor)]

    def _add(
        self, code: int, width: int, index: int, operands: Sequence[int] = (), scale: float = 0.0, offset: float = 0.0
    ) -> int:
        self.integers += [code, width, index, len(operands), *operands]
        self.scalars += [scale, offset]
        self.widths.append(width)
        return len(self.widths) - 1

    def _operands(self, tensor: Tensor) -> List[Tensor]:
        """The inputs of its op that are values of the step."""
        op = tensor.op
        context = op._get_control_flow_context()
        if context is None or any(control is not context.pivot.op for control in op.control_inputs):
            raise Unreadable(f"{op.name} waits for other ops, or is outside of the loop")
        if op.type == "ConcatV2":
            return list(op.inputs[:-1])
        if op.type == "Split":
            return [op.inputs[1]]
        if (
            op.type in ("SplitV", "StridedSlice", "Slice", "MatMul", "Identity", "Neg", "RealDiv")
            or op.type in _FUNCTIONS
        ):
            return [op.inputs[0]]
        if op.type in _OPERATIONS:
            return [operand for operand in op.inputs if _number(operand) is None and _captured(operand) is None]
        raise Unreadable(f"{op.name} is a {op.type}")

    def _write(self, tensor: Tensor) -> int:
        op = tensor.op
        if op.type == "Identity":
            return self._values[id(op.inputs[0])]
        width = _width(tensor)
        values = [self._values[id(operand)] for operand in self._operands(tensor)]
        if not values:
            raise Unreadable(f"{op.name} is the same in all steps")
        if op.type in _FUNCTIONS:
            return self._add(_FUNCTIONS[op.type], width, 0, values)
        if op.type == "Neg":
            return self._add(_AFFINE, width, 0, values, -1.0)
        if op.type == "ConcatV2":
            if _constant(op.inputs[-1], op) not in (1, -1):
                raise Unreadable(f"{op.name} does not concatenate columns")
            return self._add(_CONCAT, width, 0, values)
        if op.type in ("Split", "SplitV", "StridedSlice", "Slice"):
            return self._add(_SLICE, width, _first_column(tensor), values)
        if op.type == "MatMul":
            if op.get_attr("transpose_a") or op.get_attr("transpose_b"):
                raise Unreadable(f"{op.name} transposes")
            return self._add(_MATMUL, width, self._capture(op.inputs[1], [self.widths[values[0]], width], op), values)
        return self._arithmetic(op, width, values)

    def _arithmetic(self, op, width: int, values: List[int]) -> int:
        left, right = op.inputs
        if op.type == "RealDiv":
            number = _number(right)
            if not number:
                raise Unreadable(f"{op.name} divides by what is no constant")
            return self._affine(op, width, values, 1 / number, 0.0)
        code = _OPERATIONS[op.type]
        if len(values) == 2:
            operand_widths = [self.widths[value] for value in values]
            if width != max(operand_widths) or not (operand_widths[0] == operand_widths[1] or 1 in operand_widths):
                raise Unreadable(f"{op.name} broadcasts")
            return self._add(code, width, 0, values)
        other = left if id(left) not in self._values else right
        number = _number(other)
        if number is None:
            if code == _SUBTRACT or self.widths[values[0]] != width:
                raise Unreadable(f"{op.name} subtracts a vector, or broadcasts")
            return self._add(
                _ADD_VECTOR if code == _ADD else _MUL_VECTOR, width, self._capture(other, [width], op), values
            )
        if code == _MULTIPLY:
            return self._affine(op, width, values, number, 0.0)
        if code == _ADD:
            return self._affine(op, width, values, 1.0, number)
        return self._affine(op, width, values, *((-1.0, number) if other is left else (1.0, -number)))

    def _affine(self, op, width: int, values: List[int], scale: float, offset: float) -> int:
        if self.widths[values[0]] != width:
            raise Unreadable(f"{op.name} broadcasts")
        return self._add(_AFFINE, width, 0, values, scale, offset)

    def _capture(self, tensor: Tensor, shape: List[int], op) -> int:
        outside = _captured(tensor)
        if outside is None or tensor.dtype != dtypes.float32 or tensor.shape.as_list() != shape:
            raise Unreadable(
                f"{tensor.name}, which {op.name} reads, is no float32 tensor from outside of shape {shape}"
            )
        for index, known in enumerate(self.captures):
            if known is outside:
                return index
        self.captures.append(outside)
        self.capture_shapes.append(tensor)
        return len(self.captures) - 1


def _captured(tensor: Tensor) -> Optional[Tensor]:
    """The tensor outside of the loop that this one is in it: float32, or the handle of the variable that is read."""
    op = tensor.op
    while op.type in ("Identity", "ReadVariableOp"):
        op = op.inputs[0].op
    if op.type == "Enter" and op.get_attr("is_constant") and tensor.shape.is_fully_defined():
        return op.inputs[0]
    return None


def _number(tensor: Tensor) -> Optional[float]:
    """The scalar constant that a float32 tensor is."""
    if tensor.op.type != "Const" or tensor.shape.rank != 0 or tensor.dtype != dtypes.float32:
        return None
    return float(tensor_util.constant_value(tensor))


def _constant(tensor: Tensor, op):
    value = tensor_util.constant_value(tensor)
    if value is None:
        raise Unreadable(f"{op.name} has no constant {tensor.name}")
    return value.tolist()


def _first_column(tensor: Tensor) -> int:
    """Where the columns begin that a split or slice takes of all rows."""
    op = tensor.op
    if op.type == "Split":
        if _constant(op.inputs[0], op) not in (1, -1):
            raise Unreadable(f"{op.name} does not split columns")
        return op.outputs.index(tensor) * _width(tensor)
    if op.type == "SplitV":
        if _constant(op.inputs[2], op) not in (1, -1):
            raise Unreadable(f"{op.name} does not split columns")
        return sum(_width(before) for before in op.outputs[: op.outputs.index(tensor)])
    if op.type == "Slice":
        (row, column), (rows, _) = _constant(op.inputs[1], op), _constant(op.inputs[2], op)
        if row != 0 or rows != -1:
            raise Unreadable(f"{op.name} takes some rows")
        return column
    return _first_of_strided(op, _width(op.inputs[0]))


def _first_of_strided(op, width: int) -> int:
    masks = {
        name: op.get_attr(name)
        for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    }
    begin, strides = (_constant(op.inputs[i], op) for i in (1, 3))
    whole_rows = masks["begin_mask"] & 1 and masks["end_mask"] & 1
    if masks["ellipsis_mask"] == 1:
        whole_rows = True  # [..., a:b]
    elif masks["ellipsis_mask"]:
        raise Unreadable(f"{op.name} takes other than columns")
    if len(begin) != 2 or not whole_rows or strides != [1, 1] or masks["new_axis_mask"] or masks["shrink_axis_mask"]:
        raise Unreadable(f"{op.name} takes other than columns")
    if masks["begin_mask"] & 2:
        return 0
    return begin[1] + width if begin[1] < 0 else begin[1]
