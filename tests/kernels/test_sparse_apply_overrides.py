"""Our kernels of the stock sparse training ops against the stock kernels, as raw ops."""

import pathlib
import runpy

import numpy as np
import pytest

CASES = runpy.run_path(str(pathlib.Path(__file__).with_name("sparse_apply_cases.py")))
ISAS = ("scalar", "avx2", "avx512")

# Stock computes 16-bit types step by step in 16 bits, ours in float with one rounding per step; row 0 takes three or
# four steps in the cases.
TOLERANCE = {"float64": 1e-12, "float32": 3e-6, "float16": 1e-2, "bfloat16": 8e-2}


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", CASES["GOOD"])
def test_tables_equal_stock(name, isa, sparse_apply_results):
    case = CASES["GOOD"][name]
    expected = sparse_apply_results(stock=True)[name]
    got = sparse_apply_results(isa)[name]
    assert isinstance(expected, list) and isinstance(got, list), (expected, got)
    tolerance = TOLERANCE[case.dtype]
    if case.note == "threads":
        tolerance *= 100  # a row with thousands of steps
    for ours, stock in zip(got, expected):
        np.testing.assert_allclose(ours, stock, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CASES["GOOD"])
def test_instruction_sets_give_the_same_bits(name, sparse_apply_results):
    for isa in ISAS[1:]:
        for ours, scalar in zip(sparse_apply_results(isa)[name], sparse_apply_results("scalar")[name]):
            np.testing.assert_array_equal(ours, scalar)


@pytest.mark.parametrize("name", CASES["BAD"])
def test_errors_equal_stock(name, sparse_apply_results):
    expected = sparse_apply_results(stock=True)[name]
    got = sparse_apply_results("avx512")[name]
    if isinstance(expected, list):  # not an error after all
        for ours, stock in zip(got, expected):
            np.testing.assert_allclose(ours, stock, rtol=3e-6, atol=3e-6)
        return
    assert got[0] == expected[0]
    # Ours says what was got after the stock sentence.
    sentence = expected[1].split("[[{{")[0].split("Detected at node")[0].strip().splitlines()[-1]
    assert sentence.strip().rstrip("[]0123456789,: ") in got[1]


def test_index_error_names_index_position_and_range(sparse_apply_results):
    case = next(n for n in CASES["BAD"] if n.startswith("ResourceSparseApplyFtrl-") and "index-negative" in n)
    assert "Index -1 at offset 2 in indices is out of range [0, 40)" in sparse_apply_results("avx512")[case][1]


@pytest.mark.parametrize("name", CASES["ABORTING"])
def test_where_stock_aborts_there_is_an_error(name, sparse_apply_results):
    error, message = sparse_apply_results("avx512")[name]
    assert error == "InvalidArgumentError"
    assert "grad must have the same number of dimensions as var" in message or "has dtype double" in message
