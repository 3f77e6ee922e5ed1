"""The generated Taobao set: reproducible, of the format, with ads and users that are one thing in all rows, and the planted signal."""

import collections
import csv

import numpy as np
import pytest

from common import synthetic, taobao, text_file
from common.metrics import roc_auc
from common.taobao_synthetic import GENERATOR
from modelzoo_helpers import check_seeds


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = synthetic.generate(GENERATOR, str(tmp_path_factory.mktemp("taobao")), 5000, 1, seed=7).train
    assert text_file.inspect(taobao.FORMAT, path) == text_file.TextFile(path, ",", True, 5000)
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_same_seed_same_bytes_and_other_seed_other_rows(tmp_path):
    check_seeds(GENERATOR, tmp_path)


def test_set_of_another_format_in_the_folder_is_replaced(tmp_path):
    from common import criteo_synthetic

    synthetic.generate(criteo_synthetic.GENERATOR, str(tmp_path), 300, 200, 7)
    assert not synthetic.is_cached(GENERATOR, str(tmp_path), 300, 200, 7)
    synthetic.generate(GENERATOR, str(tmp_path), 300, 200, 7)
    assert text_file.inspect(taobao.FORMAT, str(tmp_path / "train.csv")).rows == 300


def test_codes_are_in_the_ranges_of_the_public_set(rows):
    values = collections.defaultdict(set)
    for row in rows:
        for name, value in row.items():
            values[name].add(value)
    assert values["clk"] == values["buy"] == {"0", "1"}
    assert values["pid"] == {"430548_1007", "430539_1007"} and values["final_gender_code"] == {"1", "2"}
    assert values["pvalue_level"] == {"", "1", "2", "3"} and values["shopping_level"] == {"1", "2", "3"}
    assert values["occupation"] == {"0", "1"} and values["new_user_class_level"] == {"", "1", "2", "3", "4"}
    assert {int(value) for value in values["age_level"]} == set(range(1, 7))
    assert {int(value) for value in values["price"]} == set(range(taobao.PRICE_LEVELS))
    assert all(0 <= int(value) < 97 for value in values["cms_segid"]) and "" in values["brand"]


def test_an_ad_and_a_user_are_the_same_in_all_their_rows(rows):
    for key, names in (
        ("adgroup_id", ("cate_id", "campaign_id", "customer", "brand", "price")),
        ("user_id", taobao.USER[1:]),
    ):
        seen = {}
        for row in rows:
            facts = tuple(row[name] for name in names)
            assert seen.setdefault(row[key], facts) == facts
        assert len(seen) < len(rows)


def test_histories_pair_categories_with_brands_and_have_at_most_fifty_events(rows):
    pairs = [tuple([item for item in row[name].split("|") if item] for name in taobao.TAGS) for row in rows]
    lengths = [len(categories) for categories, _ in pairs]
    assert lengths == [len(brands) for _, brands in pairs]
    assert min(lengths) == 0 and max(lengths) == 50 and 10 < np.mean(lengths) < 25


def test_buys_are_clicks_and_both_follow_the_truth():
    truth = synthetic.truth(GENERATOR, 2021)
    rng = np.random.default_rng(5)
    drawn = truth.draw(rng, 50_000)
    click, buy = truth.labels(rng, drawn)
    assert not (buy & ~click).any()
    assert click.mean() == pytest.approx(drawn.click.mean(), abs=0.01)
    assert buy.mean() == pytest.approx((drawn.click * drawn.buy).mean(), abs=0.005)
    assert 0.15 < click.mean() < 0.3 and 0.03 < buy.mean() < 0.1
    # What a perfect model reaches; figures in modelzoo/mmoe/README.md.
    assert 0.83 < roc_auc(click, drawn.click) < 0.87
    assert 0.85 < roc_auc(buy, drawn.click * drawn.buy) < 0.89


def test_history_tells_more_of_the_click_than_chance():
    truth = synthetic.truth(GENERATOR, 2021)
    rng = np.random.default_rng(6)
    drawn = truth.draw(rng, 50_000)
    click, _ = truth.labels(rng, drawn)
    matches = [
        (truth.events[user, begin : begin + length] == truth.category[ad]).sum()
        for user, ad, begin, length in zip(drawn.users, drawn.ads, drawn.begin, drawn.length)
    ]
    assert 0.53 < roc_auc(click, np.array(matches)) < 0.7
