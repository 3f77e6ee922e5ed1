"""Which ranks of Horovod have ended, or wait elsewhere: errors of collectives say so.

Horovod tells the ranks that go on that it "has been shut down", not by whom. The ranks exchange their process ids at the start; when
it shuts down, a rank looks which of those on its machine are gone, and if none is, asks the others where they are, in the key-value
store that horovodrun keeps for its ranks.
"""

import os
import re
import time
import urllib.error
import urllib.request

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import errors_impl

SHUT_DOWN = "Horovod has been shut down"
_MARK = "SparseOperationKit: "
# Bytes in which a rank says who it is.
_WIDTH = 128
# Seconds. A process' connections are closed some milliseconds before it is gone; other machines learn of the end a little later.
_WAIT_FOR_END = 2.0
_WAIT_FOR_ANSWERS = 5.0
_STALL_SECONDS = "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"
_DEFAULT_STALL_SECONDS = 600
_state = {"peers": None}


def limit_stalls() -> None:
    """Makes ranks that wait for one another end after 10 minutes, unless the environment says when; before `hvd.init()`."""
    os.environ.setdefault(_STALL_SECONDS, str(_DEFAULT_STALL_SECONDS))


def watch(hvd) -> None:
    """Makes errors of Horovod name the ranks that caused them, for the rest of the process. All ranks must call it."""
    if hvd.size() == 1 or _state["peers"] is not None:
        return
    text = "|".join([_machine(), str(os.getpid()), _start_of(os.getpid()) or ""]).encode()[:_WIDTH]
    mine = np.frombuffer(text.ljust(_WIDTH), np.uint8)
    with context.eager_mode():
        everybody = hvd.allgather(tf.constant(mine[np.newaxis])).numpy()
    _state["peers"] = Peers(hvd.rank(), [bytes(row).decode().strip().split("|") for row in everybody])
    _explain_errors()


class Peers:
    """The other ranks.

    Args:
      rank: of this process.
      processes: of each rank `[machine, process id, start time]`, strings.
      store: address of the key-value store, "host:port", or None.
    """

    def __init__(self, rank, processes, store=None):
        self._rank, self._processes = rank, processes
        address, port = (os.environ.get(f"HOROVOD_GLOO_RENDEZVOUS_{name}") for name in ("ADDR", "PORT"))
        self._store = store or (f"{address}:{port}" if address and port else None)

    def explanation(self, where: str) -> str:
        """What happened to the other ranks, in sentences.

        Args:
          where: the op in which this rank was.
        """
        ended = self._wait_for_end()
        if ended:
            return f"{_named(ended)} ended, so that rank {self._rank} stops in {where}."
        places = self._places(where)
        silent = [rank for rank in range(len(self._processes)) if rank not in places]
        sentences = []
        if silent:
            sentences.append(f"{_named(silent)} took no part: ended, or busy with something else.")
        sentences += [f"Rank {rank} was in {places[rank]}." for rank in sorted(places)]
        limit = os.environ.get(_STALL_SECONDS, "0")
        sentences.append(
            f"All ranks must make the same calls in the same order; they wait for one another for {limit} seconds ({_STALL_SECONDS})."
        )
        return " ".join(sentences)

    def ended(self) -> list:
        """The ranks on this machine whose processes are gone."""
        here = self._processes[self._rank][0]
        return [
            rank
            for rank, (machine, process, start) in enumerate(self._processes)
            if machine == here and _start_of(int(process)) != start
        ]

    def _wait_for_end(self):
        until = time.monotonic() + _WAIT_FOR_END
        while True:
            found = self.ended()
            if found or time.monotonic() > until:
                return found
            time.sleep(0.01)

    def _places(self, where):
        """rank -> where it was, of those that say so in time."""
        places = {self._rank: where}
        if self._store is None:
            return places
        until = time.monotonic() + _WAIT_FOR_ANSWERS
        try:
            self._request(self._rank, where.encode())
            while len(places) < len(self._processes) and time.monotonic() < until:
                for rank in range(len(self._processes)):
                    answer = None if rank in places else self._request(rank)
                    if answer is not None:
                        places[rank] = answer.decode()
                time.sleep(0.05)
        except OSError:
            # The launcher is gone too: there is nobody to ask.
            pass
        return places

    def _request(self, rank, put=None):
        request = urllib.request.Request(
            f"http://{self._store}/sok_places/{rank}", data=put, method="GET" if put is None else "PUT"
        )
        try:
            with urllib.request.urlopen(request, timeout=2) as response:
                return response.read()
        except urllib.error.HTTPError as e:
            if e.code == 404:
                return None
            raise


def explained(message: str) -> str:
    """The message of an error, with what happened to the other ranks if Horovod has been shut down."""
    peers = _state["peers"]
    if peers is None or SHUT_DOWN not in message or _MARK in message:
        return message
    return f"{_MARK}{peers.explanation(_place(message))} {message}"


def _place(message):
    """The op that an error names."""
    found = re.search(r"\{\{node ([^}]*)\}\}", message) or re.search(r"__wrapped__([A-Za-z0-9]*)", message)
    return found.group(1) if found else "a collective"


def _named(ranks):
    return f"Rank {ranks[0]}" if len(ranks) == 1 else "Ranks " + ", ".join(map(str, ranks))


def _machine():
    """What processes that can see one another have in common."""
    with open("/proc/sys/kernel/random/boot_id") as f:
        return f"{f.read().strip()} {os.readlink('/proc/self/ns/pid')}"


def _start_of(process):
    """When a process started, as the system writes it; None if it is gone, or ended and not yet collected."""
    try:
        with open(f"/proc/{process}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    # Fields 3, the state, and 22 of proc(5).
    return None if fields[0] in "ZX" else fields[19]


def _explain_errors():
    """Every error of an op, however it ran, is an OpError; there its message gets more to say."""
    made = errors_impl.OpError.__init__

    def init(self, node_def, op, message, *args, **kwargs):
        made(self, node_def, op, explained(message) if isinstance(message, str) else message, *args, **kwargs)

    errors_impl.OpError.__init__ = init
