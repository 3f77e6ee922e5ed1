"""Drawings of object-based checkpoints."""

from tensorflow.python.checkpoint import checkpoint
from tensorflow.python.trackable import base
from tensorflow.python.training import py_checkpoint_reader


def _text(name):
    return name.replace('"', '\\"')


def dot_graph_from_checkpoint(save_path):
    """The objects of a `tf.train.Checkpoint`, and their references, as text for Graphviz.

    Variables are blue, slots orange, optimizers red.

    Args:
      save_path: the checkpoint.

    Returns:
      A graph in DOT.
    """
    reader = py_checkpoint_reader.NewCheckpointReader(save_path)
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    nodes = checkpoint.object_metadata(save_path).nodes
    slots = {slot.slot_variable_node_id for node in nodes for slot in node.slot_variables}
    lines = ["digraph {"]
    for i, node in enumerate(nodes):
        style = 'shape=point label="" width=.25'
        if len(node.attributes) == 1 and node.attributes[0].name == base.VARIABLE_VALUE_KEY:
            value = node.attributes[0]
            color, kind = ("orange", "Slot variable") if i in slots else ("blue", "Variable")
            key = value.checkpoint_key
            tip = f"{kind} {_text(value.full_name)} shape={shapes[key]} {dtypes[key].name}"
            style += f' color={color} tooltip="{tip}"'
        elif node.slot_variables:
            style += ' color=red tooltip="Optimizer"'
        lines.append(f"N_{i} [{style}]")
        lines += [f'N_{i} -> N_{child.node_id} [label="{_text(child.local_name)}"]' for child in node.children]
        for slot in node.slot_variables:
            target = slot.slot_variable_node_id
            lines.append(f'N_{i} -> N_{target} [label="{_text(slot.slot_name)}" style=dotted]')
            lines.append(f"N_{slot.original_variable_node_id} -> N_{target} [style=dotted]")
    return "\n".join(lines + ["}"]) + "\n"
