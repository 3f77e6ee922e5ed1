"""Symbol versions of ELF libraries, read through binutils' readelf."""

import os
import re
import subprocess
from typing import Dict, List, NamedTuple, Optional, Tuple

# Families whose names carry a comparable number: GLIBC_2.27, GLIBCXX_3.4.22, CXXABI_1.3.11, GCC_4.2.0.
_NUMBERED = re.compile(r"^(GLIBC|GLIBCXX|CXXABI|GCC)_(\d+(?:\.\d+)*)$")


class Symbol(NamedTuple):
    name: str
    version: str  # "" when the symbol has none
    is_default: bool  # name@@version: what the linker binds a new reference to
    kind: str  # FUNC, OBJECT, TLS, IFUNC, ...
    binding: str  # GLOBAL, WEAK, UNIQUE
    size: int
    defined: bool


def parse_version(version: str) -> Optional[Tuple[str, Tuple[int, ...]]]:
    """("GLIBC", (2, 27)) for "GLIBC_2.27"; None for names without a number (GLIBC_PRIVATE)."""
    match = _NUMBERED.match(version)
    if not match:
        return None
    return match[1], tuple(int(part) for part in match[2].split("."))


def is_within(version: str, limits: Dict[str, Tuple[int, ...]]) -> bool:
    """Whether `version` belongs to a family in `limits` and is not newer than its limit."""
    parsed = parse_version(version)
    return parsed is not None and parsed[0] in limits and parsed[1] <= limits[parsed[0]]


def _readelf(option: str, path: str) -> str:
    environment = dict(os.environ, LC_ALL="C")
    result = subprocess.run(
        ["readelf", "-W", option, path], capture_output=True, text=True, env=environment, check=False
    )
    if result.returncode != 0 or not result.stdout.strip():
        reason = result.stderr.strip() or "no such section"
        raise ValueError(f"{path}: readelf {option} failed, expected a shared ELF library: {reason}")
    return result.stdout


def dynamic_symbols(path: str) -> List[Symbol]:
    """The named entries of the dynamic symbol table."""
    symbols = []
    for line in _readelf("--dyn-syms", path).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0][:-1].isdigit():
            continue  # a heading, or the nameless first entry
        # A reference is printed as "name@VERSION (index)", a definition as name@VERSION or name@@VERSION.
        name, _, version = fields[7].partition("@")
        is_default = version.startswith("@")
        symbols.append(
            Symbol(
                name=name,
                version=version.lstrip("@"),
                is_default=is_default,
                kind=fields[3],
                binding=fields[4],
                size=int(fields[2], 0),
                defined=fields[6] != "UND",
            )
        )
    return symbols


def version_needs(path: str) -> List[Tuple[str, str]]:
    """(library, version) pairs of the version needs section, as the loader checks them."""
    needs, library = [], ""
    in_needs = False
    for line in _readelf("-V", path).splitlines():
        if line.startswith("Version "):
            in_needs = line.startswith("Version needs")
        elif in_needs:
            file_match = re.search(r"File: (\S+)", line)
            if file_match:
                library = file_match[1]
            name_match = re.search(r"Name: (\S+)", line)
            if name_match:
                needs.append((library, name_match[1]))
    return needs


def defined_versions(path: str) -> List[Tuple[str, Optional[str]]]:
    """(version, parent or None) pairs that the library defines, in file order, without its base entry."""
    versions: List[Tuple[str, Optional[str]]] = []
    in_definitions = base = False
    for line in _readelf("-V", path).splitlines():
        if line.startswith("Version "):
            in_definitions = line.startswith("Version definition")
        elif in_definitions:
            parent = re.search(r"Parent \d+: (\S+)", line)
            name = re.search(r"Name: (\S+)", line)
            if parent and versions:
                versions[-1] = (versions[-1][0], parent[1])
            elif name:
                base = "BASE" in line
                if not base:
                    versions.append((name[1], None))
    return versions


def soname(path: str) -> str:
    match = re.search(r"\(SONAME\).*\[(.*)\]", _readelf("-d", path))
    return match[1] if match else os.path.basename(path)


def needed_libraries(path: str) -> List[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", _readelf("-d", path))
