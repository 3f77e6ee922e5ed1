"""An Amazon-Books-like data set with a planted model of what a reader takes next.

Shape of the data: books belong to categories and, within them, to series that no column tells; frequencies follow Zipf laws. A
reader has three interests, each a series. A history is a walk among them that tends to stay where it is; most of its books are of
the series of the moment, the others of its category, or any. With probability 1/2 the candidate is the next book of the walk (label
1), else any book by its frequency (label 0). The books that a reader did not take (the `_neg` file) are any books, too.

So the category tells a part, the series can only be learned as embeddings of books that are read together, and the last events
tell more than the first. The best possible score of a row is the likelihood ratio of its candidate, `AmazonTruth.scores`.
"""

from typing import Dict, List, NamedTuple, Tuple

import numpy as np

from common import amazon, draws
from common.synthetic import Generator

_USERS, _CATEGORIES, _SERIES, _BOOKS = 20_000, 120, 4, 16  # series of a category, books of a series
_INTERESTS = 3
_STAY = 0.8
_ANY, _OF_CATEGORY = 0.35, 0.3  # shares of books that are any, and of the others those of any series of the category
_MEAN_LENGTH = 18


class Rows(NamedTuple):
    """users, labels, items: int [B]. state: the interest (a series) of the last event, [B]. history, negatives: items
    [B, amazon.LENGTH], of which the first `length` count."""

    users: np.ndarray
    labels: np.ndarray
    items: np.ndarray
    state: np.ndarray
    history: np.ndarray
    negatives: np.ndarray
    length: np.ndarray


class AmazonTruth:
    """Frequencies, names and interests. Book b is of series b // _BOOKS, series s of category s // _SERIES."""

    def __init__(self, rng: np.random.Generator):
        self._category_share = draws.cumulative(_CATEGORIES, 0.8)
        self._book_share = draws.cumulative(_BOOKS, 0.7)
        self._user_share = draws.cumulative(_USERS, 0.4)
        categories = _draw(rng, self._category_share, (_USERS, _INTERESTS))
        self.interests = categories * _SERIES + rng.integers(0, _SERIES, categories.shape)
        books = _CATEGORIES * _SERIES * _BOOKS
        self.user_names = [f"A{number:09X}" for number in rng.choice(16**9, _USERS, replace=False)]
        self.item_names = [f"B{number:07X}" for number in rng.choice(16**7, books, replace=False)]
        self.category_names = [f"Books {number}" for number in rng.permutation(_CATEGORIES)]
        self._category_of_item = [self.category_names[book // (_SERIES * _BOOKS)] for book in range(books)]

    def _any_books(self, rng: np.random.Generator, shape) -> np.ndarray:
        series = _draw(rng, self._category_share, shape) * _SERIES + rng.integers(0, _SERIES, shape)
        return series * _BOOKS + _draw(rng, self._book_share, shape)

    def _books_of(self, rng: np.random.Generator, series: np.ndarray) -> np.ndarray:
        """What is read while a series is of interest."""
        elsewhere = series // _SERIES * _SERIES + rng.integers(0, _SERIES, series.shape)
        series = np.where(rng.random(series.shape) < _OF_CATEGORY, elsewhere, series)
        books = series * _BOOKS + _draw(rng, self._book_share, series.shape)
        return np.where(rng.random(series.shape) < _ANY, self._any_books(rng, series.shape), books)

    def draw(self, rng: np.random.Generator, rows: int) -> Rows:
        users = _draw(rng, self._user_share, rows)
        interests = self.interests[users]
        place = rng.integers(0, _INTERESTS, rows)
        walk = np.empty((rows, amazon.LENGTH + 1), np.int64)
        for step in range(amazon.LENGTH + 1):
            moves = rng.random(rows) >= _STAY
            place = (place + moves * rng.integers(1, _INTERESTS, rows)) % _INTERESTS
            walk[:, step] = interests[np.arange(rows), place]
        length = np.minimum(rng.geometric(1 / _MEAN_LENGTH, rows), amazon.LENGTH)
        labels = rng.integers(0, 2, rows)
        following = np.arange(rows), length
        items = np.where(labels, self._books_of(rng, walk[following]), self._any_books(rng, rows))
        return Rows(
            users=users,
            labels=labels,
            items=items,
            state=walk[np.arange(rows), length - 1],
            history=self._books_of(rng, walk[:, :-1]),
            negatives=self._any_books(rng, (rows, amazon.LENGTH)),
            length=length,
        )

    def scores(self, rows: Rows) -> np.ndarray:
        """p(candidate | next of the walk) / p(candidate | any) for each row, [B]: no score orders rows better."""
        series = rows.items // _BOOKS
        category = series // _SERIES
        share = np.diff(self._category_share, prepend=0)[category]
        interests = self.interests[rows.users]
        # Places whose series is that of the last event: the walk was in one of them, each as likely.
        here = interests == rows.state[:, None]
        place = here / here.sum(1, keepdims=True)
        following = _STAY * place + (1 - _STAY) * (1 - place) / (_INTERESTS - 1)
        same_category = (following * (interests // _SERIES == category[:, None])).sum(1)
        same_series = (following * (interests == series[:, None])).sum(1)
        of_walk = (_OF_CATEGORY * same_category + (1 - _OF_CATEGORY) * _SERIES * same_series) / share
        return _ANY + (1 - _ANY) * of_walk

    def text(self, rng: np.random.Generator, rows: int) -> Tuple[bytes, bytes]:
        drawn = self.draw(rng, rows)
        own, beside = [], []
        for label, user, item, length, history, negatives in zip(
            drawn.labels.tolist(),
            drawn.users.tolist(),
            drawn.items.tolist(),
            drawn.length.tolist(),
            drawn.history.tolist(),
            drawn.negatives.tolist(),
        ):
            names = f"{label}\t{self.user_names[user]}\t{self.item_names[item]}\t{self._category_of_item[item]}"
            own.append(f"{names}\t{self._lists(history[:length])}\n")
            beside.append(f"{self._lists(negatives[:length])}\n")
        return "".join(own).encode(), "".join(beside).encode()

    def _lists(self, items: List[int]) -> str:
        names = amazon.SEPARATOR.join(map(self.item_names.__getitem__, items))
        return f"{names}\t{amazon.SEPARATOR.join(map(self._category_of_item.__getitem__, items))}"

    def vocabularies(self) -> Dict[str, List[str]]:
        """File -> entries. The first stands for what is not in the vocabulary."""
        names = {
            amazon.USER: self.user_names,
            amazon.ITEM: self.item_names,
            amazon.CATEGORY: self.category_names,
        }
        return {file: ["default", *names[column]] for column, file in amazon.VOCABULARIES.items()}


GENERATOR = Generator(
    "Amazon Books",
    version=1,
    header="",
    planted=AmazonTruth,
    suffixes=("", amazon.FORMAT_WITH_NEGATIVES.suffix),
    vocabularies=AmazonTruth.vocabularies,
)


def _draw(rng: np.random.Generator, cumulative: np.ndarray, shape) -> np.ndarray:
    return np.searchsorted(cumulative, rng.random(shape))
