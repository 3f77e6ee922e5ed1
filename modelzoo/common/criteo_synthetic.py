"""A Criteo-like data set with a planted model, so that AUC means something without a download.

Shape of the data: every C column draws ids from a bounded Zipf law over a vocabulary of the Kaggle set's size
(cut at 50,000), every I column is a rounded log-normal, and both have missing values at about the Kaggle set's
rates. The label is Bernoulli(sigmoid(logit)) with

    logit = bias + scale * standardised( sum_j w_j[C_j] + sum_(j,k) <u_j[C_j], u_k[C_k]> + sum_j a_j log-normal z_j )

The first sum is what a wide model can learn, the pair terms need embeddings, the number terms are weak.
"""

from typing import Tuple

import numpy as np

from common import criteo
from common.synthetic import Generator

_SAMPLE = 20_000  # rows the logits are standardised on

_VOCABULARY = np.minimum(
    50_000,
    (
        1460,
        583,
        10131227,
        2202608,
        305,
        24,
        12517,
        633,
        3,
        93145,
        5683,
        8351593,
        3194,
        27,
        14992,
        5461306,
        10,
        5652,
        2173,
        4,
        7046547,
        18,
        15,
        286181,
        105,
        142572,
    ),
)
_ZIPF = 1.05
_CATEGORY_MISSING = (
    0,
    0,
    0.03,
    0.03,
    0,
    0.12,
    0,
    0,
    0,
    0,
    0,
    0.03,
    0,
    0,
    0,
    0.03,
    0,
    0,
    0.44,
    0.44,
    0.03,
    0.76,
    0,
    0.03,
    0.44,
    0.44,
)
_NUMBER_MISSING = (0.45, 0, 0.21, 0.21, 0.02, 0.22, 0.04, 0, 0.04, 0.45, 0.04, 0.76, 0.21)
_NUMBER_LOG_MEAN = (0.7, 1.5, 1.9, 1.6, 8.0, 3.8, 1.8, 2.0, 3.9, 0.3, 0.8, 0.2, 1.6)
_NUMBER_LOG_DEVIATION = (1.2, 1.9, 1.4, 1.0, 2.0, 1.7, 1.4, 1.0, 1.3, 0.5, 1.0, 0.9, 1.1)

_PAIRS = ((4, 5), (6, 8), (13, 16), (17, 19), (22, 24), (0, 1))
_PAIR_DIM = 4
_BIAS, _SCALE = -1.45, 2.0  # about 27 % clicks
_NUMBER_WIDTH = 7


