"""How far a command has come."""

import sys
import time


class Bar:
    """A tqdm bar on a terminal, or a line every few seconds; on standard error.

    Args:
      name: of what is worked on.
      size: how much there is to do.
      unit: of the size.
    """

    def __init__(self, name: str, size: int, unit: str = "B"):
        self._name, self._size, self._done, self._said = name, size, 0, time.monotonic()
        self._bar = None
        if sys.stderr.isatty():
            try:
                import tqdm
            except ImportError:
                return
            self._bar = tqdm.tqdm(desc=name, total=size, unit=unit, unit_scale=True, file=sys.stderr)

    def __call__(self, done: int, rows: "int | None" = None) -> None:
        """Tells how much is done; `rows` where that is not a number of rows."""
        rows = done if rows is None else rows
        if self._bar is not None:
            self._bar.set_postfix_str(f"{rows:,} rows", refresh=False)
            self._bar.update(done - self._done)
        elif time.monotonic() - self._said >= 5:
            self._said = time.monotonic()
            print(f"{self._name}: {100 * done / max(self._size, 1):.0f} %, {rows:,} rows", file=sys.stderr, flush=True)
        self._done = done

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.close()
