"""GoogleTest from the source tree that Debian's `googletest` package installs."""

def _googletest_impl(ctx):
    source = ctx.path(ctx.os.environ.get("DEEPREC_GOOGLETEST", "/usr/src/googletest") + "/googletest")
    if not source.get_child("src").exists:
        fail("No GoogleTest under %s: apt-get install googletest, or set DEEPREC_GOOGLETEST." % source)
    ctx.symlink(source.get_child("src"), "src")
    ctx.symlink(source.get_child("include"), "include")

    # GoogleMock, for its matchers.
    mock = source.dirname.get_child("googlemock")
    ctx.symlink(mock.get_child("include"), "mock/include")
    ctx.symlink(mock.get_child("src"), "mock/src")
    ctx.file("BUILD", """
cc_library(
    name = "gtest_main",
    testonly = True,
    srcs = ["src/gtest-all.cc", "src/gtest_main.cc"] + glob(["src/*.h"]),
    hdrs = glob(["include/**/*.h"]) + ["src/" + f for f in [%s]],
    includes = ["include", "."],
    linkopts = ["-pthread"],
    visibility = ["//visibility:public"],
)

cc_library(
    name = "matchers",
    testonly = True,
    srcs = ["mock/src/gmock.cc", "mock/src/gmock-internal-utils.cc", "mock/src/gmock-matchers.cc"],
    hdrs = glob(["mock/include/**/*.h"]),
    includes = ["mock/include"],
    visibility = ["//visibility:public"],
    deps = [":gtest_main"],
)
""" % ", ".join(['"%s"' % p.basename for p in source.get_child("src").readdir() if p.basename.endswith(".cc") and p.basename not in ["gtest-all.cc", "gtest_main.cc"]]))

googletest_repository = repository_rule(
    implementation = _googletest_impl,
    environ = ["DEEPREC_GOOGLETEST"],
    local = True,
)
