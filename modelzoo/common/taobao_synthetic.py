"""A Taobao-like data set with a planted model of clicks, and of buys after a click.

Shape of the data: ads and users are drawn by Zipf laws; an ad has one category, brand, campaign, customer and price level, a
user one profile. Vocabularies are to the 400,000 rows of the default set about what those of the public set are to its 26
million; ids, codes and the rates of missing values are in the ranges of the public set. A user's history is a window of up to 50
events (category and brand) out of 80 that were drawn by the user's taste. Clicks and buys are far more frequent than in the
public set (about 20 % and 5 %), so that the AUC of a small held-out set is a figure.

With a taste p_u = profile's part + own part, and q_i = category's part + own part (all 4 numbers):

    click: standardised(user's + ad's + category's + brand's effect + <p_u, q_i> + matches of the category in the history
                        + match of the brand)
    buy after click: standardised(ad's effect + <p_u, r_i> + matches of the category + effect of the price level by
                                  shopping level)

each scaled, shifted and put through a sigmoid; buy = click and buy after click. The effects need embeddings of ids, the
products need user and ad together, and the history shows the taste of a user whose id is rare.
"""

from typing import NamedTuple, Tuple

import numpy as np

from common import taobao
from common.draws import cumulative, ids, join, sigmoid, with_missing
from common.synthetic import Generator

_USERS, _ADS, _CATEGORIES, _BRANDS, _CAMPAIGNS, _CUSTOMERS = 12_000, 8_000, 400, 1_600, 4_000, 2_500
_BRANDS_OF_CATEGORY = 6
_EVENTS, _WINDOW = 80, 50
_TASTE = 4
_SAMPLE = 20_000  # rows the logits are standardised on
_CLICK_BIAS, _CLICK_SCALE = -1.9, 1.8
_BUY_BIAS, _BUY_SCALE = -1.6, 1.5
_PIDS = ("430548_1007", "430539_1007")


class Rows(NamedTuple):
    """users, ads, pids: indices, int64 [B]. begin, length: of the user's window of events. click, buy: probabilities [B] of a
    click, and of a buy after one."""

    users: np.ndarray
    ads: np.ndarray
    pids: np.ndarray
    begin: np.ndarray
    length: np.ndarray
    click: np.ndarray
    buy: np.ndarray


