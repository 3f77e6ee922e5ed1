"""The newest symbol versions that our libraries may need."""

# What the released tensorflow-cpu 2.21.0 needs by itself (`readelf -V` over its libraries). Our
# library goes no higher: wherever the released one loads, ours does.
RELEASED_WHEEL = {"GLIBC": (2, 27), "GLIBCXX": (3, 4, 22), "CXXABI": (1, 3, 11), "GCC": (4, 2, 0)}

# The bundled libstdc++.so.6 needs no glibc newer than this, and offers at least this GLIBCXX.
BUNDLED_LIBSTDCXX_GLIBC = (2, 25)
BUNDLED_LIBSTDCXX_OFFERS = (3, 4, 30)


def text(version: tuple) -> str:
    """"2.27" for (2, 27)."""
    return ".".join(str(part) for part in version)