class CriteoTruth:
    """Distributions, tokens and weights of every column."""

    def __init__(self, rng: np.random.Generator):
        self.cumulative, self.tokens, self.weights = [], [], []
        for column, size in enumerate(_VOCABULARY):
            mass = np.cumsum(np.arange(1, size + 1) ** -_ZIPF)
            self.cumulative.append(mass / mass[-1])
            self.tokens.append(_hex_tokens(column, size))
            importance = rng.uniform(0.3, 1.0)
            self.weights.append(importance * rng.standard_normal(size))
        self.factors = {
            column: rng.standard_normal((_VOCABULARY[column], _PAIR_DIM)) / _PAIR_DIM**0.5
            for pair in _PAIRS
            for column in pair
        }
        self.number_effect = rng.uniform(-0.3, 0.3, len(criteo.NUMERIC))
        self.centre, self.spread = 0.0, 1.0
        raw = self.draw(rng, _SAMPLE)[2]
        self.centre, self.spread = raw.mean(), raw.std()

    def draw(self, rng: np.random.Generator, rows: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Category ranks [rows, 26] and numbers [rows, 13] (int64, -1 and the type's minimum mean
        missing), standardised logits [rows]."""
        ranks = np.stack([np.searchsorted(c, rng.random(rows)) for c in self.cumulative], axis=1)
        missing = rng.random(ranks.shape) < _CATEGORY_MISSING
        logits = np.zeros(rows)
        for column, weight in enumerate(self.weights):
            logits += np.where(missing[:, column], 0, weight[ranks[:, column]])
        for left, right in _PAIRS:
            dot = np.einsum("nd,nd->n", self.factors[left][ranks[:, left]], self.factors[right][ranks[:, right]])
            logits += np.where(missing[:, left] | missing[:, right], 0, dot)
        ranks[missing] = -1

        z = rng.standard_normal((rows, len(criteo.NUMERIC)))
        numbers = np.floor(np.exp(_NUMBER_LOG_MEAN + z * _NUMBER_LOG_DEVIATION)).astype(np.int64)
        numbers = np.minimum(numbers - 1, criteo.NUMERIC_RANGE)
        numbers = np.maximum(numbers, np.where(np.array(criteo.NUMERIC_MINIMUM) < 0, -1, 0))
        absent = rng.random(z.shape) < _NUMBER_MISSING
        logits += np.where(absent, 0, z) @ self.number_effect
        numbers[absent] = np.iinfo(np.int64).min
        return ranks, numbers, (logits - self.centre) / self.spread

    def labels(self, rng: np.random.Generator, logits: np.ndarray) -> np.ndarray:
        return rng.random(len(logits)) < 1 / (1 + np.exp(-(_BIAS + _SCALE * logits)))

    def text(self, rng: np.random.Generator, rows: int) -> bytes:
        ranks, numbers, logits = self.draw(rng, rows)
        return _format(self.labels(rng, logits), numbers, ranks, self.tokens)


GENERATOR = Generator("Criteo", version=1, header=",".join(criteo.FORMAT.names), planted=CriteoTruth)


def _hex_tokens(column: int, size: int) -> np.ndarray:
    """uint8 [size, 8]: the id's name in the file. Odd multiplication and xor-shift are bijective on 32 bits,
    so two ids of one column never share a token."""
    x = (np.arange(1, size + 1, dtype=np.uint64) * 0x9E3779B1 + (column + 1) * 0x85EBCA6B) & 0xFFFFFFFF
    x ^= x >> np.uint64(15)
    x = (x * 0x2C1B3C6D) & 0xFFFFFFFF
    x ^= x >> np.uint64(12)
    nibbles = (x[:, None] >> np.arange(28, -4, -4, dtype=np.uint64)) & np.uint64(15)
    return np.frombuffer(b"0123456789abcdef", np.uint8)[nibbles.astype(np.int64)]


def _format(labels: np.ndarray, numbers: np.ndarray, ranks: np.ndarray, tokens) -> bytes:
    """All rows as text. The rows are laid out in fixed width and the unused bytes are dropped at once, which is
    some 20 times faster than joining strings."""
    rows = len(labels)
    number_span, token_span = _NUMBER_WIDTH + 2, 9
    width = 1 + numbers.shape[1] * number_span + ranks.shape[1] * token_span + 1
    text = np.full((rows, width), ord(","), np.uint8)
    keep = np.ones((rows, width), bool)
    text[:, 0] = ord("0") + labels
    powers = 10 ** np.arange(_NUMBER_WIDTH - 1, -1, -1)
    at = 1
    for column in range(numbers.shape[1]):  # separator, sign, digits
        value = numbers[:, column]
        missing = value == np.iinfo(np.int64).min
        magnitude = np.where(missing, 0, np.abs(value))
        text[:, at + 1] = ord("-")
        keep[:, at + 1] = (value < 0) & ~missing
        text[:, at + 2 : at + number_span] = ord("0") + magnitude[:, None] // powers % 10
        shown = magnitude[:, None] >= powers
        shown[:, -1] = True
        keep[:, at + 2 : at + number_span] = shown & ~missing[:, None]
        at += number_span
    for column in range(ranks.shape[1]):  # separator, token
        rank = ranks[:, column]
        text[:, at + 1 : at + token_span] = tokens[column][rank]
        keep[:, at + 1 : at + token_span] = (rank >= 0)[:, None]
        at += token_span
    text[:, -1] = ord("\n")
    return text[keep].tobytes()
