"""Starts the running program anew with the bundled libstdc++ in LD_PRELOAD.

Only loaded when TF_DEEPREC_REEXEC=1 is set and an old libstdc++ is in the process already. All
that the program did before it imported TensorFlow happens twice; that is why it is opt-in.
"""

import os
import sys
from typing import Mapping, NoReturn, Optional

# Holds the id of the process that was started anew. The id survives exec and is not inherited by
# meaning: a child that has the variable but another id may still restart itself once.
MARKER = "TF_DEEPREC_REEXEC_PID"


def restart(bundled: str, reason: str) -> NoReturn:
    """Replaces the process image; does not return.

    Args:
        bundled: path of the libstdc++.so.6 to preload.
        reason: why this is needed, put before every error.

    Raises:
        ImportError: it was tried already, or this program can't be started anew.
    """
    refusal = find_refusal(bundled, os.environ)
    if refusal is not None:
        raise ImportError(
            f"{reason} TF_DEEPREC_REEXEC=1 is set, but the program can't be started anew: {refusal}. "
            f"Import tensorflow before the others, or start it with LD_PRELOAD={bundled}"
        )
    environment = dict(os.environ)
    earlier = environment.get("LD_PRELOAD")
    environment["LD_PRELOAD"] = f"{bundled}:{earlier}" if earlier else bundled
    environment[MARKER] = str(os.getpid())
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    # orig_argv is what the interpreter was given, with its own flags, -m and -c; sys.argv has lost them.
    os.execve(sys.executable, [sys.executable] + sys.orig_argv[1:], environment)


def find_refusal(bundled: str, environment: Mapping[str, str]) -> Optional[str]:
    """Why this program must not be started anew; None where it may."""
    if environment.get(MARKER) == str(os.getpid()):
        return "it was already, and the loader did not take the library from LD_PRELOAD"
    if any(separator in bundled for separator in " :\n\t"):
        return f"LD_PRELOAD can't hold a path with a space or colon: {bundled!r}"
    if not os.path.exists(bundled):
        return f"{bundled} is missing, install the wheel anew"
    return _refusal_of_host() or _refusal_of_session() or _refusal_of_script()


def _refusal_of_host() -> Optional[str]:
    if not sys.executable or not sys.orig_argv:
        return "Python is embedded in another program"
    try:
        host = os.path.realpath("/proc/self/exe")
    except OSError:
        return None
    if host != os.path.realpath(sys.executable):
        return f"Python is embedded in another program, {host}"
    return None


def _refusal_of_session() -> Optional[str]:
    # Only modules that are loaded already are asked: none of them is worth an import here.
    import builtins

    if hasattr(sys, "ps1") or hasattr(builtins, "get_ipython"):
        return "this is an interactive session, whose state would be lost"
    if "_pytest.main" in sys.modules:
        return "it runs under pytest, which holds the output"
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        return "this is a worker process of multiprocessing, whose work would be lost"
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return "other threads are running"
    return None


def _refusal_of_script() -> Optional[str]:
    main = sys.modules.get("__main__")
    script = getattr(main, "__file__", None)
    if getattr(main, "__spec__", None) is not None or sys.argv[:1] == ["-c"]:
        return None  # -m or -c: nothing to look up
    if script is None or sys.argv[:1] in ([""], ["-"]):
        return "the program comes from standard input, which can't be read twice"
    # A relative path on the command line means nothing after a chdir.
    for argument in sys.orig_argv[1:]:
        if os.path.exists(argument) and os.path.realpath(argument) == os.path.realpath(script):
            return None
    return f"{script} is not where the command line says; the working directory was changed"
