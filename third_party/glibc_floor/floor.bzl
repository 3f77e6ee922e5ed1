"""A rule that limits the glibc and libstdc++ versions a shared library refers to."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _symbol_floor_impl(ctx):
    compiler = find_cpp_toolchain(ctx).compiler_executable
    stubs = ctx.actions.declare_directory(ctx.label.name + "_stubs")
    ctx.actions.run(
        executable = ctx.executable._tool,
        arguments = ["--cxx", compiler, "--out", stubs.path],
        inputs = ctx.files.shims,
        outputs = [stubs],
        mnemonic = "SymbolFloor",
        progress_message = "Making link-time stubs of glibc and libstdc++",
        # The system's own libraries are read: another machine may not share the result.
        execution_requirements = {"no-remote": "1", "no-cache": "1"},
        use_default_shell_env = True,
    )
    linker_input = cc_common.create_linker_input(
        owner = ctx.label,
        user_link_flags = depset(["-L" + stubs.path]),
        additional_inputs = depset([stubs]),
    )
    return [
        DefaultInfo(files = depset([stubs])),
        CcInfo(linking_context = cc_common.create_linking_context(
            linker_inputs = depset([linker_input]),
        )),
    ]

symbol_floor = rule(
    implementation = _symbol_floor_impl,
    doc = "Makes stub libraries and puts them first in the library path of whatever depends on it.",
    attrs = {
        "shims": attr.label_list(
            allow_files = [".c", ".cc"],
            doc = "Replacements of functions that the limits take away.",
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_tool": attr.label(
            default = "//third_party/glibc_floor:make_stub_libs",
            executable = True,
            cfg = "exec",
        ),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    fragments = ["cpp"],
)
