"""Options under sanitizers for sources that include TensorFlow's graph headers."""

# These headers compare addresses of functions in constant expressions, which GCC 12 cannot do under these checks.
GRAPH_SANITIZER_COPTS = select({
    "//:sanitizer": [
        "-fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute,vptr",
        "-fdelete-null-pointer-checks",
    ],
    "//conditions:default": [],
})
