"""The ops behind an iterator that read it several times in a step, and put the rows together."""

from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, cond, gen_dataset_ops, gen_optional_ops
from tensorflow.python.util import nest

SCOPE = "/micro_batch/"


def join(get_next, components: list, number: int) -> tuple:
    """Makes up to `number - 1` more reads behind the op IteratorGetNext.

    The first read is that of the graph, which ends the step with OutOfRangeError. The others come one behind the other; one that
    finds the end gives no rows.

    Args:
      get_next: the operation.
      components: what it gives.
      number: how many reads there are at most, at least 2.

    Returns:
      A list of pairs (replaced tensor, tensor of all rows) and the operation of the last read.
    """
    with ops.name_scope(get_next.name + SCOPE), ops.device(get_next.device):
        reads, last = [[component.parts for component in components]], get_next
        for _ in range(number - 1):
            with ops.control_dependencies([last]):
                optional = gen_dataset_ops.iterator_get_next_as_optional(get_next.inputs[0], **_element(get_next))
            last = optional.op
            reads.append(_parts(optional, get_next, components))
        joined = []
        for component, parts in zip(components, zip(*reads)):
            for tensor, rows, shape in zip(component.parts, component.join(list(parts)), component.shapes()):
                rows = array_ops.identity(rows, name="rows")
                rows.set_shape(shape)
                joined.append((tensor, rows))
    return joined, last


def _element(get_next) -> dict:
    return {name: get_next.get_attr(name) for name in ("output_types", "output_shapes")}


def _parts(optional, get_next, components: list) -> list:
    """The parts of all components in an optional element; those of no rows where it has no value."""

    def value():
        outputs = gen_optional_ops.optional_get_value(optional, **_element(get_next))
        return nest.flatten([component.decode(outputs[component.index]) for component in components])

    def none():
        return nest.flatten([component.empty() for component in components])

    if not components:
        return []
    # A single tensor comes back without a list.
    flat = iter(nest.flatten(cond.cond(gen_optional_ops.optional_has_value(optional), value, none)))
    return [[next(flat) for _ in component.parts] for component in components]
