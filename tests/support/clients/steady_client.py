"""Program: a client that commands a force at a fixed rate and reads one frame for each message.

Arguments: URL of the session channel, id of the arm, messages a second. Each line on standard input is answered with one line of
JSON about the time since the last one: `frames`, `rate` (frames a second), `longest_gap_ms` between frames, `p50_ms` and `p99_ms` from a
message to its frame. Ends with standard input.
"""

from __future__ import annotations

import json
import os
import select
import sys
from time import perf_counter
from typing import Final

from tests.support.clients.raw_websocket import RawWebSocket, encode_frame

NEWTONS: Final = 0.1


class SteadyClient:
    """One session at a fixed rate; a message whose time passed while the last one was not answered is left out."""

    def __init__(self, url: str, device_id: str, rate_hz: float) -> None:
        force = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": NEWTONS}}}
        self._message = encode_frame(json.dumps({"arm": [{"device_id": device_id, "commands": force}]}))
        self._peer = RawWebSocket(url)
        self._peer.frame()
        self._period_s = 1 / rate_hz
        self._due_s = self._last_s = self._begun_s = perf_counter()
        self._waits_s: list[float] = []
        self._gap_s = 0.0

    def step(self) -> float:
        """Send and take the frame when it is time; seconds until it is time again."""
        now_s = perf_counter()
        if now_s < self._due_s:
            return self._due_s - now_s
        self._peer.write(self._message)
        self._peer.next()
        end_s = perf_counter()
        self._waits_s.append(end_s - now_s)
        self._gap_s = max(self._gap_s, end_s - self._last_s)
        self._last_s = end_s
        self._due_s = max(self._due_s + self._period_s, end_s)
        return max(0.0, self._due_s - end_s)

    def report(self) -> str:
        """The figures since the last report, as one line."""
        now_s, waits = perf_counter(), sorted(self._waits_s) or [0.0]
        figures = {
            "frames": len(self._waits_s),
            "rate": len(self._waits_s) / (now_s - self._begun_s),
            "longest_gap_ms": self._gap_s * 1e3,
            "p50_ms": waits[len(waits) // 2] * 1e3,
            "p99_ms": waits[len(waits) * 99 // 100] * 1e3,
        }
        self._begun_s, self._waits_s, self._gap_s = now_s, [], 0.0
        return json.dumps(figures)


def main(url: str, device_id: str, rate_hz: str) -> None:
    """Go on until standard input ends."""
    steady = SteadyClient(url, device_id, float(rate_hz))
    wait_s = 0.0
    while True:
        if select.select([sys.stdin.fileno()], [], [], wait_s)[0]:
            if not os.read(sys.stdin.fileno(), 1):
                return
            sys.stdout.write(steady.report() + "\n")
            sys.stdout.flush()
        wait_s = steady.step()


if __name__ == "__main__":
    main(*sys.argv[1:])
