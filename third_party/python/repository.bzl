"""The Python that configure.py chose, as a Bazel toolchain for the build's own tools."""

def _local_python_impl(ctx):
    interpreter = ctx.os.environ.get("DEEPREC_PYTHON", "")
    if not interpreter:
        fail("DEEPREC_PYTHON is not set: run ./configure.py once before bazel.")
    ctx.file("BUILD", """
load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")

py_runtime(
    name = "python3",
    interpreter_path = "%s",
    python_version = "PY3",
    stub_shebang = "#!/usr/bin/env python3",
)

py_runtime_pair(
    name = "pair",
    py3_runtime = ":python3",
)

toolchain(
    name = "toolchain",
    toolchain = ":pair",
    toolchain_type = "@bazel_tools//tools/python:toolchain_type",
)
""" % interpreter)

local_python_repository = repository_rule(
    implementation = _local_python_impl,
    environ = ["DEEPREC_PYTHON"],
    local = True,
)
