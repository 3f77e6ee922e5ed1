"""Modules of contrib that are left out import, and say why and what to use as soon as they are used."""

import importlib
import types

import pytest
import tensorflow as tf
from tensorflow.contrib import left_out


@pytest.mark.parametrize("module", sorted(left_out.MODULES))
def test_a_left_out_module_imports_and_its_names_raise(module):
    imported = importlib.import_module(f"tensorflow.contrib.{module}")
    assert getattr(tf.contrib, module) is imported
    why, instead = left_out.MODULES[module]
    for use in (
        lambda: imported.anything(),
        lambda: imported.anything.more,
        lambda: types.new_class("C", (imported.Base,)),
    ):
        with pytest.raises(NotImplementedError) as error:
            use()
        assert f"tf.contrib.{module}" in str(error.value) and why in str(error.value) and instead in str(error.value)


def test_a_deep_path_of_a_left_out_module_imports():
    from tensorflow.contrib.tensorrt.python import trt_convert

    with pytest.raises(NotImplementedError, match="TensorRT"):
        trt_convert.create_inference_graph()


def test_a_path_that_1_15_had_not_is_not_served():
    for name in ("tensorflow.contrib.no_such_module", "tensorflow.contrib.tensorrt.python.no_such_file"):
        with pytest.raises(ModuleNotFoundError, match="no_such"):
            importlib.import_module(name)
    with pytest.raises(AttributeError, match="no_such_module"):
        tf.contrib.no_such_module


def test_the_page_lists_what_is_left_out():
    import pathlib

    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "contrib.md").read_text()
    for module, (why, instead) in left_out.MODULES.items():
        assert f"| `{module}` | {why} | {instead} |" in page
    assert page.count("\n| `") == len(left_out.MODULES), "run tools/dev/contrib_page.py"
