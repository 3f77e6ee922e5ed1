"""One source of loops, compiled once for each instruction set."""

_AVX2 = ["-mavx2", "-mfma", "-mf16c"]
_AVX512 = _AVX2 + ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512"]

_COPTS = [
    "-fno-math-errno",
    "-fno-trapping-math",
    # GCC 12 reports its own AVX-512 header, where a register is left undefined on purpose.
    "-Wno-maybe-uninitialized",
    "-Wno-uninitialized",
    # Vectors are passed between inlined functions only.
    "-Wno-psabi",
]

def per_isa_libraries(name, textual_hdrs, deps, copts = [], scalar_copts = []):
    """Libraries <name>_scalar, <name>_avx2 and <name>_avx512, of <name>_<isa>.cc each, and no_weak_symbols_test.

    Args:
      name: the name of the test is fixed, so there is one of these in a package.
      textual_hdrs: what the sources include, compiled anew in each.
      deps: of each library.
      copts: of each library, beside those above.
      scalar_copts: of the scalar one.
    """
    level = select({
        # Under sanitizers the unrolled loops take minutes to compile at -O3, and find no more.
        "//:sanitizer": ["-O1"],
        "//conditions:default": ["-O3"],
    })
    for isa, isa_copts in [("scalar", scalar_copts), ("avx2", _AVX2), ("avx512", _AVX512)]:
        native.cc_library(
            name = "%s_%s" % (name, isa),
            srcs = ["%s_%s.cc" % (name, isa)],
            copts = _COPTS + copts + level + isa_copts,
            linkstatic = 1,
            textual_hdrs = textual_hdrs,
            deps = deps,
        )

    # As files: a cc_library among `data` would leave its archive out.
    archives = []
    for isa in ["avx2", "avx512"]:
        archives.append(":%s_%s_archive" % (name, isa))
        native.filegroup(name = archives[-1][1:], srcs = [":%s_%s" % (name, isa)])

    # A weak function compiled for AVX-512 could be the copy that the linker keeps for everyone.
    native.sh_test(
        name = "no_weak_symbols_test",
        size = "small",
        srcs = ["//tensorflow/core/sparse:no_weak_symbols_test.sh"],
        args = ["$(rootpaths %s)" % archive for archive in archives],
        data = archives,
        tags = ["no_sanitizer"],
    )
