"""Program: one client in Python at a fixed rate, `client_loops.py WAY URL HTTP RATE SECONDS`; prints its figures as one line of JSON.

Each turn reads the height of the arm's cursor and commands a force of it. The two references are what people write: websockets' client
with threads, and a plain socket with a small codec; both pace by sleeping until the next turn is due.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import orjson

import hapticd_client as haptics
from bench.support.turns import quantile
from bench.support.websocket import client_frame, connect, read_text
from hapticd_client import LoopStatistics

HEIGHT: Final = 0.12
STIFFNESS: Final = 500.0
ASKED: Final = "/?vocabulary=neutral"
LATE_SHARE: Final = 0.5


def push(z: float) -> float:
    """Force of a floor, N."""
    return max(0.0, STIFFNESS * (HEIGHT - z))


def shown(figures: LoopStatistics) -> dict[str, float]:
    """Figures of the package's own loop."""
    return {
        "rate": figures.rate,
        "on_time": figures.on_time,
        "p50": figures.round_trip_p50,
        "p99": figures.round_trip_p99,
    }


def paced(exchange: Callable[[str], bytes], first: Any, rate: float, seconds: float) -> dict[str, float]:
    """Loop by hand over something that sends a message and returns the frame that answers it."""
    device_id, z = first["arm"][0]["device_id"], 0.0
    trips: list[float] = []
    turns = late = missed = 0
    begun = time.perf_counter()
    slot = 0
    while slot < rate * seconds:
        due = begun + slot / rate
        wait = due - time.perf_counter()
        if wait > 0:
            time.sleep(wait)
        began = time.perf_counter()
        skipped = int(max(0.0, began - due) * rate)
        late += skipped == 0 and began - due > LATE_SHARE / rate
        missed += skipped
        slot += skipped + 1
        force = {"vector": {"x": 0, "y": 0, "z": push(z)}}
        frame = exchange(json.dumps({"arm": [{"device_id": device_id, "commands": {"set_cursor_force": force}}]}))
        z = json.loads(frame)["arm"][0]["state"]["cursor_position"]["z"]
        trips.append(time.perf_counter() - began)
        turns += 1
    span = time.perf_counter() - begun
    on_time = 1 - (late + missed) / (turns + missed)
    return {"rate": turns / span, "on_time": on_time, "p50": quantile(trips, 0.5), "p99": quantile(trips, 0.99)}


def websockets_sync(url: str, _http: str, rate: float, seconds: float) -> dict[str, float]:
    """The client of the library `websockets` that has a thread."""
    from websockets.sync.client import connect as connected

    with connected(f"{url}{ASKED}", proxy=None, compression=None) as channel:
        first = json.loads(channel.recv())

        def exchange(message: str) -> bytes:
            channel.send(message)
            return channel.recv(decode=False)

        return paced(exchange, first, rate, seconds)


def plain_socket(url: str, _http: str, rate: float, seconds: float) -> dict[str, float]:
    """A blocking socket and the benchmarks' small codec."""
    with connect(f"{url}{ASKED}") as channel:
        first = orjson.loads(read_text(channel))

        def exchange(message: str) -> bytes:
            channel.sendall(client_frame(message.encode()))
            return read_text(channel)

        return paced(exchange, first, rate, seconds)


def client(url: str, http: str, rate: float, seconds: float) -> dict[str, float]:
    """hapticd-client, blocking; shared memory where the URL says so."""
    with haptics.connect(url, http=http) as service:
        arm = service.arm
        for _ in service.loop(rate=rate, seconds=seconds):
            arm.force = 0, 0, push(arm.position[2])
        return shown(service.loop_statistics)


def client_asyncio(url: str, http: str, rate: float, seconds: float) -> dict[str, float]:
    """hapticd-client under asyncio."""

    async def run() -> dict[str, float]:
        async with haptics.aio.connect(url, http=http) as service:
            arm = service.arm
            async for _ in service.loop(rate=rate, seconds=seconds):
                arm.force = 0, 0, push(arm.position[2])
            return shown(service.loop_statistics)

    return asyncio.run(run())


WAYS: Final[dict[str, Callable[[str, str, float, float], dict[str, float]]]] = {
    "websockets": websockets_sync,
    "socket": plain_socket,
    "client": client,
    "asyncio": client_asyncio,
}


def main(way: str, url: str, http: str, rate: str, seconds: str) -> None:
    """Run one way and print its figures; processor time is that of the whole process, per turn."""
    before = time.process_time()
    found = WAYS[way](url, http, float(rate), float(seconds))
    cpu = (time.process_time() - before) / max(1.0, found["rate"] * float(seconds))
    print(json.dumps({**found, "cpu": cpu}))


if __name__ == "__main__":
    main(*sys.argv[1:])
