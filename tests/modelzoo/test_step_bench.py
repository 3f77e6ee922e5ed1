"""bench/steps.py and bench/xla.py: where the time of a step goes."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import tensorflow as tf

from bench import step_report, traced, xla
from bench.step_report import Machine, Step
from bench.traced import Cost
from modelzoo_helpers import MODELZOO

_TINY = ["--batch_size", "64", "--synthetic_rows", "4000", "--synthetic_eval_rows", "100"]
_TINY += ["--hash_buckets", "50", "--embedding_dim", "4", "--tower_units", "8", "--optimizer", "adam"]


def start(script, folder, *arguments):
    command = [sys.executable, str(MODELZOO / "bench" / script), "--output_dir", "out"]
    command += ["--models", "simple_multitask", *arguments]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=300)


def run(script, folder, *arguments):
    done = start(script, folder, *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def traced_step(build):
    with tf.Graph().as_default(), tf.Session() as session:
        fetch = build()
        session.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
        session.run(fetch, options=options, run_metadata=metadata)
        return traced.costs(metadata)


@pytest.mark.parametrize("transposed", [False, True])
def test_operations_of_a_matrix_product_are_counted(transposed):
    def build():
        a = tf.random_uniform([30, 20] if transposed else [20, 30])
        return tf.matmul(a, tf.random_uniform([30, 40]), transpose_a=transposed).op

    costs = traced_step(build)
    (name,) = [op for op in costs if "MatMul" in op]
    assert costs[name].count == 1 and costs[name].flops == 2 * 20 * 30 * 40
    assert costs[name].bytes == 4 * (20 * 30 + 30 * 40 + 20 * 40) and costs[name].microseconds > 0


def test_a_gather_moves_the_rows_it_reads_and_not_the_table():
    costs = traced_step(lambda: tf.gather(tf.get_variable("t", [10000, 8]), tf.random_uniform([16], 0, 9, tf.int32)).op)
    rows = 16 * 8 * 4
    assert rows < costs["GatherV2"].bytes <= 4 * rows


@pytest.mark.parametrize(
    "op, cause",
    [
        ("_MklMatMul", "matrix products"),
        ("ResourceSparseApplyAdam", "optimizer"),
        ("GroupEmbeddingLookupGrad", "embedding"),
        ("IteratorGetNext", "input"),
        ("RecurrentLoopGrad", "loops and conditions"),
        ("Mul", "small ops"),
    ],
)
def test_causes_of_op_types(op, cause):
    assert step_report.cause(op) == cause


def test_the_roofline_is_the_longer_of_arithmetic_and_memory():
    machine = Machine(gflops=100, gigabytes=10)
    assert step_report.at_best(Cost(1, 9, flops=1e6, bytes=1e3), machine, 2) == pytest.approx(2 * 10)
    assert step_report.at_best(Cost(1, 9, flops=1e3, bytes=1e6), machine, 2) == pytest.approx(2 * 100)


def test_shares_of_a_step_are_of_its_busy_time():
    step = Step("m", "ours", 4000.0, {"MatMul": Cost(2, 3000, 6e8, 100), "Mul": Cost(5, 1000, 0, 100)})
    text = step_report.table([step], Machine(100, 10), 1)
    assert "| m | ours | 4.00 | matrix products | 2 | 3.00 | 75% | 6.00 | 200 |" in text
    assert "| m | ours | 4.00 | small ops | 5 | 1.00 | 25% | 0.00 | - |" in text


def test_compiling_is_what_the_first_half_takes_more():
    found = xla.times([3.0, 1.0, 0.5, 0.5, 0.5, 0.5], [4.0, 1, 1, 1, 1, 1])
    assert found.step == 500 and found.compiling == pytest.approx(3.0) and found.compiling_cpu == pytest.approx(3.0)
    assert "| m | 500.0 | 500.0 | 1.00 | 1000.0 | 1000.0 | 3.0 | 3.0 |" in xla.table({"m": [found, found]})


def test_a_training_is_traced(tmp_path):
    out = run("steps.py", tmp_path, "--stock", sys.executable, "--ways", "ours", "--", "--steps", "40", *_TINY)
    assert "| simple_multitask | ours |" in out and "matrix products" in out
    content = json.loads((tmp_path / "out" / "steps.json").read_text())
    (step,) = (SimpleNamespace(**one) for one in content["steps"])
    assert content["machine"]["gflops"] > 0 and step.microseconds > 0
    assert any("MatMul" in op for op in step.ops) and "GroupEmbeddingLookup" in step.ops


def test_a_training_of_too_few_steps_to_trace_is_named(tmp_path):
    done = start("steps.py", tmp_path, "--stock", sys.executable, "--ways", "ours", "--", "--steps", "29", *_TINY)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "29 steps are too few to trace one: expected at least 30" in done.stderr.splitlines()[-1]


def test_trainings_with_and_without_xla_are_compared(tmp_path):
    out = run("xla.py", tmp_path, "--", "--steps", "10", *_TINY)
    assert out.splitlines()[-1].startswith("| simple_multitask | ")
    assert len(json.loads((tmp_path / "out" / "xla.json").read_text())["models"]["simple_multitask"]) == 2
