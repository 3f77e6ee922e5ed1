"""graph_editor: what is selected, and what rewired and copied graphs compute."""

import re

import numpy as np
import pytest
import tensorflow as tf

ge = tf.contrib.graph_editor


@pytest.fixture
def parts():
    """x -> a/double -> b/plus -> b/square, and c/wait, which waits for b/plus by control."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3], name="x")
        with tf.name_scope("a"):
            double = tf.multiply(x, 2.0, name="double")
        with tf.name_scope("b"):
            plus = tf.add(double, 1.0, name="plus")
            square = tf.multiply(plus, plus, name="square")
        with tf.name_scope("c"), tf.control_dependencies([plus]):
            wait = tf.identity(double, name="wait")
        yield {"graph": graph, "x": x, "double": double, "plus": plus, "square": square, "wait": wait}


VALUE = np.float32([1, 2, 3])


def _run(parts, fetches, feeds=None):
    with tf.Session(graph=parts["graph"]) as session:
        return session.run(fetches, feeds or {parts["x"]: VALUE})


def _names(items):
    return [item.name for item in items]


def test_lists_of_ops_and_tensors(parts):
    graph, op = parts["graph"], parts["plus"].op
    assert ge.make_list_of_op(graph) == graph.get_operations() and ge.make_list_of_op(op) == [op]
    assert ge.make_list_of_op([op, parts["plus"]], ignore_ts=True) == [op]
    assert len(ge.get_tensors(graph)) == sum(len(o.outputs) for o in graph.get_operations())
    assert ge.make_list_of_t(graph) == ge.get_tensors(graph)
    assert ge.get_generating_ops([parts["plus"], parts["plus"]]) == [op]
    assert ge.get_consuming_ops(parts["plus"]) == [parts["square"].op]
    for wrong in (lambda: ge.make_list_of_op([3]), lambda: ge.make_list_of_op(graph, allow_graph=False)):
        with pytest.raises(TypeError):
            wrong()
    with tf.Graph().as_default():
        other = tf.constant(1).op
    with pytest.raises(ValueError, match="graph"):
        ge.make_list_of_op([op, other])


def test_control_outputs_know_who_waits(parts):
    outputs = ge.ControlOutputs(parts["graph"])
    assert outputs.graph is parts["graph"] and outputs.get(parts["plus"].op) == [parts["wait"].op]
    assert outputs.get(parts["x"].op) == [] and list(outputs.get_all()) == [parts["plus"].op]
    assert ge.check_cios(control_ios=outputs) == (True, outputs) and ge.check_cios() == (False, None)
    with pytest.raises(TypeError):
        ge.check_cios(control_outputs=3)
    with pytest.raises(ValueError):
        ge.check_cios(control_outputs=outputs, control_ios=outputs)


def test_selection_by_name(parts):
    graph = parts["graph"]
    assert ge.can_be_regex("a") and ge.can_be_regex(re.compile("a")) and not ge.can_be_regex(3)
    with pytest.raises(ValueError):
        ge.make_regex(3)
    assert _names(ge.filter_ops_from_regex(graph, "^b/s")) == ["b/square"]
    assert _names(ge.filter_ts_from_regex(graph, "^b/s")) == ["b/square:0"]
    assert ge.filter_ops(graph, True) == graph.get_operations()
    assert ge.filter_ops(graph, lambda op: op.type == "Placeholder") == [parts["x"].op]
    assert ge.filter_ts([parts["plus"].op], lambda t: t.op.type != "Const") == [parts["double"], parts["plus"]]
    assert _names(ge.get_name_scope_ops(graph, "b/")) == ["b/plus/y", "b/plus", "b/square"]
    assert _names(ge.select_ops("^a/double$", parts["plus"].op, graph=graph)) == ["a/double", "b/plus"]
    assert ge.select_ts("(?#ops)x", parts["plus"], graph=graph) == [parts["plus"]]
    ops, ts = ge.select_ops_and_ts("^b/plus$", "(?#ts)^x", graph=graph)
    assert ops == [parts["plus"].op] and ts == [parts["x"]]
    with pytest.raises(ValueError, match="graph"):
        ge.select_ops("a")
    with pytest.raises(ValueError, match="nothing"):
        ge.select_ops(nothing=1)


def test_walks_follow_data_and_control(parts):
    outputs = ge.ControlOutputs(parts["graph"])
    forward = ge.get_forward_walk_ops(parts["plus"].op)
    assert _names(forward) == ["b/plus", "b/square"]
    assert "c/wait" in _names(ge.get_forward_walk_ops(parts["plus"].op, control_outputs=outputs))
    assert _names(ge.get_forward_walk_ops(parts["double"], inclusive=False)) == ["b/square"]
    assert ge.get_forward_walk_ops(parts["x"], stop_at_ts=[parts["double"]]) == [parts["double"].op]
    backward = ge.get_backward_walk_ops(parts["wait"])
    assert set(_names(backward)) == {"c/wait", "a/double", "x", "a/double/y"}
    assert "b/plus" in _names(ge.get_backward_walk_ops(parts["wait"], control_inputs=True))
    assert ge.get_backward_walk_ops(parts["square"], within_ops=[parts["square"].op]) == [parts["square"].op]
    both = ge.get_walks_intersection_ops(parts["x"], parts["plus"])
    assert _names(both) == ["a/double", "b/plus"]
    union = ge.get_walks_union_ops(parts["x"], parts["plus"])
    assert set(_names(union)) == {"a/double", "b/plus", "b/square", "c/wait", "x", "a/double/y", "b/plus/y"}


def test_neighbours_and_boundaries(parts):
    assert set(_names(ge.get_ops_ios(parts["plus"].op))) == {"a/double", "b/plus/y", "b/square"}
    assert "c/wait" in _names(ge.get_ops_ios(parts["plus"].op, control_ios=ge.ControlOutputs(parts["graph"])))
    inputs, outputs, insides = ge.compute_boundary_ts([parts["double"].op, parts["plus"].op])
    assert _names(inputs) == ["x:0", "a/double/y:0", "b/plus/y:0"]
    assert _names(outputs) == ["a/double:0", "b/plus:0"] and insides == [parts["double"]]
    within = ge.get_within_boundary_ops(parts["graph"], parts["square"].op, boundary_ops=parts["double"].op)
    assert set(_names(within)) == {"b/square", "b/plus", "b/plus/y", "a/double"}
    with pytest.raises(ValueError, match="seeds"):
        ge.get_within_boundary_ops(parts["graph"], parts["square"].op, boundary_ops=parts["square"].op)


def test_placeholders_are_named_after_what_they_stand_for(parts):
    assert ge.placeholder_name(parts["plus"]) == "b/geph__plus_0" and ge.placeholder_name(scope="s") == "s/geph"
    assert ge.placeholder_name(parts["plus"], scope="s", prefix="p") == "s/p__plus_0"
    made = ge.make_placeholder_from_tensor(parts["plus"])
    assert made.op.name == "b/geph__plus_0" and made.shape == [3] and made.op.type == "Placeholder"
    assert ge.ph(tf.int32, [2], scope="s").op.name == "s/geph"
    with pytest.raises(TypeError):
        ge.placeholder_name(3)


def test_views_number_inputs_and_outputs(parts):
    view = ge.sgv_scope("b", graph=parts["graph"])
    assert (
        view.inputs == [parts["double"]]
        and view.outputs == [parts["plus"], parts["square"]]
        or (view.outputs == [parts["square"]])
    )
    assert view.find_op_by_name("b/plus") is parts["plus"].op and view.op(0).name == "b/plus/y"
    assert view.input_index(parts["double"]) == 0 and view.output_index(view.outputs[-1]) == len(view.outputs) - 1
    with pytest.raises(ValueError):
        view.output_index(parts["x"])
    with pytest.raises(ValueError):
        view.find_op_by_name("x")
    twice = view.remap_outputs([0, 0])
    assert len(twice.outputs) == 2 and twice.remap_outputs_make_unique().outputs == [view.outputs[0]]
    assert view.remap_inputs([]).inputs == [] and view.remap([], [0]).remap_default().inputs == view.inputs
    for wrong in (lambda: view.remap_outputs([9]), lambda: view.remap_inputs([0, 0])):
        with pytest.raises(ValueError):
            wrong()
    assert ge.make_view(parts["x"]).passthroughs == [parts["x"]] and ge.sgv(view) is view
    assert view.copy().ops == view.ops and bool(view) and not bool(ge.SubGraphView())
    assert "b/square" in str(view) and view.is_passthrough(parts["plus"]) is False
    assert view.connected_inputs == view.inputs and view.connected_outputs == view.outputs
    double = ge.sgv(parts["double"].op)
    assert set(_names(double.consumers())) == {"b/plus", "c/wait"}
    assert double.remap_outputs_to_consumers().outputs == [parts["double"]] * 2
    unused = ge.sgv(parts["plus"].op, parts["square"].op).remap_outputs([parts["square"]]).remove_unused_ops()
    assert len(unused.ops) == 2


def test_reroute_and_swap_of_tensors(parts):
    ten = tf.constant(np.float32([10, 20, 30]))
    assert ge.reroute_ts(ten, parts["double"], can_modify=[parts["plus"].op]) == 1
    np.testing.assert_array_equal(_run(parts, parts["plus"]), [11, 21, 31])
    np.testing.assert_array_equal(_run(parts, parts["wait"]), VALUE * 2)
    assert ge.swap_ts([ten], [parts["double"]]) == 2
    np.testing.assert_array_equal(_run(parts, parts["wait"]), [10, 20, 30])
    np.testing.assert_array_equal(_run(parts, parts["plus"]), VALUE * 2 + 1)
    assert ge.reroute_ts(ten, parts["double"], cannot_modify=[parts["plus"].op]) == 0
    for wrong in (tf.constant([1, 2, 3]), tf.constant([1.0]), [ten, ten]):
        with pytest.raises(ValueError):
            ge.reroute_ts(wrong, parts["double"])


def test_swap_of_outputs_and_inputs(parts):
    minus = tf.negative(tf.identity(parts["x"], "other"), name="minus")
    ge.swap_outputs(ge.sgv(parts["double"].op).remap_outputs([0]), ge.sgv(minus.op))
    np.testing.assert_array_equal(_run(parts, parts["plus"]), -VALUE + 1)
    ge.reroute_outputs(ge.sgv(parts["double"].op), ge.sgv(minus.op))
    np.testing.assert_array_equal(_run(parts, parts["plus"]), VALUE * 2 + 1)


def test_views_swap_and_reroute_their_inputs(parts):
    one, two = tf.constant(np.float32([1, 1, 1])), tf.constant(np.float32([2, 2, 2]))
    left, right = tf.negative(one), tf.square(two)
    views = [ge.sgv(left.op), ge.sgv(right.op)]
    ge.swap_inputs(*views)
    np.testing.assert_array_equal(_run(parts, [left, right]), [[-2] * 3, [1] * 3])
    ge.reroute_inputs(*views)
    np.testing.assert_array_equal(_run(parts, [left, right]), [[-2] * 3, [4] * 3])
    ge.swap_ios(*[ge.sgv(left.op), ge.sgv(right.op)])
    ge.reroute_ios(*[ge.sgv(left.op), ge.sgv(right.op)])
    np.testing.assert_array_equal(_run(parts, [left, right]), [[-2] * 3, [4] * 3])


def test_control_inputs_come_and_go(parts):
    wait, plus, square = parts["wait"].op, parts["plus"].op, parts["square"].op
    with pytest.raises(ValueError, match="already"):
        ge.add_control_inputs(wait, plus)
    ge.add_control_inputs(wait, square)
    assert wait.control_inputs == [plus, square]
    ge.remove_control_inputs(wait, plus)
    assert wait.control_inputs == [square]
    with pytest.raises(ValueError, match="not a control_input"):
        ge.remove_control_inputs(wait, plus)
    ge.detach_control_inputs(ge.sgv(wait))
    assert wait.control_inputs == []
    ge.add_control_inputs(wait, square)
    ge.detach_control_outputs(ge.sgv(square), ge.ControlOutputs(parts["graph"]))
    assert wait.control_inputs == []


def test_detach_puts_placeholders_at_both_ends(parts):
    view, inputs, outputs = ge.detach(
        ge.sgv(parts["plus"].op).remap_inputs([0]), control_ios=ge.ControlOutputs(parts["graph"])
    )
    assert _names(inputs) == ["a/geph__double_0:0"] and view.inputs == inputs and parts["wait"].op.control_inputs == []
    [after] = outputs
    np.testing.assert_array_equal(_run(parts, parts["square"], {after: VALUE}), VALUE**2)
    np.testing.assert_array_equal(_run(parts, parts["plus"], {inputs[0]: VALUE}), VALUE + 1)


def test_connect_gives_outputs_to_inputs(parts):
    source = tf.constant(np.float32([5, 6, 7]), name="source")
    ge.connect(ge.sgv(source.op), ge.sgv(parts["plus"].op).remap_inputs([0]))
    np.testing.assert_array_equal(_run(parts, parts["plus"]), [6, 7, 8])


def test_bypass_takes_a_view_out(parts):
    ge.bypass(ge.sgv(parts["double"].op).remap_inputs([0]))
    np.testing.assert_array_equal(_run(parts, parts["plus"]), VALUE + 1)


def test_copy_into_another_graph(parts):
    tf.add_to_collection(tf.GraphKeys.SUMMARIES, parts["square"])
    tf.add_to_collection("mine", parts["plus"].op)
    with tf.Graph().as_default() as target:
        view, info = ge.copy(ge.sgv_scope("b", graph=parts["graph"]), target, "new")
    assert _names(view.ops) == ["new/b/plus/y", "new/b/plus", "new/b/square"]
    assert info.transformed(parts["plus"]).name == "new/b/plus:0" and info.transformed("b/plus:0") is not None
    assert info.original(view.ops[1]) is parts["plus"].op and info.transformed(parts["x"]) is None
    assert target.get_collection(tf.GraphKeys.SUMMARIES) == [info.transformed(parts["square"])]
    assert target.get_collection("new/mine") == [info.transformed(parts["plus"].op)] and "plus" in str(info)
    with tf.Session(graph=target) as session:
        out = session.run(info.transformed(parts["square"]), {view.inputs[0]: VALUE})
    np.testing.assert_array_equal(out, (VALUE + 1) ** 2)


def test_copy_within_the_graph_and_out_of_a_scope(parts):
    view, info = ge.copy(ge.sgv_scope("b", graph=parts["graph"]), dst_scope="again", src_scope="b")
    assert _names(view.ops)[-1] == "again/square"
    np.testing.assert_array_equal(
        _run(parts, info.transformed(parts["square"]), {view.inputs[0]: VALUE}), (VALUE + 1) ** 2
    )
    with pytest.raises(ValueError, match="source scope"):
        ge.copy(ge.sgv(parts["double"].op), src_scope="b", dst_scope="c")
    with pytest.raises(TypeError):
        ge.copy(ge.sgv(parts["double"].op), dst_graph=3)


def test_copy_with_replaced_inputs(parts):
    seven = tf.constant(np.float32([7, 7, 7]))
    _, info = ge.copy_with_input_replacements(ge.sgv_scope("b", graph=parts["graph"]), {parts["double"]: seven})
    np.testing.assert_array_equal(_run(parts, info.transformed(parts["square"])), [64] * 3)
    np.testing.assert_array_equal(_run(parts, parts["square"]), (VALUE * 2 + 1) ** 2)


def test_graph_replace_makes_targets_anew(parts):
    seven = tf.constant(np.float32([7, 7, 7]))
    new = ge.graph_replace({"s": parts["square"], "d": parts["double"]}, {parts["plus"]: seven})
    assert new["d"] is parts["double"]
    np.testing.assert_array_equal(_run(parts, new["s"]), [49] * 3)
    with pytest.raises(ValueError, match="not connected"):
        ge.graph_replace(parts["double"], {parts["plus"]: seven})


def test_copied_gradients_compute_the_same(parts):
    gradient = tf.gradients(parts["square"], parts["x"])[0]
    with tf.Graph().as_default() as target:
        _, info = ge.copy(ge.make_list_of_op(parts["graph"]), target)
    with tf.Session(graph=target) as session:
        got = session.run(info.transformed(gradient), {info.transformed(parts["x"]): VALUE})
    np.testing.assert_array_equal(got, _run(parts, gradient))


def test_a_while_loop_is_copied():
    with tf.Graph().as_default() as graph:
        start = tf.constant(1.0, name="start")
        result = tf.while_loop(lambda x: x < 100.0, lambda x: x * 3.0, [start])
    with tf.Graph().as_default() as target:
        _, info = ge.copy(ge.make_list_of_op(graph), target)
    with tf.Session(graph=target) as session:
        assert session.run(info.transformed(result)) == 243.0


def test_handlers_say_what_happens_to_each_part(parts):
    transformer = ge.Transformer()
    transformer.transform_op_handler = lambda info, op, new: ge.copy_op_handler(
        info, op, new, copy_shape=True, nodedef_fn=lambda node: node
    )
    transformer.transform_external_input_handler = ge.keep_t_if_possible_handler
    transformer.transform_control_input_handler = lambda info, op: ge.transform_op_if_inside_handler(
        info, op, keep_if_possible=False
    )
    view, info = transformer(ge.sgv(parts["wait"].op), parts["graph"], "h")
    assert view.inputs == [parts["double"]] and view.ops[0].control_inputs == []
    assert isinstance(info, ge.TransformerInfo) and view.outputs[0].shape == [3]
    assert ge.replace_t_with_placeholder_handler and ge.assign_renamed_collections_handler
