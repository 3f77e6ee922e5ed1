"""How a script of the zoo starts and ends: exit codes, one-line errors, signals.

Exit codes: 0 done; 2 wrong flag, file or row; 130 stopped by SIGINT, 143 by SIGTERM; 1 anything unforeseen.
"""

import os
import shlex
import signal
import sys
import warnings
from typing import Callable, List, Optional

from common.errors import InputError


class Stopped(Exception):
    """A signal asked the program to end; the message says what is saved and how to go on."""

    def __init__(self, signum: int, message: str):
        super().__init__(message)
        self.signum = signum


class StopRequest:
    """Turns the first SIGINT or SIGTERM into a flag the program asks for; a second one kills as usual.

    The handler only notes the signal: it may run in the middle of any Python statement, and the step in flight is worth
    finishing.
    """

    def __init__(self):
        self.signum: Optional[int] = None

    def install(self) -> "StopRequest":
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, self._note)
        return self

    def _note(self, signum, _frame):
        self.signum = signum
        signal.signal(signum, signal.SIG_DFL)

    def raise_if_set(self, message: str) -> None:
        if self.signum is not None:
            raise Stopped(self.signum, f"stopped by {signal.Signals(self.signum).name}: {message}")


def resume_command() -> str:
    """The command line to go on with: this one, without --restart, by the same interpreter whatever venv is active."""
    arguments = [argument for argument in sys.argv if argument != "--restart"]
    return shlex.join([sys.executable or "python", *arguments])


def run(main: Callable[[List[str], StopRequest], None]) -> None:
    """Runs `main(arguments, stop)` and exits the process with the code that fits."""
    # tf.layers and tf.feature_column are what a TF1 program is written in; the advice to leave them is noise here.
    warnings.filterwarnings("ignore", message=r".*(tf\.layers\.|layer\.add_variable).* is deprecated")
    program = os.path.basename(sys.argv[0])
    try:
        main(sys.argv[1:], StopRequest().install())
    except InputError as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        sys.exit(2)
    except Stopped as stopped:
        print(f"{program}: {stopped}", file=sys.stderr)
        sys.exit(128 + stopped.signum)
