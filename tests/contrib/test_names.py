"""Every public name of 1.15's contrib is there, shows, and takes 1.15's arguments; what does not is in known_gaps.tsv."""

import csv
import functools
import importlib
import inspect
import pathlib

import pytest
import tensorflow as tf
from tensorflow.api_v1.old_paths.contrib_modules import PATHS
from tensorflow.contrib import left_out

_DATA = pathlib.Path(__file__).parent / "data"


def _table(name):
    with open(_DATA / f"{name}.tsv", newline="") as source:
        return list(csv.DictReader(source, delimiter="\t"))


_GAPS = {row["symbol"]: row["reason"] for row in _table("known_gaps")}
_SYMBOLS = [row for row in _table("symbols") if row["symbol"].split(".")[1] not in left_out.MODULES]
_MODULES = sorted({row["symbol"].split(".")[1] for row in _SYMBOLS})


def _find(path):
    owner = tf
    for part in path.split("."):
        owner = getattr(owner, part)
    return owner


def _rows(module):
    return [row for row in _SYMBOLS if row["symbol"].split(".")[1] == module]


def test_every_module_is_there_or_left_out():
    missing = [name for name in PATHS if name not in left_out.MODULES and not _is_written(name)]
    assert not missing


def _is_written(name):
    return any((pathlib.Path(folder) / name / "__init__.py").exists() for folder in tf.contrib.__path__)


@pytest.mark.parametrize("module", _MODULES)
def test_no_name_is_missing_or_hidden(module):
    missing = []
    for row in _rows(module):
        if row["symbol"] in _GAPS:
            continue
        parent, _, name = row["symbol"].rpartition(".")
        try:
            _find(row["symbol"])
            if name not in dir(_find(parent)):
                missing.append(f"{row['symbol']} is hidden from dir()")
        except AttributeError as error:
            missing.append(f"{row['symbol']}: {error}")
    assert not missing


def _signature_difference(row):
    wanted = [a.rstrip("=") for a in row["arguments"].split(",") if a and not a.startswith("*")]
    if not wanted:
        return None
    target = _find(row["symbol"])
    try:
        # 1.15, too, had functions with one argument filled in; the list has the arguments of what is called.
        parameters = inspect.signature(target.func if isinstance(target, functools.partial) else target).parameters
    except ValueError:
        return "no signature"
    kinds = {p.kind for p in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        unknown = [name for name in wanted if name not in parameters]
        if unknown:
            return f"arguments {unknown} are unknown"
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    order = [n for n, p in parameters.items() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    return None if order[: len(wanted)] == wanted else f"order is {order}, was {wanted}"


@pytest.mark.parametrize("module", _MODULES)
def test_arguments_have_the_names_and_the_order_of_1_15(module):
    differences = {}
    for row in _rows(module):
        if row["kind"] in ("class", "function") and row["arguments"] and row["symbol"] not in _GAPS:
            difference = _signature_difference(row)
            if difference:
                differences[row["symbol"]] = difference
    assert not differences


@pytest.mark.parametrize("symbol", sorted(_GAPS))
def test_a_known_gap_is_still_one(symbol):
    [row] = [row for row in _SYMBOLS if row["symbol"] == symbol]
    try:
        filled = not _signature_difference(row) if row["arguments"] else _find(symbol) is not None
    except AttributeError:
        filled = False
    assert not filled, f"{symbol} is as in 1.15 now: remove it from known_gaps.tsv"


@pytest.mark.parametrize("module", sorted(PATHS))
def test_every_deep_path_imports(module):
    failed = {}
    for path in ["", *PATHS[module].split()]:
        name = f"tensorflow.contrib.{module}.{path}".rstrip(".")
        try:
            importlib.import_module(name)
        except ImportError as error:
            failed[name] = str(error)
    assert not failed


def test_a_module_of_a_package_comes_before_a_name_of_its_contrib_module():
    from tensorflow.contrib.estimator.python.estimator import multi_head

    assert inspect.ismodule(multi_head) and multi_head.multi_head is tf.contrib.estimator.multi_head


def test_a_function_hides_the_module_of_its_name_where_1_15_had_it_so():
    import tensorflow.contrib.framework.python.ops.arg_scope as module
    from tensorflow.contrib.framework.python.ops import arg_scope

    assert arg_scope is tf.contrib.framework.arg_scope is tf.contrib.framework.python.ops.arg_scope
    assert module is not None
    with arg_scope([tf.contrib.layers.conv2d], stride=1):
        pass
