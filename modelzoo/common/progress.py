"""Progress on a terminal (a tqdm bar on stderr) or in a log (plain lines on stderr)."""

import logging
import os
import sys
import time
from typing import Optional

try:
    import tqdm
except ImportError:  # the bar is a comfort; training must not depend on it
    tqdm = None

log = logging.getLogger("modelzoo")


def start_logging() -> None:
    """Sends the zoo's log lines to stderr, above a bar where there is one."""
    handler = _Handler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log.handlers[:] = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False
    if on_terminal() and tqdm is None:
        log.warning("tqdm is not installed, so there is no progress bar: pip install -r modelzoo/requirements.txt")


def on_terminal() -> bool:
    return sys.stderr.isatty()


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if tqdm is not None:
            tqdm.tqdm.write(line, file=sys.stderr)
        else:
            print(line, file=sys.stderr)
        sys.stderr.flush()


class Progress:
    """Counts rows towards a total. A context manager.

    On a terminal every `advance` moves the bar. Elsewhere `advance(..., say=True)` writes a line with the rate
    since the last one; `quiet_seconds` instead lets lines out at that distance in time.
    """

    def __init__(self, what: str, total: int, done: int = 0, quiet_seconds: Optional[float] = None):
        self._what, self._total, self._done = what, total, done
        self._quiet = quiet_seconds
        self._said_at, self._said_done = time.monotonic(), done
        self._bar = None
        if on_terminal() and tqdm is not None:
            # A terminal of width 0 (a container's, often) makes tqdm write nothing.
            width = {"dynamic_ncols": True} if os.get_terminal_size(sys.stderr.fileno()).columns else {"ncols": 100}
            self._bar = tqdm.tqdm(
                desc=what, total=total, initial=done, unit=" examples", unit_scale=True, file=sys.stderr, **width
            )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_exc) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self, rows: int, note: str = "", say: bool = False) -> None:
        self._done += rows
        if self._bar is not None:
            if note:
                self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(rows)
            return
        now = time.monotonic()
        if self._quiet is not None:
            say = now - self._said_at >= self._quiet or self._done >= self._total
        if say:
            rate = (self._done - self._said_done) / max(now - self._said_at, 1e-9)
            log.info(
                "%s %s of %s examples, %s examples/s%s",
                self._what,
                f"{self._done:,}",
                f"{self._total:,}",
                f"{rate:,.0f}",
                f", {note}" if note else "",
            )
            self._said_at, self._said_done = now, self._done

    def leave_out(self, seconds: float) -> None:
        """Leaves `seconds` that were spent on something else out of the rate."""
        self._said_at += seconds
        if self._bar is not None:
            self._bar.start_t += seconds
            self._bar.last_print_t += seconds
