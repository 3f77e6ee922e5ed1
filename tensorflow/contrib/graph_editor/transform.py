"""Copies parts of a graph, with changes on the way."""

import copy as copy_module

import tensorflow as tf
from tensorflow.contrib.graph_editor import select, subgraph, util


def replace_t_with_placeholder_handler(info, t):
    """A placeholder in the new graph for a tensor of the old one."""
    with info.graph_.as_default():
        return util.make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info, t):
    """The tensor itself if both graphs are one, else a placeholder."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info, elem, elem_):
    """Puts the copy of an element into the collections that the element is in.

    A collection of `tf.GraphKeys` keeps its name; another one gets the name that an op of its name would get.
    """
    predefined = util.get_predefined_collection_names()
    for name, collection in info.collections.items():
        if any(elem is other for other in collection):
            info.graph_.add_to_collection(name if name in predefined else info.new_name(name), elem_)


def transform_op_if_inside_handler(info, op, keep_if_possible=True):
    """The copy of an op, if it is one of those that are copied.

    Returns:
      The copy; else the op itself, if both graphs are one and `keep_if_possible`; else None.
    """
    if op in info.sgv_ops:
        return info.transformed_ops.get(op, op)
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(info, op, new_inputs, copy_shape=False, nodedef_fn=None):
    """Copies an op.

    Args:
      info: what the copying knows.
      op: op to copy.
      new_inputs: tensors that the copy takes.
      copy_shape: whether the outputs get the static shapes of the old ones.
      nodedef_fn: function of a NodeDef that returns the changed one, or None.

    Returns:
      (copy, its outputs).
    """
    node = copy_module.deepcopy(op.node_def)
    node.name = info.graph_.unique_name(info.new_name(op.name))
    if nodedef_fn is not None:
        node = nodedef_fn(node)
    # A private method: no public one takes a name and attributes as they are.
    made = info.graph_._create_op_internal(
        node.op,
        list(new_inputs),
        [t.dtype for t in op.outputs],
        input_types=op._input_types,
        name=node.name + "/",
        attrs={key: value for key, value in node.attr.items()},
        op_def=op.op_def,
        compute_device=False,
    )
    made._set_device(node.device)
    if copy_shape:
        for old, new in zip(op.outputs, made.outputs):
            new.set_shape(old.shape)
    return made, made.outputs


class TransformerInfo:
    """What a copy knows of where things came from and went to; `info` is the working state of a Transformer."""

    def __init__(self, info):
        self._graph, self._scope = info.graph, info.scope
        self._graph_, self._scope_ = info.graph_, info.scope_
        self._transformed_ops = info.transformed_ops
        self._transformed_ts = info.transformed_ts

    def _map(self, top):
        if isinstance(top, tf.Operation):
            return self._transformed_ops
        if isinstance(top, tf.Tensor):
            return self._transformed_ts
        raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(top)}")

    def transformed(self, original, missing_fn=None):
        """The copy of an op or tensor, or of each in nested lists, or of a name or view.

        Args:
          original: op, tensor, name of one, SubGraphView, or nested lists of them.
          missing_fn: function of an original that was not copied; None stands for it by default.
        """
        if isinstance(original, subgraph.SubGraphView):
            return subgraph.SubGraphView(self.transformed(original.ops, missing_fn))
        if util.is_iterable(original) and not isinstance(original, str):
            return util.transform_tree(original, lambda item: self.transformed(item, missing_fn), list)
        if isinstance(original, str):
            original = self._graph.as_graph_element(original)
        found = self._map(original).get(original)
        return missing_fn(original) if found is None and missing_fn is not None else found

    def original(self, transformed, missing_fn=None):
        """The op or tensor that something is a copy of; arguments as for `transformed`."""
        if util.is_iterable(transformed) and not isinstance(transformed, str):
            return util.transform_tree(transformed, lambda item: self.original(item, missing_fn), list)
        if isinstance(transformed, str):
            transformed = self._graph_.as_graph_element(transformed)
        for old, new in self._map(transformed).items():
            if new is transformed:
                return old
        return None if missing_fn is None else missing_fn(transformed)

    def __str__(self):
        lines = ["Transformer result info:", f"From scope: {self._scope!r}", f"To scope: {self._scope_!r}"]
        lines += [f"  {old.name} -> {new.name}" for old, new in self._transformed_ops.items()]
        return "\n".join(lines)


class _Working:
    """The state of one copy."""

    def __init__(self, sgv, graph_, scope, scope_):
        self.sgv = sgv
        self.sgv_ops = set(sgv.ops)
        self.sgv_inputs = set(sgv.inputs)
        self.graph, self.graph_ = sgv.graph, graph_
        self.scope, self.scope_ = scope, scope_
        self.ops = [op for op in sgv.graph.get_operations() if op in self.sgv_ops]
        self.control_outputs = util.ControlOutputs(self.graph)
        self.collections = {name: self.graph.get_collection(name) for name in self.graph.get_all_collection_keys()}
        self.transformed_ops, self.transformed_ts = {}, {}

    def new_name(self, name):
        """A name of the old scope as one of the new scope.

        Raises:
          ValueError: the name is not in the old scope.
        """
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope!r}")
        return self.scope_ + name[len(self.scope) :]


class Transformer:
    """Copies a view into a graph; its attributes say what happens to each part.

    Attributes:
      assign_collections_handler: `f(info, old, new)`, called for each copied op and tensor.
      transform_external_input_handler: `f(info, t)`: what stands for an input of the view.
      transform_external_hidden_input_handler: the same for tensors from outside that were mapped away from the inputs.
      transform_op_handler: `f(info, op, new_inputs)` -> (copy, outputs).
      transform_control_input_handler: `f(info, op)`: what stands for a control input; None drops it.
      transform_original_op_handler: the same for the op that a gradient op was made for.
    """

    def __init__(self):
        self.assign_collections_handler = assign_renamed_collections_handler
        self.transform_external_input_handler = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler = keep_t_if_possible_handler
        self.transform_op_handler = copy_op_handler
        self.transform_control_input_handler = transform_op_if_inside_handler
        self.transform_original_op_handler = transform_op_if_inside_handler

    def __call__(self, sgv, dst_graph, dst_scope, src_scope="", reuse_dst_scope=False):
        """Copies.

        Args:
          sgv: SubGraphView, or what `make_view` takes.
          dst_graph: graph to copy to.
          dst_scope: name scope of the copies.
          src_scope: name scope that is cut from the names; everything copied must be in it.
          reuse_dst_scope: whether `dst_scope` may exist; else it is made unique.

        Returns:
          (view of the copies, TransformerInfo).

        Raises:
          TypeError: `dst_graph` is no graph.
          ValueError: something is not in `src_scope`, or both scopes are one in one graph.
        """
        sgv = subgraph.make_view(sgv)
        if not isinstance(dst_graph, tf.Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        src_scope, dst_scope = util.scope_finalize(src_scope), util.scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = util.scope_finalize(dst_graph.unique_name(dst_scope[:-1]))
        if sgv.graph is dst_graph and src_scope == dst_scope and reuse_dst_scope:
            raise ValueError(f"Source and destination are one: scope {src_scope!r} of the same graph")
        info = _Working(sgv, dst_graph, src_scope, dst_scope)
        self._copy_ops(info)
        return self._copy_view(info), TransformerInfo(info)

    def _copy_ops(self, info):
        late = []
        for op in info.ops if _is_sorted(info.ops) else _sorted(info.ops):
            new_inputs = []
            for position, t in enumerate(op.inputs):
                if t.op in info.sgv_ops and t not in info.transformed_ts:
                    # An edge back in a while loop: a stand-in until the other end is there.
                    late.append((op, position, t))
                    with info.graph_.as_default():
                        new_inputs.append(util.make_placeholder_from_tensor(t, scope=info.scope_, prefix="geph_loop"))
                else:
                    new_inputs.append(self._new_tensor(info, t))
            made, outputs = self.transform_op_handler(info, op, new_inputs)
            if made is op:
                continue
            info.transformed_ops[op] = made
            self.assign_collections_handler(info, op, made)
            for old, new in zip(op.outputs, outputs):
                info.transformed_ts[old] = new
                self.assign_collections_handler(info, old, new)
        for op, position, t in late:
            info.transformed_ops[op]._update_input(position, info.transformed_ts[t])
        self._connect_control_inputs(info)

    def _new_tensor(self, info, t):
        if t in info.transformed_ts:
            return info.transformed_ts[t]
        is_input = t in info.sgv_inputs
        handler = self.transform_external_input_handler if is_input else self.transform_external_hidden_input_handler
        new = info.transformed_ts[t] = handler(info, t)
        return new

    def _connect_control_inputs(self, info):
        for op, made in info.transformed_ops.items():
            waits_for = [self.transform_control_input_handler(info, other) for other in op.control_inputs]
            made._add_control_inputs([other for other in waits_for if other is not None])
            if op._original_op is not None:
                original = self.transform_original_op_handler(info, op._original_op)
                if original is not None:
                    made._original_op = original

    def _copy_view(self, info):
        sgv = info.sgv
        for t in sgv.passthroughs:
            self._new_tensor(info, t)
        view = subgraph.SubGraphView([info.transformed_ops[op] for op in sgv.ops if op in info.transformed_ops])
        view._graph = info.graph_
        view._passthrough_ts = [info.transformed_ts[t] for t in sgv.passthroughs]
        view._input_ts = [info.transformed_ts[t] for t in sgv.inputs]
        view._output_ts = [info.transformed_ts[t] for t in sgv.outputs]
        return view


def _is_sorted(ops):
    seen, inside = set(), set(ops)
    for op in ops:
        if any(t.op in inside and t.op not in seen and t.op.type != "NextIteration" for t in op.inputs):
            return False
        seen.add(op)
    return True


def _sorted(ops):
    """The ops with makers before takers: inputs that were changed can turn the order of the graph round."""
    inside, seen, result = set(ops), set(), []
    for start in ops:
        stack = [(start, False)]
        while stack:
            op, done = stack.pop()
            if done:
                result.append(op)
            elif op not in seen:
                seen.add(op)
                stack.append((op, True))
                stack += [(t.op, False) for t in op.inputs if t.op in inside and t.op.type != "NextIteration"]
    return result


def copy(sgv, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Copies a view, with placeholders for its inputs.

    Args:
      sgv: SubGraphView, or what `make_view` takes.
      dst_graph: graph to copy to; by default that of the view.
      dst_scope, src_scope, reuse_dst_scope: see `Transformer.__call__`.

    Returns:
      (view of the copies, TransformerInfo).

    Raises:
      TypeError: `dst_graph` is no graph.
      ValueError: something is not in `src_scope`.
    """
    sgv = subgraph.make_view(sgv)
    return Transformer()(sgv, sgv.graph if dst_graph is None else dst_graph, dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(
    sgv, replacement_ts, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False
):
    """Copies a view, with given tensors for some of its inputs.

    Args:
      sgv: SubGraphView, or what `make_view` takes.
      replacement_ts: dict from input tensor to the tensor that the copy takes. Other inputs are kept if the graph is the same.
      dst_graph, dst_scope, src_scope, reuse_dst_scope: see `copy`.

    Returns:
      (view of the copies, TransformerInfo).

    Raises:
      TypeError: a key or value is no tensor, or `dst_graph` no graph.
    """
    sgv = subgraph.make_view(sgv)
    by_id = {}
    for old, new in replacement_ts.items():
        for t in (old, new):
            if not isinstance(t, tf.Tensor):
                raise TypeError(f"Expected a tf.Tensor in replacement_ts, got: {type(t)}")
        by_id[id(old)] = new
    copier = Transformer()
    copier.transform_external_input_handler = copier.transform_external_hidden_input_handler = lambda info, t: (
        by_id[id(t)] if id(t) in by_id else keep_t_if_possible_handler(info, t)
    )
    return copier(sgv, sgv.graph if dst_graph is None else dst_graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(target_ts, replacement_ts, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Makes the targets anew, with some of the tensors that they depend on replaced; what needs no change is not copied.

    Args:
      target_ts: tensor, or nested lists of tensors.
      replacement_ts: dict from tensor to its replacement.
      dst_scope, src_scope, reuse_dst_scope: see `copy`.

    Returns:
      The new targets, nested like `target_ts`. A target that depends on no replaced tensor is returned as it is.

    Raises:
      ValueError: no target depends on a replaced tensor.
    """
    targets = util.flatten_tree(target_ts)
    graph = util.get_unique_graph(targets, check_types=tf.Tensor)
    ops = select.get_walks_intersection_ops(list(replacement_ts), targets, control_ios=util.ControlOutputs(graph))
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    inside = set(ops)
    ops = [op for op in graph.get_operations() if op in inside]
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return util.transform_tree(target_ts, lambda t: info.transformed(t, lambda original: original))
