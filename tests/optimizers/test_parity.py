"""Training on random sequences with duplicate ids: against the formulas in NumPy, against the released optimizers (our
kernels disabled), on each instruction set, and across checkpoints."""

import pathlib
import runpy

import numpy as np
import pytest

SCRIPT = runpy.run_path(str(pathlib.Path(__file__).with_name("train_cases.py")))
CASES, BATCH_OF, STEPS, WIDE = (SCRIPT[name] for name in ("CASES", "batch", "STEPS", "WIDE"))
# bfloat16 keeps 8 bits, and twelve steps add their roundings.
FORMULA_TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 1e-2, "bfloat16": 8e-2}


def values_of(case, results):
    """{slot, or "var": array} of a case's table, partitions joined."""
    root = case.name.replace("=", "_") + "/table"
    found = {}
    for name in sorted(results):
        if name == root or name.startswith(root + "/"):
            parts = [p for p in name.removeprefix(root).split("/") if p and not p.startswith("part_")]
            found.setdefault(parts[-1] if parts else "var", []).append(results[name])
    return {slot: np.concatenate(arrays) for slot, arrays in found.items()}


def formula(case):
    """The optimizer's steps in float64; returns variable and slots by order."""
    # The optimizers turn their arguments into float32 tensors, whatever the variable's type.
    a = {k: float(np.float32(v)) if isinstance(v, float) else v for k, v in case.arguments}
    lr, decay, beta1, beta2 = a["learning_rate"], *np.float32([0.9, 0.9, 0.999]).astype(float)
    powers = np.float32([0.9, 0.999])
    w = SCRIPT["initial"](case.width)
    slots = {"Adagrad": [0.1], "Momentum": [0.0], "Ftrl": [0.1, 0.0], "RMSProp": [1.0, 0.0, 0.0], "Adam": [0.0, 0.0]}
    s = [np.full_like(w, value) for value in slots.get(case.optimizer, [])]
    for step in range(STEPS):
        indices, gradients = BATCH_OF(step, case.width)
        rows = np.unique(indices)
        total = np.zeros_like(w)
        np.add.at(total, indices, gradients)
        if case.optimizer == "Adam" and not a.get("lazy"):
            rows = np.arange(len(w))
        g = total[rows]
        if case.optimizer == "GradientDescent":
            w[rows] -= lr * g
        elif case.optimizer == "Adagrad":
            s[0][rows] += g**2
            w[rows] -= lr * g / np.sqrt(s[0][rows])
        elif case.optimizer == "Momentum":
            s[0][rows] = a["momentum"] * s[0][rows] + g
            w[rows] -= lr * (g + a["momentum"] * s[0][rows] if a.get("use_nesterov") else s[0][rows])
        elif case.optimizer == "Ftrl":
            p = -a.get("learning_rate_power", -0.5)
            l1, l2 = a.get("l1_regularization_strength", 0), a.get("l2_regularization_strength", 0)
            accum = s[0][rows] + g**2
            shrunk = g + 2 * a.get("l2_shrinkage_regularization_strength", 0) * w[rows]
            linear = s[1][rows] + shrunk - (accum**p - s[0][rows] ** p) / lr * w[rows]
            w[rows] = (np.clip(linear, -l1, l1) - linear) / (accum**p / lr + 2 * l2)
            s[0][rows], s[1][rows] = accum, linear
        elif case.optimizer == "RMSProp":
            s[0][rows] = decay * s[0][rows] + (1 - decay) * g**2
            variance = s[0][rows]
            if a.get("centered"):
                s[2][rows] = decay * s[2][rows] + (1 - decay) * g
                variance = variance - s[2][rows] ** 2
            s[1][rows] = a["momentum"] * s[1][rows] + lr * g / np.sqrt(variance + a["epsilon"])
            w[rows] -= s[1][rows]
        elif case.optimizer == "Adam":
            power1, power2 = powers.astype(float)
            alpha = lr * np.sqrt(1 - power2) / (1 - power1)
            s[0][rows] = beta1 * s[0][rows] + (1 - beta1) * g
            s[1][rows] = beta2 * s[1][rows] + (1 - beta2) * g**2
            w[rows] -= alpha * s[0][rows] / (np.sqrt(s[1][rows]) + float(np.float32(1e-8)))
            powers *= np.float32([0.9, 0.999])
    return w


@pytest.mark.parametrize("name", CASES)
def test_matches_formula(name, train):
    case = CASES[name]
    if case.optimizer == "Adam" and case.dtype in ("float16", "bfloat16"):
        pytest.skip("beta2 = 0.999 and epsilon = 1e-8 do not exist in 16 bits; see test_sixteen_bits.py")
    got = values_of(case, train())["var"]
    np.testing.assert_allclose(
        got, formula(case), rtol=FORMULA_TOLERANCE[case.dtype], atol=FORMULA_TOLERANCE[case.dtype]
    )


# The released kernels round every intermediate of 16-bit types, so those are compared with the formula only.
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.dtype in WIDE])
def test_matches_released_optimizer(name, train):
    case = CASES[name]
    ours, released = train("--wide"), train("--wide", TF_DEEPREC_DISABLE_KERNELS="all")
    assert ours.keys() == released.keys()
    tolerance = 1e-13 if case.dtype == "float64" else 1e-6
    for slot, value in values_of(case, ours).items():
        expected = values_of(case, released)[slot]
        np.testing.assert_allclose(
            value, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max(), err_msg=slot
        )


@pytest.mark.parametrize("isa", ["scalar", "avx2", "avx512"])
def test_instruction_sets_give_the_same_bits(isa, train):
    ours, forced = train(), train(TF_DEEPREC_ISA=isa)
    for name, value in ours.items():
        np.testing.assert_array_equal(forced[name], value, err_msg=name)


@pytest.mark.parametrize("first, second", [("", "all"), ("all", "")], ids=["ours-to-released", "released-to-ours"])
def test_checkpoint_continues_on_the_other_kernels(first, second, train, tmp_path):
    half = str(STEPS // 2)
    train("--wide", "--last=" + half, f"--save={tmp_path}", TF_DEEPREC_DISABLE_KERNELS=first)
    continued = train("--wide", "--first=" + half, f"--restore={tmp_path}", TF_DEEPREC_DISABLE_KERNELS=second)
    throughout = train("--wide")
    assert continued.keys() == throughout.keys()
    for name, value in throughout.items():
        np.testing.assert_allclose(continued[name], value, rtol=1e-4, atol=1e-5, err_msg=name)
