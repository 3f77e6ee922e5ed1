#!/usr/bin/env python3
"""Builds the bundled libstdc++.so.6 and its probe from the compiler's own libstdc++.

The compiler's static libstdc++.a is relinked into a shared library against stubs of an old glibc
(//third_party/glibc_floor), with the versions of the compiler's shared libstdc++.so.6. The result
offers the same symbols and loads on systems older than the one it was built on. Nothing is
downloaded and nothing depends on time or place: two runs give the same bytes.

Writes into --out:
  libstdc++.so.6  stripped, SONAME libstdc++.so.6
  libcxxprobe.so  loads only where the libstdc++ found is new enough for the released TensorFlow
"""

import argparse
import os
import shutil
import sys
import tempfile
from typing import Dict, List, Set, Tuple

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(_HERE), "glibc_floor"))

# pylint: disable=wrong-import-position
import elf_versions
import floor
import make_stub_libs
from elf_versions import Symbol

Export = Tuple[str, str]  # (name, version)


def exports(symbols: List[Symbol]) -> Dict[Export, Symbol]:
    # The linker also lists each version's name as an absolute symbol; those have no code behind them.
    return {(s.name, s.version): s for s in symbols if s.defined and s.version and s.name != s.version}


def version_script(system: str, found: Dict[Export, Symbol]) -> str:
    """A linker script that gives each symbol the default version it has in the `system` library."""
    names: Dict[str, List[str]] = {}
    for (name, version), symbol in sorted(found.items()):
        if symbol.is_default:
            names.setdefault(version, []).append(name)
    script = []
    definitions = elf_versions.defined_versions(system)
    for version, parent in definitions:
        body = "".join(f'  "{name}";\n' for name in names.get(version, ()))
        body = f" global:\n{body}" if body else ""
        # ld hides a symbol that was given a version explicitly (the thunks) where that version's
        # own block says `local: *`. The last block has the newest version, which no thunk bears.
        if version == definitions[-1][0]:
            body += " local: *;\n"
        script.append(f"{version} {{\n{body}}}{' ' + parent if parent else ''};\n")
    return "".join(script)


def old_version_thunks(missing: List[Export], known_names: Set[str]) -> str:
    """Assembly that offers a function under a further, older version.

    libstdc++.so keeps functions under several versions for old programs, for instance
    std::condition_variable::wait@GLIBCXX_3.4.11 beside @@GLIBCXX_3.4.30. The static library has
    each only once; all of them share one implementation and signature.
    """
    lines = [".text"]
    for index, (name, version) in enumerate(missing):
        if name in known_names:
            lines += [
                f".globl old_version_{index}",
                f".type old_version_{index}, @function",
                f".symver old_version_{index}, {name}@{version}",
                f"old_version_{index}: endbr64",
                f"  jmp {name}@PLT",
                f".size old_version_{index}, . - old_version_{index}",
            ]
    lines.append('.section .note.GNU-stack,"",@progbits')
    return "\n".join(lines) + "\n"


def read_names(path: str) -> Set[Export]:
    with open(path, encoding="ascii") as f:
        lines = [line.split("#")[0].strip() for line in f]
    return {(name, version) for name, _, version in (line.partition("@") for line in lines if line)}


def link(cxx: str, stubs: str, script: str, thunks: str, output: str) -> None:
    # -nodefaultlibs: the compiler would add a second libstdc++ by itself.
    make_stub_libs.run(
        [cxx, "-shared", "-nodefaultlibs", f"-L{stubs}", "-o", output, thunks,
         "-Wl,--whole-archive", make_stub_libs.find_library(cxx, "libstdc++.a"), "-Wl,--no-whole-archive",
         f"-Wl,--version-script={script}", "-Wl,-soname,libstdc++.so.6", "-Wl,-z,defs", "-Wl,-z,relro",
         "-Wl,-O1", "-Wl,--gc-sections", "-Wl,--hash-style=gnu", "-Wl,--build-id=sha1",
         "-lm", "-lpthread", "-lgcc_s", "-lc", "-lgcc"]
    )