class TaobaoTruth:
    """Ids, profiles, tastes and effects."""

    def __init__(self, rng: np.random.Generator):
        self._draw_ads(rng)
        self._draw_users(rng)
        self._moments = ((0.0, 1.0), (0.0, 1.0))
        sample = self._logits(rng, _SAMPLE)[-2:]
        self._moments = tuple((logits.mean(), logits.std()) for logits in sample)

    def _draw_ads(self, rng: np.random.Generator) -> None:
        self._category_share = cumulative(_CATEGORIES, 0.9)
        self._brand_share = cumulative(_BRANDS_OF_CATEGORY, 0.9)
        self._ad_share = cumulative(_ADS, 0.8)
        self.category = np.searchsorted(self._category_share, rng.random(_ADS))
        self.brand = self._brand_of(rng, self.category)
        self._price = rng.integers(0, taobao.PRICE_LEVELS, _ADS)
        self._category_taste = rng.standard_normal((_CATEGORIES, _TASTE))
        own = rng.standard_normal((2, _ADS, _TASTE))
        self._ad_taste = (self._category_taste[self.category] + 0.5 * own[0]) / _TASTE**0.5
        self._ad_buy_taste = (self._category_taste[self.category, ::-1] + 0.5 * own[1]) / _TASTE**0.5
        effects = rng.standard_normal(_ADS), rng.standard_normal(_CATEGORIES), rng.standard_normal(_BRANDS)
        self._ad_effect = 0.6 * effects[0] + 0.4 * effects[1][self.category] + 0.3 * effects[2][self.brand]
        self._ad_buy_effect = 0.7 * rng.standard_normal(_ADS)
        campaigns, customers = (rng.integers(0, size, _ADS) for size in (_CAMPAIGNS, _CUSTOMERS))
        self._brand_names = ids(rng, _BRANDS, 461_497)
        self._category_names = ids(rng, _CATEGORIES, 12_960)
        brands = np.where(rng.random(_ADS) < 0.2, "", self._brand_names[self.brand])  # some ads tell no brand
        self._ad_texts = join(
            ids(rng, _ADS, 846_811),
            self._category_names[self.category],
            ids(rng, _CAMPAIGNS, 423_436)[campaigns],
            ids(rng, _CUSTOMERS, 255_875)[customers],
            brands,
        )
        self._price_texts = self._price.astype(str).astype(object)

    def _draw_users(self, rng: np.random.Generator) -> None:
        self._user_share = cumulative(_USERS, 0.5)
        group = rng.integers(1, 13, _USERS)  # 1 to 6 men, 7 to 12 women, each by age
        self._shopping = rng.integers(1, 4, _USERS)
        taste = rng.standard_normal((13, _TASTE))[group] + 0.7 * rng.standard_normal((_USERS, _TASTE))
        self._taste = taste.astype(np.float32)
        self._user_effect = 0.4 * rng.standard_normal(_USERS)
        self._price_effect = rng.standard_normal((4, taobao.PRICE_LEVELS))
        self._user_texts = join(
            ids(rng, _USERS, 1_141_729),
            rng.integers(0, 97, _USERS).astype(str),
            group.astype(str),
            np.where(group > 6, "2", "1"),
            ((group - 1) % 6 + 1).astype(str),
            with_missing(rng, rng.integers(1, 4, _USERS), 0.54),
            self._shopping.astype(str),
            (rng.random(_USERS) < 0.06).astype(int).astype(str),
            with_missing(rng, rng.integers(1, 5, _USERS), 0.3),
        )
        popularity = np.diff(self._category_share, prepend=0)
        wanted = popularity * np.exp(self._taste @ (self._category_taste.T / _TASTE**0.5))
        wanted = np.cumsum(wanted / wanted.sum(axis=1, keepdims=True), axis=1)
        # One search for all users: user u's shares lie between u and u + 1.
        drawn = np.minimum(rng.random((_USERS, _EVENTS)), 0.999999) + np.arange(_USERS)[:, None]
        flat = np.searchsorted((wanted + np.arange(_USERS)[:, None]).ravel(), drawn.ravel())
        self.events = (flat % _CATEGORIES).reshape(_USERS, _EVENTS)
        self._event_brands = self._brand_of(rng, self.events)
        self._event_texts = [self._category_names[row].tolist() for row in self.events]
        self._event_brand_texts = [self._brand_names[row].tolist() for row in self._event_brands]

    def _brand_of(self, rng: np.random.Generator, categories: np.ndarray) -> np.ndarray:
        rank = np.searchsorted(self._brand_share, rng.random(categories.shape))
        return (categories * 17 + rank) % _BRANDS

    def _logits(self, rng: np.random.Generator, rows: int) -> Tuple[np.ndarray, ...]:
        users = np.searchsorted(self._user_share, rng.random(rows))
        ads = np.searchsorted(self._ad_share, rng.random(rows))
        pids = rng.integers(0, len(_PIDS), rows)
        length = np.minimum(rng.geometric(1 / 20, rows) - 1, _WINDOW)
        begin = rng.integers(0, _EVENTS - length + 1)
        place = np.arange(_EVENTS)
        seen = (place >= begin[:, None]) & (place < (begin + length)[:, None])
        matches = np.log1p((seen & (self.events[users] == self.category[ads, None])).sum(axis=1))
        brand_match = (seen & (self._event_brands[users] == self.brand[ads, None])).any(axis=1)
        taste = self._taste[users]
        click = self._user_effect[users] + self._ad_effect[ads]
        click += np.einsum("nd,nd->n", taste, self._ad_taste[ads])
        click += 0.8 * matches + 0.6 * brand_match
        buy = self._ad_buy_effect[ads] + np.einsum("nd,nd->n", taste, self._ad_buy_taste[ads])
        buy += 0.6 * matches + 0.5 * self._price_effect[self._shopping[users], self._price[ads]]
        (click_mean, click_spread), (buy_mean, buy_spread) = self._moments
        return users, ads, pids, begin, length, (click - click_mean) / click_spread, (buy - buy_mean) / buy_spread

    def draw(self, rng: np.random.Generator, rows: int) -> Rows:
        *indices, click, buy = self._logits(rng, rows)
        return Rows(*indices, sigmoid(_CLICK_BIAS + _CLICK_SCALE * click), sigmoid(_BUY_BIAS + _BUY_SCALE * buy))

    def labels(self, rng: np.random.Generator, rows: Rows) -> Tuple[np.ndarray, np.ndarray]:
        """Clicks and buys, bool [B]."""
        click = rng.random(len(rows.click)) < rows.click
        return click, click & (rng.random(len(rows.buy)) < rows.buy)

    def text(self, rng: np.random.Generator, rows: int) -> bytes:
        drawn = self.draw(rng, rows)
        click, buy = self.labels(rng, drawn)
        windows = list(zip(drawn.users.tolist(), drawn.begin.tolist(), (drawn.begin + drawn.length).tolist()))
        columns = (
            np.array(["0,", "1,"], object)[click.astype(int)] + np.array(["0", "1"], object)[buy.astype(int)],
            np.array(_PIDS, object)[drawn.pids],
            self._ad_texts[drawn.ads],
            self._user_texts[drawn.users],
            *(
                [taobao.TAG_SEPARATOR.join(texts[user][begin:end]) for user, begin, end in windows]
                for texts in (self._event_texts, self._event_brand_texts)
            ),
            self._price_texts[drawn.ads],
        )
        return ("\n".join(map(",".join, zip(*columns))) + "\n").encode()


GENERATOR = Generator("Taobao", version=1, header=",".join(taobao.FORMAT.names), planted=TaobaoTruth)
