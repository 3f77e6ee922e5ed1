"""Lays this project's files over the released TensorFlow wheel and the packages it carries; Bazel runs it.

The result depends on the input files alone: members are sorted, timestamps fixed, and what comes from
upstream is copied byte for byte, but for the edits that third_party/<package>/edits.py lists.
"""

import argparse
import base64
import hashlib
import posixpath
import zipfile

import bundled_dependencies
import metadata
import source_edits
from raw_zip import RawZipWriter

# Upstream's root module stays in the wheel under this name: it is the 2.x root that a user can ask for.
UPSTREAM_ROOT = "tensorflow/__init__.py"
UPSTREAM_ROOT_KEPT_AS = "tensorflow/released_root.py"


def record_hash(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def upstream_record(archive, dist_info):
    """Returns {member: 'hash,size'} of a wheel's RECORD."""
    lines = archive.read(dist_info + "/RECORD").decode().splitlines()
    return {line.rsplit(",", 2)[0].strip('"'): ",".join(line.rsplit(",", 2)[1:]) for line in lines if line}


def dist_info_of(archive):
    names = {n.split("/")[0] for n in archive.namelist()}
    return next(n for n in names if n.endswith(".dist-info"))


class WheelBuilder:
    """Collects members and their RECORD lines."""

    def __init__(self, out):
        self.out = out
        self.record = []

    def add(self, name, data, mode=0o644):
        self.out.add(name, data, mode)
        self.record.append(f"{name},{record_hash(data)},{len(data)}")

    def copy_wheel(self, path, skip, notices, edits=None):
        """Copies a wheel's members but its dist-info and those in `skip`; licences go to `notices`.

        With `edits`, a table of source_edits, the package's own tests are left out and the edits are made.
        """
        with zipfile.ZipFile(path) as archive:
            dist_info = dist_info_of(archive)
            recorded = upstream_record(archive, dist_info)
            changed = {}
            if edits is not None:
                changed = source_edits.apply(
                    edits, {n: archive.read(n) for n in archive.namelist() if n.endswith(".py")}
                )
                skip = skip | {n for n in archive.namelist() if source_edits.is_left_out(n)}
            for info in sorted(archive.infolist(), key=lambda i: i.filename):
                name = info.filename
                if name.endswith("/") or name in skip:
                    continue
                if name.startswith(dist_info + "/"):
                    if "LICENSE" in name or "NOTICE" in name:
                        notices.append(
                            (posixpath.join(dist_info.split("-")[0], posixpath.basename(name)), archive.read(info))
                        )
                    continue
                if name in changed:
                    self.add(name, changed[name])
                    continue
                self.out.copy(archive, info)
                self.record.append(
                    f"{name},{recorded[name]}"
                    if name in recorded
                    else f"{name},{record_hash(archive.read(info))},{info.file_size}"
                )

    def add_bundled_distribution(self, path, data_folder):
        """Tells installers that the distribution of the wheel file `path` is there.

        A wheel may have one dist-info folder at its top; a second one travels in the data folder. It gets no RECORD: its
        files belong to this wheel, so pip refuses to uninstall it by itself.
        """
        with zipfile.ZipFile(path) as archive:
            name, version = dist_info_of(archive)[: -len(".dist-info")].split("-")
        folder = f"{data_folder}/purelib/{name}-{version}.dist-info"
        self.add(f"{folder}/METADATA", metadata.bundled_metadata(name, version).encode())
        self.add(f"{folder}/INSTALLER", f"{metadata.NAME} wheel\n".encode())


def build(args):
    overlay = dict(entry.rsplit("=", 1)[::-1] for entry in args.overlay)
    dist_info = f"{metadata.NAME}-{args.version}.dist-info"
    notices = []
    with RawZipWriter(args.out) as out:
        builder = WheelBuilder(out)
        builder.copy_wheel(args.tf_wheel, set(overlay), notices)
        for part in args.parts:
            path, _, table = part.partition("=")
            builder.copy_wheel(path, set(overlay), notices, source_edits.load(table) if table else None)
            builder.add_bundled_distribution(path, f"{metadata.NAME}-{args.version}.data")
        with zipfile.ZipFile(args.tf_wheel) as archive:
            builder.add(UPSTREAM_ROOT_KEPT_AS, archive.read(UPSTREAM_ROOT))
        for name in sorted(overlay):
            with open(overlay[name], "rb") as f:
                builder.add(name, f.read(), 0o755 if ".so" in name else 0o644)
        if args.bundled:
            bundled_dependencies.add(builder, args.bundled, metadata.REQUIREMENTS)
        with open(args.readme, encoding="utf-8") as f:
            builder.add(f"{dist_info}/METADATA", metadata.metadata(args.version, f.read()).encode())
        builder.add(f"{dist_info}/WHEEL", metadata.wheel(args.tag).encode())
        builder.add(f"{dist_info}/entry_points.txt", metadata.entry_points().encode())
        builder.add(
            f"{dist_info}/top_level.txt",
            "".join(
                sorted(
                    {
                        line.split("/")[0] + "\n"
                        for line in builder.record
                        if "/" in line and ".dist-info" not in line and ".data/" not in line
                    }
                )
            ).encode(),
        )
        for name in args.licenses:
            with open(name, "rb") as f:
                notices.append((name, f.read()))
        for name, data in sorted(notices):
            builder.add(f"{dist_info}/licenses/{name}", data)
        record = f"{dist_info}/RECORD"
        out.add(record, ("\n".join(builder.record + [record + ",,"]) + "\n").encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, fromfile_prefix_chars="@")
    parser.add_argument("--out", required=True, help="the wheel to write")
    parser.add_argument("--version", required=True)
    parser.add_argument("--tag", required=True, help="such as cp311-cp311-manylinux_2_27_x86_64")
    parser.add_argument("--tf_wheel", required=True)
    parser.add_argument(
        "--parts", nargs="*", default=[], metavar="WHEEL[=EDITS]", help="packages that become a part of the wheel"
    )
    parser.add_argument("--readme", required=True, help="becomes the description of the package")
    parser.add_argument("--licenses", nargs="*", default=[], help="files for the licenses folder")
    parser.add_argument("--overlay", nargs="*", default=[], metavar="FILE=MEMBER", help="files of ours")
    parser.add_argument("--bundled", nargs="*", default=[], help="wheels to carry inside")
    build(parser.parse_args())


if __name__ == "__main__":
    main()
