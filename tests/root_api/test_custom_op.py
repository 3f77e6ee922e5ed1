"""A user's own op builds against the installed wheel and loads."""

import shutil
import subprocess

import numpy as np
import pytest
import tensorflow as tf

_SOURCE = """
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

REGISTER_OP("AddSeven").Input("x: int32").Output("y: int32").SetShapeFn(
    [](tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      return absl::OkStatus();
    });

class AddSevenOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {
    const tensorflow::Tensor& x = ctx->input(0);
    OP_REQUIRES(ctx, x.dims() == 1, tensorflow::errors::InvalidArgument("x must be a vector"));
    tensorflow::Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    y->flat<int>() = x.flat<int>() + 7;
  }
};

REGISTER_KERNEL_BUILDER(Name("AddSeven").Device(tensorflow::DEVICE_CPU), AddSevenOp);
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("op")
    compiler = shutil.which("g++")
    assert compiler, "the tests need g++, which ci/test.sh installs"
    source = folder / "add_seven.cc"
    source.write_text(_SOURCE)
    target = folder / "add_seven.so"
    subprocess.run(
        [
            compiler,
            "-std=c++17",
            "-shared",
            "-fPIC",
            "-O1",
            str(source),
            "-o",
            str(target),
            *tf.sysconfig.get_compile_flags(),
            *tf.sysconfig.get_link_flags(),
        ],
        check=True,
    )
    return tf.load_op_library(str(target))


def test_the_op_computes_in_a_session(library):
    with tf.Graph().as_default(), tf.Session() as session:
        np.testing.assert_array_equal(session.run(library.add_seven([1, 2])), [8, 9])


def test_an_error_of_the_op_arrives_as_the_exception_class_it_names(library):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="x must be a vector"):
            session.run(library.add_seven(x), {x: 3})
