"""tf-deeprec-doctor reports what is there and what is wrong."""

import json
import os
import pathlib
import subprocess
import sys

import pytest


@pytest.fixture
def doctor(tmp_path):
    """Runs the doctor with variables set; returns (exit code, report)."""

    def run(python=sys.executable, **settings):
        env = {k: v for k, v in os.environ.items() if not k.startswith("TF_")}
        done = subprocess.run(
            [python, "-m", "deeprec_doctor", "--json"],
            env={**env, **settings},
            cwd=tmp_path,
            text=True,
            capture_output=True,
            check=False,
        )
        return done.returncode, json.loads(done.stdout)

    return run


def test_a_good_installation_has_no_problems(doctor):
    code, report = doctor()
    assert (code, report["problems"]) == (0, [])
    assert report["runtime"]["root"] == "1.15.5" and report["runtime"]["runtime"] == "2.21.0"
    assert report["runtime"]["kernel_isa"] in ("scalar", "avx2", "avx512")
    overridden = report["runtime"]["overridden_kernels"]
    others = {"MergeV2Checkpoints", "ShuffleAndRepeatDataset"}
    assert {"SparseApplyAdagrad", "ResourceSparseApplyAdagrad", *others} <= set(overridden)
    assert all(
        any(part in op for part in ("Apply", "SparseSegment", "StridedSliceGrad", "Unique"))
        for op in set(overridden) - others
    )
    assert report["libstdcxx"]["path"]


def test_a_forced_isa_is_reported(doctor):
    assert doctor(TF_DEEPREC_ISA="scalar")[1]["runtime"]["kernel_isa"] == "scalar"


def test_a_disabled_kernel_is_not_listed_and_is_a_problem(doctor):
    code, report = doctor(TF_DEEPREC_DISABLE_KERNELS="SparseApplyAdagrad")
    assert code == 1
    assert "SparseApplyAdagrad" not in report["runtime"]["overridden_kernels"]
    assert "ResourceSparseApplyAdagrad" in report["runtime"]["overridden_kernels"]
    assert any("TF_DEEPREC_DISABLE_KERNELS switches off SparseApplyAdagrad" in p for p in report["problems"])


def test_a_failing_import_is_reported_and_not_raised(doctor):
    code, report = doctor(TF_DEEPREC_ROOT="7")
    assert code == 1 and report["runtime"] is None
    assert any("import tensorflow fails" in p and "TF_DEEPREC_ROOT" in p for p in report["problems"])


def test_the_text_form_has_every_section():
    done = subprocess.run(
        [str(pathlib.Path(sys.executable).parent / "tf-deeprec-doctor")], text=True, capture_output=True, check=False
    )
    assert done.returncode == 0
    for section in ("Versions", "Processor", "C++ runtime library", "TensorFlow", "Environment", "Problems"):
        assert f"\n{section}\n" in "\n" + done.stdout


def test_an_unknown_kernel_name_is_warned_about(run_python):
    done = run_python("import tensorflow", TF_DEEPREC_DISABLE_KERNELS="SparseApplyAdagard")
    assert done.returncode == 0 and "names 'SparseApplyAdagard', which is no op" in done.stderr


def test_every_overridden_kernel_can_be_switched_off_by_name(doctor):
    from tensorflow.deeprec import settings

    assert set(doctor()[1]["runtime"]["overridden_kernels"]) <= settings.SWITCHABLE_KERNELS
