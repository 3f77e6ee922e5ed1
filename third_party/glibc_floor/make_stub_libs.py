#!/usr/bin/env python3
"""Writes link-time stubs of glibc and libstdc++ that end at chosen symbol versions.

A stub defines the symbols of the build machine's own library, each at its newest version not
above the limit, and nothing newer. Linking against the stubs binds every reference to an old
version; a symbol that only exists in newer releases is taken from `shims/` (glibc) or from the
compiler's own libstdc++.a (libstdc++), hidden in the output, or is an undefined reference: a
too new requirement can't slip into the output. At run time the real libraries are loaded.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from fnmatch import fnmatchcase
from typing import Dict, List, Optional, Tuple

import archive
import elf_versions
import floor
from elf_versions import Symbol

Version = Tuple[int, ...]

# The stub's file name -> the library it stands for.
_GLIBC_LIBRARIES = {
    "c_floor": "libc.so.6",
    "m": "libm.so.6",
    "pthread": "libpthread.so.0",
    "dl": "libdl.so.2",
    "rt": "librt.so.1",
    "ld_floor": "ld-linux-x86-64.so.2",
}

# Since 2.34 libc.so.6 holds these too, under their old versions for old programs. On older
# systems they live in the libraries named here, which must therefore be DT_NEEDED.
_MOVED_INTO_LIBC = {
    "pthread": ("pthread_*", "__pthread_*", "_pthread_*", "sem_*"),
    "dl": ("dlopen", "dlsym", "dlvsym", "dlclose", "dlerror", "dladdr*", "dlinfo", "dlmopen"),
    "rt": ("aio_*", "lio_*", "mq_*", "__mq_*", "shm_*", "timer_*"),
}

# Members of libstdc++.a that may be linked in for what the limit takes away. They keep no state
# that two copies in one process could disagree about; members with such state (locale ids, the
# standard streams, emergency memory, exception globals, shared_ptr's lock pool) must stay out.
_STATELESS_MEMBERS = (
    "fs_*.o",
    "floating_*.o",
    "memory_resource.o",
    "functexcept.o",
    "snprintf_lite.o",
    "sso_string.o",
    "bad_array_new.o",
    "eh_ptr.o",
    "eh_call.o",
    "futex.o",
    "random.o",
    "*codecvt.o",
    "cow-stdexcept.o",
    "*string-inst.o",
    "*ostream-inst.o",
    "*sstream-inst.o",
)
_STATEFUL_MEMBERS = ("cow-*string-inst.o", "cow-sstream-inst.o", "iostream-inst.o", "codecvt.o")


def cap_symbols(symbols: List[Symbol], limits: Dict[str, Version]) -> Dict[str, Symbol]:
    """The newest version of each defined symbol that is within `limits`."""
    chosen: Dict[str, Symbol] = {}
    for symbol in symbols:
        if not symbol.defined or not elf_versions.is_within(symbol.version, limits):
            continue
        known = chosen.get(symbol.name)
        newer = known is None or (
            elf_versions.parse_version(symbol.version) > elf_versions.parse_version(known.version)
        )
        if newer:
            chosen[symbol.name] = symbol
    return chosen


def split_moved(libc_symbols: List[Symbol], capped: Dict[str, Symbol]) -> Dict[str, Dict[str, Symbol]]:
    """Capped libc symbols by stub, those that glibc 2.28 to 2.34 moved back in their old library."""
    default = {s.name: s.version for s in libc_symbols if s.defined and s.is_default}
    split: Dict[str, Dict[str, Symbol]] = {"c_floor": {}, "pthread": {}, "dl": {}, "rt": {}}
    for name, symbol in capped.items():
        home = "c_floor"
        if default.get(name) != symbol.version:
            for stub, patterns in _MOVED_INTO_LIBC.items():
                if any(fnmatchcase(name, pattern) for pattern in patterns):
                    home = stub
        split[home][name] = symbol
    return split


def write_stub(cxx: str, symbols: Dict[str, Symbol], soname: str, output: str) -> None:
    """Links a shared library that defines `symbols` and has no code."""
    assembly: Dict[str, List[str]] = {".text": [], ".data": [], '.tdata,"awT"': []}
    versions: Dict[str, List[str]] = {}
    for name, symbol in sorted(symbols.items()):
        if symbol.kind == "TLS":
            section, kind = '.tdata,"awT"', "@tls_object"
        elif symbol.kind == "OBJECT":
            section, kind = ".data", "@object"
        else:
            section, kind = ".text", "@function"
        quoted = f'"{name}"'
        size = max(symbol.size, 1) if section != ".text" else 1
        directive = ".weak" if symbol.binding == "WEAK" else ".globl"
        assembly[section] += [
            f"{directive} {quoted}",
            f".type {quoted}, {kind}",
            f".size {quoted}, {size}",
            f"{quoted}: .skip {size}",
        ]
        versions.setdefault(symbol.version, []).append(name)
    script = []
    for version in sorted(versions, key=elf_versions.parse_version):
        names = "".join(f'  "{name}";\n' for name in versions[version])
        script.append(f"{version} {{\n global:\n{names}}};\n")
    script.append("FLOOR_LOCAL { local: *; };\n" if not script else "")
    with tempfile.TemporaryDirectory() as scratch:
        source = os.path.join(scratch, "stub.s")
        map_file = os.path.join(scratch, "stub.map")
        with open(source, "w", encoding="ascii") as f:
            for section, lines in assembly.items():
                if lines:
                    f.write(f".section {section}\n" + "\n".join(lines) + "\n")
            f.write('.section .note.GNU-stack,"",@progbits\n')
        with open(map_file, "w", encoding="ascii") as f:
            f.write("".join(script))
        run(
            [cxx, "-shared", "-nostdlib", f"-Wl,-soname,{soname}", f"-Wl,--version-script={map_file}",
             "-Wl,--build-id=none", "-o", output, source]
        )


def run(command: List[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ValueError(f"{' '.join(command)} failed:\n{result.stderr.strip()}")
    return result.stdout


def find_library(cxx: str, name: str) -> str:
    path = run([cxx, f"-print-file-name={name}"]).strip()
    if not os.path.isabs(path):
        raise ValueError(f"{cxx} has no {name}; install the C++ development packages (Debian: g++)")
    return os.path.realpath(path)


def compile_shims(cxx: str, extension: str) -> List[Tuple[str, bytes]]:
    """(name, object code) of each source under shims/ with this extension."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shims")
    language = ["-x", "c", "-std=gnu11"] if extension == ".c" else ["-std=c++17"]
    members = []
    with tempfile.TemporaryDirectory() as scratch:
        for file_name in sorted(os.listdir(folder)):
            stem, found = os.path.splitext(file_name)
            if found != extension:
                continue
            target = os.path.join(scratch, stem + ".o")
            run([cxx, *language, "-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-Wall",
                 "-c", os.path.join(folder, file_name), "-o", target])
            with open(target, "rb") as f:
                members.append((f"floor_{stem}.o", f.read()))
    return members


