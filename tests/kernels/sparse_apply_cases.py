"""Runs each case of a sparse training op once and pickles what came out; a script, so that it can run in one process
with our kernels and in another with the stock ones (TF_DEEPREC_DISABLE_KERNELS=all).

    python sparse_apply_cases.py results.pkl [--aborting] [--one_thread]
"""

import dataclasses
import itertools
import pickle
import sys

import numpy as np

# Scalars of each op, in the order of its inputs; grad and indices stand where "grad" does.
ADAGRAD = dict(tables=2, inputs=["lr", "grad"], lr=0.1)
ADAGRAD_V2 = dict(tables=2, inputs=["lr", "epsilon", "grad"], lr=0.1, epsilon=0.01)
MOMENTUM = dict(tables=2, inputs=["lr", "grad", "momentum"], lr=0.1, momentum=0.75)
FTRL = dict(tables=3, inputs=["grad", "lr", "l1", "l2", "lr_power"], lr=0.25, l1=0.125, l2=0.0625, lr_power=-0.5)
FTRL_V2 = dict(
    tables=3,
    inputs=["grad", "lr", "l1", "l2", "l2_shrinkage", "lr_power"],
    lr=0.25,
    l1=0.125,
    l2=0.0625,
    l2_shrinkage=0.03125,
    lr_power=-0.5,
)
RMS = dict(
    tables=3, inputs=["lr", "rho", "momentum", "epsilon", "grad"], lr=0.1, rho=0.875, momentum=0.75, epsilon=0.01
)
CENTERED = dict(RMS, tables=4)
OPS = {
    "SparseApplyAdagrad": ADAGRAD,
    "SparseApplyAdagradV2": ADAGRAD_V2,
    "SparseApplyMomentum": MOMENTUM,
    "SparseApplyFtrl": FTRL,
    "SparseApplyFtrlV2": FTRL_V2,
    "SparseApplyRMSProp": RMS,
    "SparseApplyCenteredRMSProp": CENTERED,
}
# Input names in the op definition where they differ from ours.
TABLE_NAMES = {
    "Adagrad": ["var", "accum"],
    "AdagradV2": ["var", "accum"],
    "Momentum": ["var", "accum"],
    "KerasMomentum": ["var", "accum"],
    "Ftrl": ["var", "accum", "linear"],
    "FtrlV2": ["var", "accum", "linear"],
    "RMSProp": ["var", "ms", "mom"],
    "CenteredRMSProp": ["var", "mg", "ms", "mom"],
}


@dataclasses.dataclass
class Case:
    """One call: op without `Resource`, kind of variable, types, sizes, and what to change for a bad call."""

    op: str
    resource: bool = False
    dtype: str = "float32"
    index_dtype: str = "int64"
    rows: int = 40
    tail: tuple = (5,)
    n: int = 60
    attrs: dict = dataclasses.field(default_factory=dict)
    scalars: dict = dataclasses.field(default_factory=dict)
    indices: list | None = None
    grad_shape: tuple | None = None
    slot_tail: tuple | None = None
    slot_dtype: str | None = None
    initialize: bool = True
    note: str = ""

    @property
    def name(self) -> str:
        parts = [
            "Resource" * self.resource + self.op,
            self.dtype,
            self.index_dtype,
            "x".join(map(str, (self.rows, *self.tail))),
            f"n{self.n}",
        ]
        return "-".join(
            parts + [f"{k}={v}" for k, v in (self.attrs | self.scalars).items()] + [self.note] * bool(self.note)
        )


def _good_cases():
    for op, resource in itertools.product(OPS, (False, True)):
        for dtype in ("float16", "bfloat16", "float32", "float64"):
            if dtype == "bfloat16" and "RMSProp" in op:
                continue  # stock has no such kernel; tests/optimizers compares ours with the formula
            for index_dtype in ("int32", "int64"):
                # Few steps per row for 16-bit types: stock rounds each of them several times.
                yield Case(op, resource, dtype, index_dtype, n=12 if dtype.endswith("16") else 60)
        for tail in ((1,), (16,), (3, 2), (33,)):
            yield Case(op, resource, tail=tail, n=200)
        yield Case(op, resource, n=0)
        yield Case(op, resource, rows=3000, tail=(16,), n=20000, note="threads")
    for resource in (False, True):
        for op in ("SparseApplyAdagrad", "SparseApplyAdagradV2"):
            yield Case(op, resource, attrs={"update_slots": False})
        yield Case("SparseApplyMomentum", resource, attrs={"use_nesterov": True})
        for op in ("SparseApplyFtrl", "SparseApplyFtrlV2"):
            for tail in ((5,), (1,)):
                yield Case(op, resource, tail=tail, scalars={"lr_power": -0.75})
                yield Case(op, resource, tail=tail, attrs={"multiply_linear_by_lr": True})
                yield Case(op, resource, tail=tail, attrs={"multiply_linear_by_lr": True}, scalars={"lr_power": 0.0})
        for op in ("SparseApplyMomentum", "SparseApplyRMSProp", "SparseApplyCenteredRMSProp"):
            yield Case(op, resource, tail=(0,), n=3)
    for nesterov in (False, True):
        yield Case("SparseApplyKerasMomentum", True, attrs={"use_nesterov": nesterov})
    yield Case("SparseApplyAdagrad", True, attrs={"use_locking": True}, note="locked")
    yield Case("SparseApplyAdagrad", False, attrs={"use_locking": True}, note="locked")


