"""Runs two variants of a measurement in turn (A B A B ...) and compares them by their medians."""

import statistics
from typing import Callable, Mapping, Sequence


def interleaved(variants: Mapping[str, Callable[[], Mapping[str, float]]], rounds: int) -> dict:
    """Runs each variant `rounds` times, in turn, after one run of each that is not counted.

    Args:
      variants: name -> function that measures once and returns {quantity: value}.
      rounds: how often each is counted; 10 or more for a figure that is published.

    Returns:
      {variant: {quantity: [values]}}
    """
    if rounds < 1:
        raise ValueError(f"rounds is {rounds}, but must be at least 1")
    for measure in variants.values():
        measure()
    results = {name: {} for name in variants}
    for _ in range(rounds):
        for name, measure in variants.items():
            for quantity, value in measure().items():
                results[name].setdefault(quantity, []).append(value)
    return results


def markdown(results: Mapping[str, Mapping[str, Sequence[float]]], base: str, units: Mapping[str, str]) -> str:
    """A table of medians, with the range, and the ratio to the variant `base`."""
    lines = [
        "| variant | "
        + " | ".join(f"{q} ({unit}), median (min to max) | ratio to {base}" for q, unit in units.items())
        + " |",
        "|---|" + "---|---|" * len(units),
    ]
    for name, values in results.items():
        cells = []
        for quantity in units:
            v = values[quantity]
            ratio = statistics.median(v) / statistics.median(results[base][quantity])
            cells.append(f"{statistics.median(v):.3g} ({min(v):.3g} to {max(v):.3g}) | {ratio:.3f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