def write_archive(output: str, members: List[Tuple[str, bytes]]) -> None:
    archive.write(output, members)
    run(["ranlib", "-D", output])


def stateless_members(cxx: str) -> List[Tuple[str, bytes]]:
    """The part of the compiler's static libstdc++ that may be linked in."""
    return [
        (name, data)
        for name, data in archive.read(find_library(cxx, "libstdc++.a"))
        if any(fnmatchcase(name, p) for p in _STATELESS_MEMBERS)
        and not any(fnmatchcase(name, p) for p in _STATEFUL_MEMBERS)
    ]


def write_text(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def check_target(cxx: str) -> None:
    machine = run([cxx, "-dumpmachine"]).strip()
    if not machine.startswith("x86_64-") or "musl" in machine:
        raise ValueError(f"{cxx} builds for {machine}, expected x86_64 with glibc")


def write_stubs(
    cxx: str, folder: str, glibc: Version, libstdcxx: Optional[Tuple[Version, Version]]
) -> None:
    """Writes the stubs into `folder`; `libstdcxx` holds the GLIBCXX and the CXXABI limit, or is None."""
    check_target(cxx)
    os.makedirs(folder, exist_ok=True)

    def output(name: str) -> str:
        return os.path.join(folder, name)

    stubs: Dict[str, Dict[str, Symbol]] = {}
    for stub, library in _GLIBC_LIBRARIES.items():
        symbols = elf_versions.dynamic_symbols(find_library(cxx, library))
        capped = cap_symbols(symbols, {"GLIBC": glibc})
        parts = split_moved(symbols, capped) if stub == "c_floor" else {stub: capped}
        for name, part in parts.items():
            # A library's own table comes after, and over, what libc.so.6 says about it.
            stubs[name] = {**stubs.get(name, {}), **part}
    for stub, capped in stubs.items():
        write_stub(cxx, capped, _GLIBC_LIBRARIES[stub], output(f"lib{stub}.so"))
    write_archive(output("libfloor_shims.a"), compile_shims(cxx, ".c"))
    write_text(
        output("libc.so"),
        "GROUP ( -lc_floor -lc_nonshared -lfloor_shims AS_NEEDED ( -lpthread -ldl -lrt -lld_floor ) )\n",
    )
    if libstdcxx is not None:
        limits = {"GLIBCXX": libstdcxx[0], "CXXABI": libstdcxx[1]}
        symbols = elf_versions.dynamic_symbols(find_library(cxx, "libstdc++.so"))
        write_stub(cxx, cap_symbols(symbols, limits), "libstdc++.so.6", output("libstdcxx_floor.so"))
        write_archive(output("libstdcxx_nonshared.a"), stateless_members(cxx) + compile_shims(cxx, ".cc"))
        write_text(output("libstdc++.so"), "INPUT ( -lstdcxx_floor -lstdcxx_nonshared )\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cxx", default="g++", help="the C++ compiler whose libraries are stubbed")
    parser.add_argument("--out", required=True, help="folder to write; link with -L<folder>")
    arguments = parser.parse_args()
    limits = floor.RELEASED_WHEEL
    write_stubs(arguments.cxx, arguments.out, limits["GLIBC"], (limits["GLIBCXX"], limits["CXXABI"]))


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"make_stub_libs: {error}")