def write_probe(cxx: str, stubs: str, symbols: List[Symbol], output: str) -> None:
    """A library whose only content is two references to versions that TensorFlow needs."""
    wanted = []
    for family in ("GLIBCXX", "CXXABI"):
        version = f"{family}_{floor.text(floor.RELEASED_WHEEL[family])}"
        names = sorted(s.name for s in symbols if s.defined and s.version == version and s.kind == "FUNC")
        if not names:
            raise ValueError(f"the libstdc++ of {cxx} has no function at {version}; install g++ 12 or newer")
        wanted.append(names[0])
    with tempfile.TemporaryDirectory() as scratch:
        source = os.path.join(scratch, "probe.s")
        make_stub_libs.write_text(
            source,
            ".data\n" + "".join(f".quad {name}\n" for name in wanted)
            + '.section .note.GNU-stack,"",@progbits\n',
        )
        make_stub_libs.run(
            [cxx, "-shared", "-nostdlib", f"-L{stubs}", "-o", output, source, "-lstdcxx_floor",
             "-Wl,-soname,libcxxprobe.so", "-Wl,-z,defs", "-Wl,-z,now", "-Wl,--build-id=none", "-s"]
        )


def check_result(path: str, system: Dict[Export, Symbol], dropped: Set[Export]) -> None:
    """Raises ValueError where the library needs too much or offers too little."""
    limits = dict(floor.RELEASED_WHEEL, GLIBC=floor.BUNDLED_LIBSTDCXX_GLIBC)
    for library, version in elf_versions.version_needs(path):
        if not elf_versions.is_within(version, limits):
            raise ValueError(f"the new libstdc++.so.6 needs {version} of {library}; add what it takes to "
                             "third_party/glibc_floor/shims")
    lost = sorted(set(system) - set(exports(elf_versions.dynamic_symbols(path))) - dropped)
    if lost:
        listing = "\n  ".join(f"{name}@{version}" for name, version in lost)
        raise ValueError(f"the new libstdc++.so.6 lacks {len(lost)} symbols of the compiler's:\n  {listing}")
    offered = [elf_versions.parse_version(v) for v, _ in elf_versions.defined_versions(path)]
    newest = max(number for family, number in filter(None, offered) if family == "GLIBCXX")
    if newest < floor.BUNDLED_LIBSTDCXX_OFFERS:
        raise ValueError(
            f"the compiler's libstdc++ ends at GLIBCXX_{floor.text(newest)}, expected "
            f"GLIBCXX_{floor.text(floor.BUNDLED_LIBSTDCXX_OFFERS)} or newer; install g++ 12 or newer"
        )


def build(cxx: str, out: str) -> None:
    system_path = make_stub_libs.find_library(cxx, "libstdc++.so")
    symbols = elf_versions.dynamic_symbols(system_path)
    system = exports(symbols)
    dropped = read_names(os.path.join(_HERE, "dropped_symbols.txt"))
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:

        def path(name: str) -> str:
            return os.path.join(scratch, name)

        make_stub_libs.write_stubs(
            cxx, path("stubs"), floor.BUNDLED_LIBSTDCXX_GLIBC,
            (floor.RELEASED_WHEEL["GLIBCXX"], floor.RELEASED_WHEEL["CXXABI"]),
        )
        make_stub_libs.write_text(path("versions.map"), version_script(system_path, system))
        # The first link tells what the static library has; the second adds the older versions.
        make_stub_libs.write_text(path("thunks.s"), old_version_thunks([], set()))
        link(cxx, path("stubs"), path("versions.map"), path("thunks.s"), path("first.so"))
        first = exports(elf_versions.dynamic_symbols(path("first.so")))
        missing = sorted(set(system) - set(first))
        make_stub_libs.write_text(
            path("thunks.s"), old_version_thunks(missing, {name for name, _ in first})
        )
        link(cxx, path("stubs"), path("versions.map"), path("thunks.s"), path("libstdc++.so.6"))
        make_stub_libs.run(["strip", "--strip-unneeded", path("libstdc++.so.6")])
        check_result(path("libstdc++.so.6"), system, dropped)
        write_probe(cxx, path("stubs"), symbols, path("libcxxprobe.so"))
        for name in ("libstdc++.so.6", "libcxxprobe.so"):
            shutil.copyfile(path(name), os.path.join(out, name))
            os.chmod(os.path.join(out, name), 0o755)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cxx", default="g++", help="the C++ compiler, 12 or newer")
    parser.add_argument("--out", required=True, help="folder for the two libraries")
    arguments = parser.parse_args()
    build(arguments.cxx, arguments.out)


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"build_libstdcxx: {error}")
