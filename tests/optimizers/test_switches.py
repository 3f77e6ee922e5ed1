"""Environment variables: which kernels and which instruction set."""

import pytest

COUNT_OPS = """
import tensorflow as tf
found = []
for name, arguments in (("GradientDescent", {}), ("Adagrad", {}), ("Momentum", {"momentum": 0.9}), ("Ftrl", {}),
                        ("RMSProp", {}), ("Adam", {}), ("Adam", {"lazy": True})):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        table = tf.get_variable("table", initializer=tf.ones([5, 2]), use_resource=RESOURCE)
        gradient = tf.IndexedSlices(tf.ones([3, 2]), tf.constant([1, 3, 1]))
        train = getattr(tf.train, name + "Optimizer")(0.1, **arguments).apply_gradients([(gradient, table)])
        session.run(tf.global_variables_initializer())
        session.run(train)
        types = [op.type for op in graph.get_operations()]
        fused = any("_sum_duplicates" in n.attr for n in graph.as_graph_def().node) or any(
            t.endswith(("SparseApplyAdam", "SparseApplyGradientDescent")) for t in types)
        found.append("+" if fused else "-")
print("".join(found))
"""


@pytest.mark.parametrize(
    "disabled, ref, resource",
    [
        ("", "+++++++", "+++++++"),
        ("all", "-------", "-------"),
        ("SparseApplyAdagrad, SparseApplyAdam", "+-+++--", "+++++++"),
        ("ResourceSparseApplyFtrl,ResourceSparseApplyGradientDescent", "+++++++", "-++-+++"),
    ],
)
def test_named_kernels_are_not_used(disabled, ref, resource, check_python):
    for kind, expected in ((False, ref), (True, resource)):
        code = COUNT_OPS.replace("RESOURCE", str(kind))
        assert check_python(code, TF_DEEPREC_DISABLE_KERNELS=disabled).splitlines()[-1] == expected


PRIORITIES = """
import tensorflow as tf
from tensorflow.python.framework import kernels
for op in ("SparseApplyAdagrad", "ResourceSparseApplyFtrl"):
    registered = kernels.get_registered_kernels_for_op(op).kernel
    print(op, sum(k.priority == 1 and k.device_type == "CPU" for k in registered))
"""


def test_disabled_kernels_are_not_registered(check_python):
    lines = check_python(PRIORITIES, TF_DEEPREC_DISABLE_KERNELS="SparseApplyAdagrad").splitlines()[-2:]
    assert lines == ["SparseApplyAdagrad 0", "ResourceSparseApplyFtrl 8"]


ISA = """
import tensorflow as tf
from tensorflow.deeprec import library
with tf.Session() as session:
    print(session.run(library.ops().deep_rec_kernel_isa()).decode())
"""


@pytest.mark.parametrize("isa", ["scalar", "avx2", "avx512"])
def test_instruction_set_is_forced_or_the_log_says_why_not(isa, run_python):
    done = run_python(ISA, TF_DEEPREC_ISA=isa, TF_CPP_MIN_LOG_LEVEL="1")
    assert done.returncode == 0, done.stderr
    used = done.stdout.splitlines()[-1]
    assert used == isa or f"TF_DEEPREC_ISA={isa} is not supported by this CPU; using {used}" in done.stderr
