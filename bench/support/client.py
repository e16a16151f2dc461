"""Program: a fast WebSocket client; reads one JSON order per line from stdin and writes one JSON answer per line.

`open` connects a named set of clients, `ask` sends one message on its first and returns the reply, `drive` makes every
client of a set send a message, wait for the reply and send the next, for some seconds. `fall_silent` measures how long the
force of a client that stops sending stays in the frames of another. Sets that are not driven stay connected and quiet.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from array import array
from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import Any, Final, Self, TypeAlias

import orjson
from picows import (
    WSFrame,
    WSListener,
    WSMsgType,
    WSTransport,
    ws_connect,  # pyright: ignore[reportUnknownVariableType] - its keywords have no types
)

Answer: TypeAlias = Mapping[str, Any]

TEXT: Final = WSMsgType.TEXT
LONGEST_WAIT_S: Final = 20.0


class Client(WSListener):
    """One connection; it sends the next message when the reply to the last one has arrived."""

    def __init__(self) -> None:
        super().__init__()
        self.greeting: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._replied: asyncio.Future[bytes] | None = None
        self._transport: WSTransport | None = None
        self._messages: Sequence[bytes] = ()
        self._next = 0
        self.sent_ns = 0
        self._until_ns = 0
        self._arrived_ns = 0
        self.waits_ns = array("q")
        self.gaps_ns = array("q")
        self.received = 0

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Return a connected client."""
        client = cls()

        def itself() -> WSListener:
            return client

        await ws_connect(itself, url)
        return client

    def on_ws_connected(self, transport: WSTransport) -> None:
        """Keep the transport, to send with."""
        self._transport = transport

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        """Fail the futures that wait for a frame."""
        del transport
        for future in (self.greeting, self._replied):
            if future is not None and not future.done():
                future.set_exception(ConnectionError("the server closed the connection"))

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """Record the round trip; send the next message until the end time."""
        del transport
        if frame.msg_type is not TEXT:
            return
        if not self.greeting.done():
            self.greeting.set_result(frame.get_payload_as_bytes())
            return
        now_ns = perf_counter_ns()
        self.waits_ns.append(now_ns - self.sent_ns)
        if self._arrived_ns:
            self.gaps_ns.append(now_ns - self._arrived_ns)
        self._arrived_ns = now_ns
        self.received += frame.payload_size
        if now_ns < self._until_ns:
            self._send()
        elif self._replied is not None:
            self._replied.set_result(frame.get_payload_as_bytes())
            self._replied = None

    def start(self, messages: Sequence[bytes], until_ns: int = 0) -> asyncio.Future[bytes]:
        """Send messages in rotation until `until_ns`; the future returns the last reply."""
        replied = self._replied = asyncio.get_running_loop().create_future()
        self._messages, self._until_ns, self._arrived_ns, self.received = messages, until_ns, 0, 0
        self.waits_ns, self.gaps_ns = array("q"), array("q")
        self._send()
        return replied

    def close(self) -> None:
        """Close the connection without a close frame."""
        if self._transport is not None:
            self._transport.disconnect()

    def _send(self) -> None:
        if self._transport is None:
            return
        self._next += 1
        self.sent_ns = perf_counter_ns()
        self._transport.send(TEXT, self._messages[self._next % len(self._messages)])


class Fleet:
    """Named sets of clients."""

    def __init__(self) -> None:
        self._sets: dict[str, list[Client]] = {}

    async def obey(self, order: Mapping[str, Any]) -> Answer:
        """Execute one order and return its answer."""
        match order["do"]:
            case "open":
                return await self._open(order["set"], order["url"], order["clients"])
            case "close":
                return await self._close(order["set"])
            case "ask":
                return await self._ask(order["set"], order["message"])
            case "drive":
                return await self._drive(order["set"], order["messages"], order["seconds"])
            case "fall_silent":
                return await self._fall_silent(order["set"], order["group"], order["message"], order["seconds"])
            case other:
                raise ValueError(f'there is no order "{other}"')

    async def _open(self, name: str, url: str, clients: int) -> Answer:
        opened = [await Client.connect(url) for _ in range(clients)]
        self._sets[name] = opened
        greetings = [await asyncio.wait_for(client.greeting, LONGEST_WAIT_S) for client in opened]
        return {"greeting": greetings[0].decode()}

    async def _close(self, name: str) -> Answer:
        for client in self._sets.pop(name):
            client.close()
        return {}

    async def _ask(self, name: str, message: str) -> Answer:
        return {"reply": (await self._sets[name][0].start([message.encode()])).decode()}

    async def _drive(self, name: str, messages: Sequence[str], seconds: float) -> Answer:
        encoded, clients = [message.encode() for message in messages], self._sets[name]
        begun_ns = perf_counter_ns()
        until_ns = begun_ns + int(seconds * 1e9)
        await asyncio.wait_for(
            asyncio.gather(*(client.start(encoded, until_ns) for client in clients)), seconds + LONGEST_WAIT_S
        )
        waits = sorted(wait for client in clients for wait in client.waits_ns)
        return {
            "trips": len(waits),
            "seconds": (perf_counter_ns() - begun_ns) * 1e-9,
            "p50_us": waits[len(waits) // 2] * 1e-3,
            "p99_us": waits[len(waits) * 99 // 100] * 1e-3,
            "worst_gap_ms": max((max(client.gaps_ns, default=0) for client in clients), default=0) * 1e-6,
            "frame_bytes": sum(client.received for client in clients) / len(waits),
        }

    async def _fall_silent(self, name: str, group: str, message: str, seconds: float) -> Answer:
        """Let the set's first client command for a while and fall silent, while the second one watches the applied force."""
        silent, watcher = self._sets[name][:2]
        commanding = silent.start([message.encode()], perf_counter_ns() + int(seconds * 1e9))
        await _watch(watcher, group, moved=True)
        await commanding
        gone_ns = await _watch(watcher, group, moved=False)
        return {"milliseconds": (gone_ns - silent.sent_ns) * 1e-6}


async def _watch(watcher: Client, group: str, *, moved: bool) -> int:
    """Return when the first frame arrived whose applied force is zero, or not zero if `moved` (ns); raise TimeoutError without one."""
    late_ns = perf_counter_ns() + int(LONGEST_WAIT_S * 1e9)
    while perf_counter_ns() < late_ns:
        frame = await watcher.start([b"{}"])
        now_ns = perf_counter_ns()
        force = orjson.loads(frame)[group][0]["state"]["current_cursor_force"]
        if any(force.values()) == moved:
            return now_ns
    raise TimeoutError(f"the applied force did not become {'more than ' if moved else ''}zero")


def main() -> None:
    """Execute orders until the end of standard input."""
    gc.disable()
    loop = asyncio.new_event_loop()
    fleet = Fleet()
    for line in sys.stdin:
        try:
            answer = dict(loop.run_until_complete(fleet.obey(orjson.loads(line))))
        except (OSError, ValueError, TimeoutError, KeyError) as error:
            answer = {"error": repr(error)}
        sys.stdout.write(orjson.dumps(answer).decode() + "\n")
        sys.stdout.flush()
    loop.close()


if __name__ == "__main__":
    main()
