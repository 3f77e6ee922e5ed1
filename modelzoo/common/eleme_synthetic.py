"""An Ele.me-like data set with a planted model of clicks.

Shape of the data: ten cities with their own districts, areas, shops and items; a shop has one area, brand and category, an item one
shop and food; users stay in their city and are drawn, as its items, by Zipf laws. A user's past is 40 clicks on items of the
city, a day or more apart, drawn by the user's taste; a row shows a window of up to 20 of them and the moment of the one behind it.
With a taste p_u, q_i = category's part + own part (4 numbers each), and z_u how much the user spends, t_i the tier of the item's
price:

    logit: standardised(user's + item's + shop's effect + effect of the category by the time of day + <p_u, q_i> + z_u t_i
                        + matches of the category, the food and the shop in the history)

scaled, shifted and put through a sigmoid. Numbers of the row tell a part of it: `ctr_30` of the user's effect, `avg_price` of z_u,
the ranks of the item's effect, and the mean price of the history of z_u again.
"""

from typing import NamedTuple, Tuple

import numpy as np

from common import eleme
from common.draws import cumulative, ids, join, sigmoid, with_missing
from common.synthetic import Generator

_USERS, _CITIES = 12_000, 10
_AREAS, _SHOPS, _ITEMS = 30, 200, 800  # of each city
_DISTRICTS = 6
_BRANDS, _CATEGORIES, _FOODS = 600, 40, 400
_EVENTS, _WINDOW, _MEAN_LENGTH = 40, 20, 7
_TASTE = 4
_SAMPLE = 20_000  # rows the logits are standardised on
_BIAS, _SCALE = -1.9, 1.8
_HOURS = np.array([0, 7, 8, 11, 12, 13, 15, 17, 18, 19, 21, 22])
_HOUR_SHARE = np.array([2, 5, 6, 18, 16, 6, 5, 9, 14, 10, 6, 3]) / 100
# Hour -> name of the time of day.
_TIME_OF_HOUR = np.array(
    [
        "breakfast"
        if 5 <= h < 10
        else "lunch"
        if 10 <= h < 14
        else "tea"
        if 14 <= h < 17
        else "dinner"
        if 17 <= h < 20
        else "night"
        for h in range(24)
    ],
    object,
)
_TIME_INDEX = np.array([eleme.TIME_TYPES.index(name) for name in _TIME_OF_HOUR])
_BASE32 = np.array(list("0123456789bcdefghjkmnpqrstuvwxyz"), object)
_DAY = 86_400


class Rows(NamedTuple):
    """users, items: indices, int64 [B]. begin, end: of the user's window of events; event `end` is the moment of the row.
    click: probability [B]."""

    users: np.ndarray
    items: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    click: np.ndarray


