"""The released TensorFlow wheel as the repository `local_tf`.

configure.py fetches and unpacks the wheel; this rule only links what it left on disk, so a build
never touches the network.
"""

# Each comes from the .bazelrc fragment that configure.py writes.
_ENVIRON = [
    "DEEPREC_TF_ROOT",
    "DEEPREC_TF_WHEEL",
    "DEEPREC_TF_KERAS_WHEEL",
    "DEEPREC_TENSORFLOW_ESTIMATOR_WHEEL",
    "DEEPREC_TF_SLIM_WHEEL",
    "DEEPREC_TF_VERSION",
    "DEEPREC_TF_KERAS_VERSION",
    "DEEPREC_BUNDLED_WHEELS",
]

def _setting(ctx, name):
    value = ctx.os.environ.get(name, "")
    if not value and name != "DEEPREC_BUNDLED_WHEELS":
        fail("%s is not set: run ./configure.py once before bazel." % name)
    return value

def _local_tf_impl(ctx):
    root = ctx.path(_setting(ctx, "DEEPREC_TF_ROOT"))
    if not root.get_child("tensorflow").exists:
        fail("%s holds no unpacked TensorFlow: run ./configure.py again." % root)
    wheel = ctx.path(_setting(ctx, "DEEPREC_TF_WHEEL"))
    tags = wheel.basename[:-len(".whl")].split("-")
    ctx.symlink(root.get_child("tensorflow").get_child("include"), "include")
    for lib in ["libtensorflow_framework.so.2", "libtensorflow_cc.so.2"]:
        ctx.symlink(root.get_child("tensorflow").get_child(lib), lib)
    ctx.symlink(wheel, "tensorflow.whl")
    for part in ["tf_keras", "tensorflow_estimator", "tf_slim"]:
        ctx.symlink(ctx.path(_setting(ctx, "DEEPREC_%s_WHEEL" % part.upper())), part + ".whl")

    # Python dependencies of the self-contained wheel; an empty folder unless configured.
    bundled = _setting(ctx, "DEEPREC_BUNDLED_WHEELS")
    names = []
    if bundled:
        for entry in sorted([(p.basename, p) for p in ctx.path(bundled).readdir()]):
            if entry[0].endswith(".whl"):
                ctx.symlink(entry[1], "bundled/" + entry[0])
                names.append(entry[0])

    ctx.file("defs.bzl", """
TF_VERSION = "%s"
TF_KERAS_VERSION = "%s"
WHEEL_TAG = "%s"
HAS_BUNDLED_WHEELS = %s
""" % (
        _setting(ctx, "DEEPREC_TF_VERSION"),
        _setting(ctx, "DEEPREC_TF_KERAS_VERSION"),
        "-".join(tags[-3:]),
        "True" if names else "False",
    ))

    # Bazel does not look inside the header folder (11,000 files make every sandboxed action
    # minutes long otherwise), so the wheel's name stands here to tell one release from another.
    ctx.file("BUILD", """
# %s
package(default_visibility = ["//visibility:public"])

exports_files([
    "tensorflow.whl",
    "tf_keras.whl",
    "tensorflow_estimator.whl",
    "tf_slim.whl",
    "libtensorflow_cc.so.2",
])

cc_library(
    name = "headers",
    hdrs = ["include"],
    includes = ["include"],
    # The options that tf.sysconfig.get_compile_flags() prints.
    defines = ["_GLIBCXX_USE_CXX11_ABI=1", "EIGEN_MAX_ALIGN_BYTES=64"],
)

# Linked by path, not through cc_import: that would leave a RUNPATH into the build tree.
filegroup(
    name = "framework",
    srcs = ["libtensorflow_framework.so.2"],
)

# For tests, which may keep the path.
cc_library(
    name = "framework_for_tests",
    srcs = ["libtensorflow_framework.so.2"],
    deps = [":headers"],
)

filegroup(
    name = "bundled_wheels",
    srcs = glob(["bundled/*.whl"]),
)
""" % wheel.basename)

local_tf_repository = repository_rule(
    implementation = _local_tf_impl,
    environ = _ENVIRON,
    local = True,
)
