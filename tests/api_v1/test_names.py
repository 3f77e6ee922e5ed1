"""Every public name of TensorFlow 1.15 is there, shows, and takes 1.15's arguments; what does not is in one table."""

import inspect

import facts
import pytest
import tensorflow as tf

_SYMBOLS = facts.table("symbols")
_GAPS = facts.known_gaps()
_KINDS = ("class", "function")


def test_no_symbol_is_missing():
    missing = []
    for row in _SYMBOLS:
        try:
            facts.find(row["symbol"], tf)
        except AttributeError as error:
            missing.append(f"{row['symbol']}: {error}")
    assert len(_SYMBOLS) > 3900 and not missing


def test_no_symbol_is_hidden_from_dir():
    hidden = []
    for row in _SYMBOLS:
        parent, _, name = row["symbol"].rpartition(".")
        if name not in dir(facts.find(parent, tf) if parent else tf) and not name.startswith("__"):
            hidden.append(row["symbol"])
    assert not hidden


def test_compat_v1_has_what_the_root_has():
    assert not [r["symbol"] for r in _SYMBOLS if not _has(f"compat.v1.{r['symbol']}")]


def test_compat_v2_keeps_what_1x_had_there():
    assert not [r["symbol"] for r in facts.table("compat_symbols") if not _has(r["symbol"])]


def _has(path):
    try:
        facts.find(path, tf)
    except AttributeError:
        return False
    return True


def test_no_member_is_missing():
    missing = []
    for row in facts.table("members"):
        for path in row["classes"].split():
            cls = facts.find(path, tf)
            missing += [f"{path}.{name}" for name in row["members"].split() if not hasattr(cls, name)]
    assert not missing


def _signature_difference(row):
    """What of the arguments of a symbol differs from 1.15, or None."""
    wanted = [a.rstrip("=") for a in row["arguments"].split() if not a.startswith("*")]
    try:
        parameters = inspect.signature(facts.find(row["symbol"], tf)).parameters
    except ValueError:
        return "no signature"
    kinds = {p.kind for p in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        unknown = [name for name in wanted if name not in parameters]
        if unknown:
            return f"arguments {unknown} are unknown"
    if row["symbol"].startswith("raw_ops.") or inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    order = [n for n, p in parameters.items() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    return None if order[: len(wanted)] == wanted else f"order is {order}, was {wanted}"


def test_arguments_have_the_names_and_the_order_of_1x():
    differences = {}
    for row in _SYMBOLS:
        if row["kind"] in _KINDS and row["arguments"]:
            difference = _signature_difference(row)
            if difference and row["symbol"] not in _GAPS:
                differences[row["symbol"]] = difference
    assert not differences


@pytest.mark.parametrize("path", [p for p in _GAPS if not p.startswith("tensorflow.")])
def test_a_signature_in_the_table_of_gaps_still_differs(path):
    [row] = [r for r in _SYMBOLS if r["symbol"] == path]
    assert _signature_difference(row), f"{path} is like 1.15 now: remove it from known_gaps.tsv"
