"""Members copied without recompression come out as they went in."""

import importlib.util
import io
import random
import zipfile

import pytest


@pytest.fixture
def raw_zip(repository):
    spec = importlib.util.spec_from_file_location("raw_zip", repository / "tools" / "pip_package" / "raw_zip.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _members(seed):
    generator = random.Random(seed)
    return {
        f"folder/{i}.bin": generator.randbytes(generator.choice([0, 1, 100, 70000])) + b"x" * generator.randrange(5000)
        for i in range(20)
    } | {"ümlaut.txt": b"text"}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_copies_members_as_they_are(raw_zip, tmp_path, method):
    members = _members(method)
    with zipfile.ZipFile(tmp_path / "in.zip", "w", method) as source:
        for name, data in members.items():
            source.writestr(name, data)
    with zipfile.ZipFile(tmp_path / "in.zip") as source, raw_zip.RawZipWriter(tmp_path / "out.zip") as out:
        for info in source.infolist():
            out.copy(source, info)
        out.add("added.txt", b"added", mode=0o755)
    with zipfile.ZipFile(tmp_path / "out.zip") as result:
        assert result.testzip() is None
        assert {n: result.read(n) for n in result.namelist()} == {**members, "added.txt": b"added"}
        assert result.getinfo("added.txt").external_attr >> 16 & 0o777 == 0o755


def test_copies_members_whose_sizes_follow_the_data(raw_zip, tmp_path):
    class Unseekable(io.RawIOBase):
        """A sink that makes zipfile write data descriptors."""

        def __init__(self, file):
            self.file = file

        def writable(self):
            return True

        def write(self, data):
            return self.file.write(data)

    with (
        open(tmp_path / "in.zip", "wb") as file,
        zipfile.ZipFile(Unseekable(file), "w", zipfile.ZIP_DEFLATED) as source,
    ):
        source.writestr("a", b"a" * 1000)
        source.writestr("b", b"b")
    with zipfile.ZipFile(tmp_path / "in.zip") as source, raw_zip.RawZipWriter(tmp_path / "out.zip") as out:
        assert source.getinfo("a").flag_bits & 8
        for info in source.infolist():
            out.copy(source, info)
    with zipfile.ZipFile(tmp_path / "out.zip") as result:
        assert result.testzip() is None and result.read("a") == b"a" * 1000 and result.read("b") == b"b"


def test_same_input_gives_the_same_bytes(raw_zip, tmp_path):
    for name in ("one.zip", "two.zip"):
        with raw_zip.RawZipWriter(tmp_path / name) as out:
            for member, data in _members(3).items():
                out.add(member, data)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_a_name_used_twice_is_refused(raw_zip, tmp_path):
    with pytest.raises(ValueError, match="'a' is there already"), raw_zip.RawZipWriter(tmp_path / "out.zip") as out:
        out.add("a", b"")
        out.add("a", b"")


def test_an_archive_cut_short_is_refused(raw_zip, tmp_path):
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as source:
        source.writestr("a", b"a" * 1000)
    with zipfile.ZipFile(tmp_path / "in.zip") as source:
        info = source.getinfo("a")
        info.compress_size = 10**6
        with pytest.raises(ValueError, match="cut short"), raw_zip.RawZipWriter(tmp_path / "out.zip") as out:
            out.copy(source, info)
