"""Gradient boosted trees in NumPy, straight from the published algorithm (Chen and Guestrin 2016), layer by layer."""

import numpy as np


def _leaf(g, h, l1, l2):
    """Weight and gain of a leaf."""
    s = np.sign(g) * max(abs(g) - l1, 0)
    if h + l2 <= 1e-15:
        return 0.0, 0.0
    return -s / (h + l2), s * s / (h + l2)


class Node:
    def __init__(self, value):
        self.value = value
        self.split = None  # (feature, threshold, gain, left, right)

    def find(self, row):
        node = self
        while node.split:
            feature, threshold, _, left, right = node.split
            node = left if row[feature] <= threshold else right
        return node

    def prune(self):
        if not self.split:
            return
        _, _, gain, left, right = self.split
        left.prune()
        right.prune()
        if gain < 0 and not left.split and not right.split:
            self.split = None


class Boosting:
    """The same arguments as the estimators'. Rows are bucket numbers; a batch is a range of rows."""

    def __init__(
        self, classify, n_batches_per_layer, n_trees, max_depth, learning_rate, l1_regularization=0.0, l2_regularization=0.0,
        tree_complexity=0.0, min_node_weight=0.0, center_bias=False, pruning_mode="none",
    ):  # fmt: skip
        self.classify = classify
        self.batches = n_batches_per_layer
        self.n_trees, self.max_depth, self.rate = n_trees, max_depth, learning_rate
        self.l1, self.l2 = l1_regularization, l2_regularization
        self.complexity, self.min_weight = tree_complexity, min_node_weight
        self.centering, self.pruning = center_bias, pruning_mode
        self.trees = [Node(0.0)]
        self.layers = 0
        self.last_layer = [self.trees[0]]

    def predict(self, rows):
        return np.array([sum(tree.find(row).value for tree in self.trees) for row in rows])

    def _gradients(self, rows, labels, weights):
        """Of the loss's mean over rows: SUM_OVER_BATCH_SIZE divides by their number, not by their weight."""
        logits, share = self.predict(rows), weights / len(rows)
        if self.classify:
            p = 1 / (1 + np.exp(-logits))
            return (p - labels) * share, p * (1 - p) * share
        return 2 * (logits - labels) * share, 2 * np.ones_like(logits) * share

    def train(self, rows, labels, weights=None, batch=None, buckets=None):
        weights = np.ones(len(rows)) if weights is None else weights
        batch = batch or len(rows)
        starts = range(0, len(rows), batch)
        done, at = False, 0
        while not done:
            chosen = []
            for _ in range(self.batches):
                start = starts[at % len(starts)]
                chosen.append(slice(start, start + batch))
                at += 1
            parts = [(rows[c], *self._gradients(rows[c], labels[c], weights[c])) for c in chosen]
            done = self._center(parts) if self.centering else self._grow(parts, buckets)

    def _center(self, parts):
        # Means over rows, and over the batches.
        g = np.mean([part[1].mean() for part in parts])
        h = np.mean([part[2].mean() for part in parts])
        root = self.trees[0]
        step, _ = _leaf(g, h, self.l1, self.l2)
        # The first step makes the tree, and is never the last.
        self.centering = root.value == 0 or abs(step / root.value) > 0.01
        root.value += step
        return False

    def _grow(self, parts, buckets):
        grown = []
        for node in self.last_layer:
            best = None
            inside = [[self.trees[-1].find(row) is node for row in rows] for rows, _, _ in parts]
            for feature in range(parts[0][0].shape[1]):
                stats = np.zeros([buckets, 2])
                for (rows, g, h), mask in zip(parts, inside, strict=True):
                    np.add.at(stats[:, 0], rows[mask, feature], g[mask] / len(parts))
                    np.add.at(stats[:, 1], rows[mask, feature], h[mask] / len(parts))
                total = stats.sum(0)
                if total[1] < self.min_weight:
                    continue
                _, parent = _leaf(*total, self.l1, self.l2)
                left = np.cumsum(stats, 0)
                for threshold in range(buckets):
                    wl, gl = _leaf(*left[threshold], self.l1, self.l2)
                    wr, gr = _leaf(*(total - left[threshold]), self.l1, self.l2)
                    gain = gl + gr - parent - self.complexity
                    if best is None or gain > best[0] + 1e-9:
                        best = (gain, feature, threshold, wl, wr)
            if best is None or (self.pruning == "pre" and best[0] < 0):
                continue
            gain, feature, threshold, wl, wr = best
            children = [Node(node.value + self.rate * w) for w in (wl, wr)]
            grown.append((node, (feature, threshold, gain, *children)))
        for node, split in grown:
            node.split = split
        if not grown:
            return True
        self.last_layer = [child for _, split in grown for child in split[3:]]
        self.layers += 1
        if self.layers == self.max_depth:
            if self.pruning == "post":
                self.trees[-1].prune()
            if len(self.trees) == self.n_trees:
                return True
            self.trees.append(Node(0.0))
            self.last_layer, self.layers = [self.trees[-1]], 0
        return False