def _bad_cases():
    for op, resource in itertools.product(OPS, (False, True)):
        for dtype in ("int32", "int64"):
            yield Case(op, resource, index_dtype=dtype, indices=[0, 40], n=2, note="index-too-large")
            yield Case(op, resource, index_dtype=dtype, indices=[3, 2, -1], n=3, note="index-negative")
        yield Case(op, resource, grad_shape=(60, 4), note="grad-width")
        yield Case(op, resource, grad_shape=(59, 5), note="grad-rows")
        yield Case(op, resource, slot_tail=(4,), note="slot-shape")
        yield Case(op, resource, initialize=False, note="uninitialized")
        yield Case(op, resource, indices=[[0, 1]], n=2, note="indices-rank")
        for name in OPS[op]["inputs"]:
            if name != "grad":
                yield Case(op, resource, scalars={name: [0.5]}, note="not-scalar")
        yield Case(op, resource, rows=0, n=0, note="no-rows")
    for op, resource in itertools.product(("SparseApplyFtrl", "SparseApplyFtrlV2"), (False, True)):
        for name, value in (("lr", 0.0), ("l1", -1.0), ("l2", -1.0), ("lr_power", 0.5), ("l2_shrinkage", -1.0)):
            if name in OPS[op]:
                yield Case(op, resource, scalars={name: value}, note="out-of-range")
        yield Case(op, resource, scalars={"lr": 0.0}, attrs={"multiply_linear_by_lr": True}, note="lr-zero-allowed")
    for op in ("SparseApplyAdagrad", "SparseApplyFtrl"):
        yield Case(op, tail=(0,), n=3, note="no-columns")
        yield Case(op, tail=(0,), n=0, note="no-columns")


def _cases_that_abort_stock():
    """Calls for which the stock kernels end the process."""
    yield Case("SparseApplyMomentum", grad_shape=(60,), note="grad-rank")
    yield Case("SparseApplyRMSProp", True, grad_shape=(60,), note="grad-rank")
    yield Case("SparseApplyAdagrad", True, slot_dtype="float64", note="slot-dtype")


GOOD = {case.name: case for case in _good_cases()}
BAD = {case.name: case for case in _bad_cases()}
ABORTING = {case.name: case for case in _cases_that_abort_stock()}


def run(case: Case):
    """Returns the tables after the call as float64 arrays, or (error class, message)."""
    import tensorflow as tf

    rng = np.random.default_rng(len(case.name))
    spec = OPS.get(case.op, MOMENTUM)
    dtype = tf.as_dtype(case.dtype)

    def array(shape, low, high):
        return rng.uniform(low, high, shape).astype(dtype.as_numpy_dtype)

    shape = (case.rows, *case.tail)
    slot_shape = (case.rows, *(case.tail if case.slot_tail is None else case.slot_tail))
    kind = case.op.removeprefix("SparseApply")
    values = [array(shape, -1, 1)]
    for name in TABLE_NAMES[kind][1:]:
        # Means of squares are positive; the mean gradient stays small enough for a positive variance.
        low, high = {"mg": (-0.25, 0.25), "ms": (0.5, 1.5)}.get(name, (0.5, 1.5) if kind != "Momentum" else (-1, 1))
        values.append(array(slot_shape, low, high))
    if case.slot_dtype:
        values[1] = values[1].astype(case.slot_dtype)
    indices = case.indices
    if indices is None:
        # A third of the gradients go to row 0.
        indices = rng.integers(0, max(case.rows, 1), case.n) * (rng.random(case.n) > 0.33)
    grad = array(case.grad_shape or (case.n, *case.tail), -1, 1)

    # Stock Adagrad updates a row from several threads at once, without a lock: as a reference it gets one.
    config = tf.ConfigProto(intra_op_parallelism_threads=1 if "--one_thread" in sys.argv else 2)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        # Without static shapes: the kernels' own checks are what is tested.
        feeds = {}

        def feed(value):
            placeholder = tf.placeholder(tf.as_dtype(value.dtype))
            feeds[placeholder] = value
            return placeholder

        initial = [feed(value) for value in values]
        tables = [tf.Variable(value, use_resource=case.resource, validate_shape=False) for value in initial]
        arguments = dict(zip(TABLE_NAMES[kind], [t.handle if case.resource else t for t in tables]))
        for name in spec["inputs"]:
            if name == "grad":
                arguments["grad"] = feed(grad)
                arguments["indices"] = feed(np.array(indices, case.index_dtype))
            else:
                arguments[name] = feed(np.array(case.scalars.get(name, spec[name]), dtype.as_numpy_dtype))
        if case.resource:
            step = getattr(tf.raw_ops, "Resource" + case.op)(**arguments, **case.attrs)
        else:
            step = ref_op(case.op, arguments, case.attrs)
        try:
            if case.initialize:
                session.run([t.initializer for t in tables], feeds)
            session.run(step, feeds)
            return [value.astype(np.float64) for value in session.run([t.read_value() for t in tables])]
        except tf.errors.OpError as e:
            return type(e).__name__, e.message


def ref_op(op, arguments, attrs):
    from tensorflow.python.ops import gen_training_ops

    function = {
        "SparseApplyRMSProp": "sparse_apply_rms_prop",
        "SparseApplyCenteredRMSProp": "sparse_apply_centered_rms_prop",
        "SparseApplyAdagradV2": "sparse_apply_adagrad_v2",
        "SparseApplyFtrlV2": "sparse_apply_ftrl_v2",
    }.get(op)
    function = function or "sparse_apply_" + op.removeprefix("SparseApply").lower()
    return getattr(gen_training_ops, function)(**arguments, **attrs)


def main() -> None:
    # Cases that abort the stock kernels run only where asked for.
    cases = GOOD | BAD | (ABORTING if "--aborting" in sys.argv else {})
    with open(sys.argv[1], "wb") as f:
        pickle.dump({name: run(case) for name, case in cases.items()}, f)


if __name__ == "__main__":
    main()
