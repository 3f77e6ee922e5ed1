"""The generated Ele.me-like set: reproducible, of the format, with users, shops and items that are one thing in all rows, and the
planted signal."""

import csv

import numpy as np
import pytest

from common import eleme, synthetic, text_file
from common.eleme_synthetic import GENERATOR
from common.metrics import roc_auc
from modelzoo_helpers import check_seeds


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = synthetic.generate(GENERATOR, str(tmp_path_factory.mktemp("eleme")), 5000, 1, seed=7).train
    assert text_file.inspect(eleme.FORMAT, path) == text_file.TextFile(path, ",", True, 5000)
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def drawn():
    """The truth of the default seed, rows of it, and their clicks."""
    truth, rng = synthetic.truth(GENERATOR, 2021), np.random.default_rng(5)
    rows = truth.draw(rng, 50_000)
    return truth, rows, truth.labels(rng, rows)


def items(row, name):
    return row[name].split(";") if row[name] else []


def test_same_seed_same_bytes_and_other_seed_other_rows(tmp_path):
    check_seeds(GENERATOR, tmp_path)


def test_a_user_an_item_and_a_shop_are_the_same_in_all_their_rows(rows):
    of_shop = (
        "city_id",
        "district_id",
        "shop_aoi_id",
        "shop_geohash_6",
        "shop_geohash_12",
        "brand_id",
        "category_1_id",
    )
    for key, names in (
        ("user_id", (*eleme.USER[1:], "geohash12")),
        ("item_id", (name for name in eleme.ITEM if name != "item_id")),
        ("shop_id", of_shop),
    ):
        seen, names = {}, tuple(names)
        for row in rows:
            facts = tuple(row[name] for name in names)
            assert seen.setdefault(row[key], facts) == facts
        assert len(seen) < len(rows)


def test_items_are_of_the_city_of_the_user_and_geohashes_of_their_area(rows):
    assert all(row["visit_city"] == row["city_id"] for row in rows)
    assert all(row["shop_geohash_12"].startswith(row["shop_geohash_6"]) for row in rows)
    areas = {row["shop_aoi_id"]: row["shop_geohash_6"] for row in rows}
    assert len(set(areas.values())) == len(areas)


def test_histories_have_the_same_events_in_every_list_and_at_most_twenty(rows):
    lengths = []
    for row in rows:
        shops = items(row, "shop_id_list")
        # A shop without a brand leaves an empty item.
        assert {row[name].count(";") for name in eleme.HISTORY} == {max(0, len(shops) - 1)}
        lengths.append(len(shops))
    assert min(lengths) == 0 and max(lengths) == 20 and 5 < np.mean(lengths) < 8


def test_event_lists_tell_what_the_columns_of_the_item_tell(rows):
    facts = {}
    for row in rows:
        facts[row["item_id"]] = [row[name] for name in eleme.LIST_OF if name in eleme.ITEM]
    checked = 0
    for row in rows:
        lists = [row[eleme.LIST_OF[name]].split(";") for name in eleme.LIST_OF if name in eleme.ITEM]
        for item, *event in zip(items(row, "item_id_list"), *lists):
            if item in facts:
                assert event == facts[item]
                checked += 1
    assert checked > 10_000


def test_times_of_events_lie_before_the_row_and_name_their_hour_day_and_time_of_day(rows):
    time_of_hour = {}
    for row in rows:
        now = int(row["times"])
        moments = [now - int(ago) for ago in items(row, "timediff_list")] + [now]
        assert moments == sorted(moments) and len(set(moments)) == len(moments)
        for moment, hour, kind, day in zip(
            moments,
            items(row, "hours_list") + [row["hours"]],
            items(row, "time_type_list") + [row["time_type"]],
            items(row, "weekdays_list") + [row["weekdays"]],
        ):
            assert int(hour) == moment // 3600 % 24 and int(day) == moment // 86_400 % 7
            assert time_of_hour.setdefault(hour, kind) == kind
    assert set(time_of_hour.values()) == set(eleme.TIME_TYPES)


def test_clicks_follow_the_truth(drawn):
    _, rows, click = drawn
    assert click.mean() == pytest.approx(rows.click.mean(), abs=0.01) and 0.15 < click.mean() < 0.3
    # What a perfect model reaches; the figure in modelzoo/README.md.
    assert roc_auc(click, rows.click) == pytest.approx(0.849, abs=0.005)


def test_user_item_and_history_tell_of_the_click_by_themselves(drawn):
    truth, rows, click = drawn
    half = len(click) // 2
    for key in (rows.users, rows.items):
        # The rate of clicks of the same user or item in the other half of the rows.
        count, clicks = (np.bincount(key[:half], weights, key.max() + 1) for weights in (None, click[:half]))
        rate = (clicks + 2 * click.mean()) / (count + 2)
        assert roc_auc(click[half:], rate[key[half:]]) > 0.53
    matches = [
        (truth.category[truth.events[user, begin:end]] == truth.category[item]).sum()
        for user, item, begin, end in zip(rows.users, rows.items, rows.begin, rows.end)
    ]
    assert 0.56 < roc_auc(click, np.array(matches)) < 0.7


def test_numbers_tell_of_the_click(tmp_path):
    path = synthetic.generate(GENERATOR, str(tmp_path), 20_000, 1, seed=2021).train
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    click = np.array([int(row["label"]) for row in rows])
    for name, sign in (("ctr_30", 1), ("rank_90", -1)):
        assert roc_auc(click, sign * np.array([float(row[name]) for row in rows])) > 0.54