class ElemeTruth:
    """Ids, places, tastes, effects and the users' past."""

    def __init__(self, rng: np.random.Generator):
        self._draw_items(rng)
        self._draw_users(rng)
        self._draw_events(rng)
        self._mean, self._deviation = 0.0, 1.0
        sample = self._logits(rng, _SAMPLE)[-1]
        self._mean, self._deviation = sample.mean(), sample.std()

    def _draw_items(self, rng: np.random.Generator) -> None:
        shops, items = _CITIES * _SHOPS, _CITIES * _ITEMS
        city_of_shop = np.repeat(np.arange(_CITIES), _SHOPS)
        area = city_of_shop * _AREAS + rng.integers(0, _AREAS, shops)
        category_of_shop = np.searchsorted(cumulative(_CATEGORIES, 0.7), rng.random(shops))
        brand = rng.integers(0, _BRANDS, shops)
        self.shop = np.repeat(np.arange(_CITIES), _ITEMS) * _SHOPS + rng.integers(0, _SHOPS, items)
        self.category = category_of_shop[self.shop]
        # Ten foods to a category.
        self.food = self.category * (_FOODS // _CATEGORIES) + rng.integers(0, _FOODS // _CATEGORIES, items)
        self._item_share = cumulative(_ITEMS, 0.7)
        self._category_taste = rng.standard_normal((_CATEGORIES, _TASTE))
        own = rng.standard_normal((items, _TASTE))
        self._item_taste = (self._category_taste[self.category] + 0.5 * own) / _TASTE**0.5
        self._tier = rng.standard_normal(items)
        self._price = np.rint(np.exp(3.2 + 0.4 * self._tier)).astype(int)
        self._item_effect = 0.6 * rng.standard_normal(items) + 0.5 * rng.standard_normal(shops)[self.shop]
        self._time_effect = rng.standard_normal((len(eleme.TIME_TYPES), _CATEGORIES))

        ranks = [
            np.argsort(np.argsort(-(self._item_effect + noise * rng.standard_normal(items)).reshape(_CITIES, -1))) + 1
            for noise in (1.0, 0.7, 0.5)
        ]
        self._geohash = _geohashes(rng, _CITIES * _AREAS, 6)
        in_area = self._geohash[area]
        city_ids, area_ids = ids(rng, _CITIES, 400), ids(rng, _CITIES * _AREAS, 90_000)
        district = ids(rng, _CITIES * _DISTRICTS, 3_000)[area // _AREAS * _DISTRICTS + area % _DISTRICTS]
        names = {
            "shop_id": ids(rng, shops, 3_000_000)[self.shop],
            "item_id": ids(rng, items, 8_000_000),
            "city_id": city_ids[city_of_shop][self.shop],
            "district_id": district[self.shop],
            "shop_aoi_id": area_ids[area][self.shop],
            "shop_geohash_6": in_area[self.shop],
            "shop_geohash_12": (in_area + _geohashes(rng, shops, 6))[self.shop],
            "brand_id": with_missing(rng, ids(rng, _BRANDS, 200_000)[brand], 0.2)[self.shop],
            "category_1_id": ids(rng, _CATEGORIES, 300)[self.category],
            "merge_standard_food_id": ids(rng, _FOODS, 9_000)[self.food],
            **{name: rank.ravel().astype(str) for name, rank in zip(eleme.ITEM[-3:], ranks)},
        }
        self._city_ids = city_ids
        self._item_texts = join(*(names[name] for name in eleme.ITEM))
        self._item_names = {name: names[name] for name in eleme.LIST_OF if name in names}

    def _draw_users(self, rng: np.random.Generator) -> None:
        self._city = rng.integers(0, _CITIES, _USERS)
        self._user_share = cumulative(_USERS, 0.5)
        self._taste = rng.standard_normal((_USERS, _TASTE))
        self._spending = rng.standard_normal(_USERS)
        self._user_effect = 0.5 * rng.standard_normal(_USERS)
        average = np.exp(3.2 + 0.4 * (self._spending + 0.3 * rng.standard_normal(_USERS)))
        orders = rng.poisson(np.exp(1 + 0.5 * rng.standard_normal(_USERS)))
        rate = sigmoid(-1.9 + self._user_effect + 0.3 * rng.standard_normal(_USERS))
        names = (
            ids(rng, _USERS, 60_000_000),
            with_missing(rng, rng.integers(0, 2, _USERS), 0.1),
            self._city_ids[self._city],
            average.round(1).astype(str),
            rng.integers(0, 2, _USERS).astype(str),
            rate.round(3).astype(str),
            orders.astype(str),
            np.rint(orders * average).astype(int).astype(str),
        )
        self._user_texts = join(*names)
        home = self._city * _AREAS + rng.integers(0, _AREAS, _USERS)
        self._home_texts = self._geohash[home] + _geohashes(rng, _USERS, 6)

    def _draw_events(self, rng: np.random.Generator) -> None:
        self.events = np.empty((_USERS, _EVENTS), np.int64)
        popularity = np.diff(self._item_share, prepend=0)
        for city in range(_CITIES):
            users, items = np.flatnonzero(self._city == city), slice(city * _ITEMS, (city + 1) * _ITEMS)
            liking = self._taste[users] @ self._item_taste[items].T + np.outer(self._spending[users], self._tier[items])
            wanted = np.cumsum(popularity * np.exp(liking), axis=1)
            wanted /= wanted[:, -1:]
            # One search for all users: user u's shares lie between u and u + 1.
            place = np.arange(len(users))[:, None]
            drawn = np.minimum(rng.random((len(users), _EVENTS)), 0.999999) + place
            self.events[users] = np.searchsorted((wanted + place).ravel(), drawn.ravel()).reshape(drawn.shape) % _ITEMS
            self.events[users] += city * _ITEMS
        days = np.cumsum(rng.geometric(0.5, (_USERS, _EVENTS + 1)), axis=1)
        hours = rng.choice(_HOURS, days.shape, p=_HOUR_SHARE)
        self.times = days * _DAY + hours * 3600 + rng.integers(0, 3600, days.shape)
        self.hours, self._weekdays = hours, days % 7

    def _logits(self, rng: np.random.Generator, rows: int) -> Tuple[np.ndarray, ...]:
        users = np.searchsorted(self._user_share, rng.random(rows))
        items = self._city[users] * _ITEMS + np.searchsorted(self._item_share, rng.random(rows))
        length = np.minimum(rng.geometric(1 / (_MEAN_LENGTH + 1), rows) - 1, _WINDOW)
        begin = rng.integers(0, _EVENTS - length + 1)
        end = begin + length
        place = np.arange(_EVENTS)
        seen = (place >= begin[:, None]) & (place < end[:, None])
        events = self.events[users]

        def matches(kind):
            return np.log1p((seen & (kind[events] == kind[items, None])).sum(axis=1))

        logit = self._user_effect[users] + self._item_effect[items]
        logit += 0.6 * self._time_effect[_TIME_INDEX[self.hours[users, end]], self.category[items]]
        logit += np.einsum("nd,nd->n", self._taste[users], self._item_taste[items])
        logit += 0.4 * self._spending[users] * self._tier[items]
        logit += 0.7 * matches(self.category) + 0.5 * matches(self.food) + 0.7 * matches(self.shop)
        return users, items, begin, end, (logit - self._mean) / self._deviation

    def draw(self, rng: np.random.Generator, rows: int) -> Rows:
        *indices, logit = self._logits(rng, rows)
        return Rows(*indices, sigmoid(_BIAS + _SCALE * logit))

    def labels(self, rng: np.random.Generator, rows: Rows) -> np.ndarray:
        """Clicks, bool [B]."""
        return rng.random(len(rows.click)) < rows.click

    def text(self, rng: np.random.Generator, rows: int) -> bytes:
        drawn = self.draw(rng, rows)
        click = self.labels(rng, drawn)
        moment = drawn.users, drawn.end
        hours = self.hours[moment]
        context = (
            self.times[moment].astype(str),
            hours.astype(str),
            _TIME_OF_HOUR[hours],
            self._weekdays[moment].astype(str),
            self._home_texts[drawn.users],
        )
        histories = self._histories(drawn)
        columns = (
            np.array(["0", "1"], object)[click.astype(int)],
            self._user_texts[drawn.users],
            self._item_texts[drawn.items],
            *(histories[name] for name in eleme.HISTORY),
            *context,
        )
        return ("\n".join(map(",".join, zip(*columns))) + "\n").encode()

    def _histories(self, drawn: Rows) -> dict:
        """The lists of each row, as texts."""
        length = drawn.end - drawn.begin
        bounds = np.concatenate(([0], np.cumsum(length))).tolist()
        row = np.repeat(np.arange(len(length)), length)
        place = np.arange(bounds[-1]) - np.repeat(bounds[:-1], length) + drawn.begin[row]
        users = drawn.users[row]
        events, hours, times = self.events[users, place], self.hours[users, place], self.times[users, place]
        values = {eleme.LIST_OF[name]: texts[events] for name, texts in self._item_names.items()}
        values["price_list"] = self._price[events].astype(str)
        values["timediff_list"] = (self.times[users, drawn.end[row]] - times).astype(str)
        values["hours_list"] = hours.astype(str)
        values["time_type_list"] = _TIME_OF_HOUR[hours]
        values["weekdays_list"] = self._weekdays[users, place].astype(str)
        spans = list(zip(bounds[:-1], bounds[1:]))
        result = {}
        for name, texts in values.items():
            texts = texts.tolist()
            result[name] = [eleme.SEPARATOR.join(texts[begin:end]) for begin, end in spans]
        return result


GENERATOR = Generator("Ele.me", version=1, header=",".join(eleme.FORMAT.names), planted=ElemeTruth)


def _geohashes(rng: np.random.Generator, count: int, length: int) -> np.ndarray:
    """Distinct ones, text of so many characters."""
    numbers = rng.choice(32**length, count, replace=False)
    digits = numbers[:, None] // 32 ** np.arange(length) % 32
    return np.array(["".join(row) for row in _BASE32[digits]], object)
