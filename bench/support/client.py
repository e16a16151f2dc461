"""Program: WebSocket clients in C (load.c); reads one JSON order per line from stdin and writes one JSON answer per line.

`open` connects a named set of clients, `ask` sends one message on its first and returns the reply, `drive` makes every
client of a set send a message, wait for the reply and send the next, for some seconds. `fall_silent` measures how long the
force of a client that stops sending stays in the frames of another. Sets that are not driven stay connected and quiet.
"""

from __future__ import annotations

import ctypes
import gc
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from threading import Thread
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

import numpy as np
import orjson

from bench.support.compiled import compiled
from bench.support.websocket import LONGEST_WAIT_S, client_frame, connect, read_text

Answer: TypeAlias = Mapping[str, Any]

MOST_WAITS: Final = 8_000_000


class Totals(ctypes.Structure):
    """`totals` of load.c."""

    _fields_ = (
        ("trips", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("worst_gap_ns", ctypes.c_int64),
        ("taken_ns", ctypes.c_int64),
        ("lost", ctypes.c_int64),
    )


class Fleet:
    """Named sets of connected clients."""

    def __init__(self) -> None:
        self._sets: dict[str, list[socket.socket]] = {}
        self._drive_clients = ctypes.CDLL(str(compiled(Path(__file__).with_name("load.c"), library=True))).load_drive
        self._waits = np.zeros(MOST_WAITS, dtype=np.int64)

    def obey(self, order: Mapping[str, Any]) -> Answer:
        """Execute one order and return its answer."""
        match order["do"]:
            case "open":
                return self._open(order["set"], order["url"], order["clients"])
            case "close":
                return self._close(order["set"])
            case "ask":
                return {"reply": ask(self._sets[order["set"]][0], order["message"].encode()).decode()}
            case "drive":
                return self._drive(order["set"], order["messages"], order["seconds"], order["rate"])
            case "fall_silent":
                return self._fall_silent(order["set"], order["group"], order["message"], order["seconds"])
            case other:
                raise ValueError(f'there is no order "{other}"')

    def _open(self, name: str, url: str, clients: int) -> Answer:
        opened = [connect(url) for _ in range(clients)]
        self._sets[name] = opened
        greetings = [read_text(each) for each in opened]
        return {"greeting": greetings[0].decode()}

    def _close(self, name: str) -> Answer:
        for each in self._sets.pop(name):
            each.close()
        return {}

    def _drive(self, name: str, messages: Sequence[str], seconds: float, rate: float) -> Answer:
        clients = self._sets[name]
        frames = [client_frame(message.encode()) for message in messages]
        ends = np.array(list(accumulate(map(len, frames))), dtype=np.int64)
        descriptors = np.array([each.fileno() for each in clients], dtype=np.int32)
        each = np.zeros(len(clients), dtype=np.int64)
        totals = Totals()
        error = self._drive_clients(
            ctypes.c_void_p(descriptors.ctypes.data),
            len(clients),
            b"".join(frames),
            ctypes.c_void_p(ends.ctypes.data),
            len(frames),
            ctypes.c_int64(int(seconds * 1e9)),
            ctypes.c_int64(int(1e9 / rate) if rate else 0),
            ctypes.c_int64(int(LONGEST_WAIT_S * 1e9)),
            ctypes.c_void_p(self._waits.ctypes.data),
            ctypes.c_int64(MOST_WAITS),
            ctypes.c_void_p(each.ctypes.data),
            ctypes.byref(totals),
        )
        if error:
            raise ConnectionError(os.strerror(error))
        waits = self._waits[: min(totals.trips, MOST_WAITS)]
        p50, p99 = np.quantile(waits, [0.5, 0.99], method="inverted_cdf")
        return {
            "trips": totals.trips,
            "lost": totals.lost,
            "seconds": totals.taken_ns * 1e-9,
            "p50_us": float(p50) * 1e-3,
            "p99_us": float(p99) * 1e-3,
            "worst_gap_ms": totals.worst_gap_ns * 1e-6,
            "frame_bytes": totals.bytes / totals.trips,
            "slowest_share": float(each.min() / each.mean()),
        }

    def _fall_silent(self, name: str, group: str, message: str, seconds: float) -> Answer:
        """Let the set's first client command for a while and fall silent, while the second one watches the applied force."""
        silent, watcher = self._sets[name][:2]
        until_ns = perf_counter_ns() + int(seconds * 1e9)
        sent_ns = 0

        def command() -> None:
            nonlocal sent_ns
            while (sent_ns := perf_counter_ns()) < until_ns:
                ask(silent, message.encode())

        commanding = Thread(target=command)
        commanding.start()
        try:
            watch(watcher, group, moved=True)
        finally:
            commanding.join()
        return {"milliseconds": (watch(watcher, group, moved=False) - sent_ns) * 1e-6}


def ask(connection: socket.socket, message: bytes) -> bytes:
    """Send a message and return the reply."""
    connection.sendall(client_frame(message))
    return read_text(connection)


def watch(watcher: socket.socket, group: str, *, moved: bool) -> int:
    """Return when the first frame arrived whose applied force is zero, or not zero if `moved` (ns); raise TimeoutError without one."""
    late_ns = perf_counter_ns() + int(LONGEST_WAIT_S * 1e9)
    while perf_counter_ns() < late_ns:
        frame = ask(watcher, b"{}")
        now_ns = perf_counter_ns()
        force = orjson.loads(frame)[group][0]["state"]["current_cursor_force"]
        if any(force.values()) == moved:
            return now_ns
    raise TimeoutError(f"the applied force did not become {'more than ' if moved else ''}zero")


def main() -> None:
    """Execute orders until the end of standard input."""
    gc.disable()
    fleet = Fleet()
    for line in sys.stdin:
        try:
            answer = dict(fleet.obey(orjson.loads(line)))
        except (OSError, ValueError, TimeoutError, KeyError) as error:
            answer = {"error": repr(error)}
        sys.stdout.write(orjson.dumps(answer).decode() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
