"""The wheel is well formed and asks for what it needs."""

import base64
import csv
import hashlib
import importlib.metadata
import io
import os
import re
import zipfile

import pytest


@pytest.fixture(scope="module")
def wheel():
    path = os.environ.get("DEEPREC_TEST_WHEEL")
    if not path:
        pytest.skip("DEEPREC_TEST_WHEEL is not set; ci/test.sh sets it")
    with zipfile.ZipFile(path) as archive:
        yield archive


def _dist_info(archive):
    return next(n.split("/")[0] for n in archive.namelist() if n.split("/")[0].endswith(".dist-info"))


def test_name_names_api_project_runtime_and_upstream_tags(wheel):
    name = os.path.basename(wheel.filename)
    assert re.fullmatch(
        r"tensorflow-1\.15\.5\+deeprec\d+\.\d+\.\d+\.tf2\.21\.0-cp3\d+-cp3\d+-manylinux_2_27_x86_64\.whl", name
    )


def test_every_member_is_whole(wheel):
    assert wheel.testzip() is None


def test_record_lists_every_member_with_its_size(wheel):
    record = f"{_dist_info(wheel)}/RECORD"
    rows = {row[0]: row for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
    sizes = {i.filename: i.file_size for i in wheel.infolist()}
    assert set(rows) == set(sizes)
    for name, size in sizes.items():
        assert rows[name][2] == (str(size) if name != record else ""), name


def test_record_hashes_are_right(wheel):
    record = f"{_dist_info(wheel)}/RECORD"
    for name, digest, size in csv.reader(io.StringIO(wheel.read(record).decode())):
        # All of ours and the small ones of upstream's; the two libraries of upstream's take seconds.
        if digest and int(size) < 1 << 20:
            got = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
            assert digest == "sha256=" + got, name


def test_members_of_upstream_are_kept(wheel):
    names = set(wheel.namelist())
    assert {
        "tensorflow/released_root.py",
        "tensorflow/libtensorflow_cc.so.2",
        "tf_keras/__init__.py",
        "tensorflow/THIRD_PARTY_NOTICES.txt",
    } <= names
    assert b"tensorflow._api.v2" in wheel.read("tensorflow/released_root.py")


def test_notices_of_all_parts_are_in_the_licenses_folder(wheel):
    folder = _dist_info(wheel) + "/licenses/"
    assert {"LICENSE", "third_party/NOTICES", "third_party/libstdcxx/NOTICE"} <= {
        n[len(folder) :] for n in wheel.namelist() if n.startswith(folder)
    }


def test_keras_3_and_libclang_are_not_required():
    names = {re.match(r"[\w.-]+", r).group().lower() for r in importlib.metadata.requires("tensorflow")}
    assert "keras" not in names and "libclang" not in names
    assert {"numpy", "setuptools", "protobuf", "h5py"} <= names
