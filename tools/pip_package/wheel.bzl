"""The rule that makes the wheel."""

load("@local_tf//:defs.bzl", "HAS_BUNDLED_WHEELS", "WHEEL_TAG")
load(":version.bzl", "WHEEL_VERSION")

def _member(file, placed):
    """A file's name inside the wheel: its path in the repository, unless it was placed elsewhere."""
    return placed.get(file.path, file.short_path)

def _tensorflow_wheel_impl(ctx):
    out = ctx.actions.declare_file("%stensorflow-%s-%s.whl" % (
        ctx.attr.subfolder,
        ctx.attr.version,
        ctx.attr.tag,
    ))
    placed = {}
    files = list(ctx.files.overlay)
    for target, folder in ctx.attr.placed.items():
        for file in target.files.to_list():
            placed[file.path] = folder + file.basename
            files.append(file)

    args = ctx.actions.args()
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    args.add("--out", out)
    args.add("--version", ctx.attr.version)
    args.add("--tag", ctx.attr.tag)
    args.add("--tf_wheel", ctx.file.tf_wheel)
    args.add("--parts")
    edits = {target.label.package.split("/")[-1]: target.files.to_list()[0] for target in ctx.attr.edits}
    parts = [f for target in ctx.attr.parts for f in target.files.to_list()]
    for wheel in parts:
        table = edits.get(wheel.basename[:-len(".whl")])
        args.add("%s=%s" % (wheel.path, table.path) if table else wheel.path)
    args.add("--readme", ctx.file.readme)
    args.add("--licenses")
    args.add_all(ctx.files.licenses)
    args.add("--overlay")
    args.add_all(["%s=%s" % (f.path, _member(f, placed)) for f in files])
    args.add("--bundled")
    args.add_all(ctx.files.bundled)
    ctx.actions.run(
        executable = ctx.executable._tool,
        arguments = [args],
        inputs = files + ctx.files.bundled + ctx.files.licenses + parts + ctx.files.edits + [
            ctx.file.tf_wheel,
            ctx.file.readme,
        ],
        outputs = [out],
        mnemonic = "Wheel",
        progress_message = "Assembling %s" % out.basename,
        # A quarter of a gigabyte that is made in two seconds does not belong into a cache.
        execution_requirements = {"no-cache": "1", "no-remote": "1"},
    )
    return [DefaultInfo(files = depset([out]))]

_tensorflow_wheel = rule(
    implementation = _tensorflow_wheel_impl,
    doc = "Lays files over the released TensorFlow wheel.",
    attrs = {
        "bundled": attr.label_list(allow_files = [".whl"], doc = "Wheels of dependencies to carry inside."),
        "edits": attr.label_list(
            allow_files = True,
            doc = "Edit tables of parts; one lies in a folder named like its part.",
        ),
        "licenses": attr.label_list(allow_files = True),
        "overlay": attr.label_list(
            allow_files = True,
            doc = "Files that go into the wheel under their path in this repository.",
        ),
        "parts": attr.label_list(
            allow_files = [".whl"],
            doc = "Wheels whose packages become a part of this one, each named like its package.",
        ),
        "placed": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Files that go into the wheel under the given prefix, such as `folder/`.",
        ),
        "readme": attr.label(allow_single_file = True, mandatory = True),
        "subfolder": attr.string(doc = "Folder of the output, to tell two wheels of one name apart."),
        "tag": attr.string(mandatory = True),
        "tf_wheel": attr.label(allow_single_file = True, mandatory = True),
        "version": attr.string(mandatory = True),
        "_tool": attr.label(
            default = "//tools/pip_package:build_wheel",
            executable = True,
            cfg = "exec",
        ),
    },
)

def tensorflow_wheel(name, self_contained = False):
    """Makes the wheel of this project.

    Args:
      name: of the target.
      self_contained: whether the Python dependencies go inside; needs `configure.py --self_contained`.
    """
    if self_contained and not HAS_BUNDLED_WHEELS:
        native.genrule(
            name = name,
            outs = [name + ".not_configured"],
            cmd = "echo 'No dependencies to carry: run ./configure.py --self_contained first.' >&2; exit 1",
        )
        return
    _tensorflow_wheel(
        name = name,
        bundled = ["@local_tf//:bundled_wheels"] if self_contained else [],
        licenses = [
            "//:LICENSE",
            "//third_party:NOTICES",
            "//third_party/libstdcxx:NOTICE",
        ],
        edits = [
            "//third_party/tensorflow_estimator:edits.py",
            "//third_party/tf_slim:edits.py",
        ],
        overlay = [
            "//hybridbackend:python",
            "//sparse_operation_kit:overlay",
            "//tensorflow:overlay",
        ],
        parts = [
            "@local_tf//:tf_keras.whl",
            "@local_tf//:tensorflow_estimator.whl",
            "@local_tf//:tf_slim.whl",
        ],
        placed = {
            "//third_party/libstdcxx:libstdc++.so.6": "tensorflow/libstdcxx_guard/",
            "//third_party/libstdcxx:libcxxprobe.so": "tensorflow/libstdcxx_guard/",
            "//tools/doctor:deeprec_doctor.py": "",
            "//tools/horovod:deeprec_horovod.py": "",
            "//tools/pip_package:standalone_keras/_deeprec_keras.py": "",
            "//tools/pip_package:standalone_keras/deeprec_keras.pth": "",
            "//tools/scan:deeprec_scan": "deeprec_scan/",
        },
        readme = "//:README.md",
        # Both wheels have one name, which pip reads; folders tell them apart.
        subfolder = "self_contained/" if self_contained else "",
        tag = WHEEL_TAG,
        tf_wheel = "@local_tf//:tensorflow.whl",
        version = WHEEL_VERSION,
    )
