"""HTTP attack clients in their own processes: slow readers of big bodies, GET loops, floods of connections.

Each function returns an `Attack` that has not begun. It is a context manager, or `start()` and `stop()`:

    with slow_readers(port, 600) as readers, get_loops(port, ["/metrics", "/devices"], 6) as loops:
        ...
    assert loops.counts()["answers"]
"""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from multiprocessing.sharedctypes import SynchronizedArray
from multiprocessing.synchronize import Event
from types import TracebackType
from typing import Final, Self, TypeAlias

HOST: Final = "127.0.0.1"
LAST_MOMENT_S: Final = 10.0
STATUS_BYTES: Final = len(b"HTTP/1.1 200")
# Small, so that what is not read stays in the service.
RECEIVE_BUFFER: Final = 4096
FOREIGN_PAGE: Final[Mapping[str, str]] = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}

CONNECTIONS, ANSWERS, REFUSED, BROKEN, BYTES = range(5)
NAMES: Final = ("connections", "answers", "refused", "broken", "bytes")

Counters: TypeAlias = "SynchronizedArray[int]"
Work: TypeAlias = Callable[[Event, Counters], None]


class Attack:
    """Processes that do one thing until they are stopped; start and stop from one thread."""

    def __init__(self, works: Sequence[Work]) -> None:
        """One process for each of `works`, which must be picklable."""
        spawn = multiprocessing.get_context("spawn")
        self._halt = spawn.Event()
        self._counters: list[Counters] = [spawn.Array("q", len(NAMES)) for _ in works]
        self._processes = [
            spawn.Process(target=work, args=(self._halt, counters), daemon=True)
            for work, counters in zip(works, self._counters, strict=True)
        ]

    def start(self) -> Self:
        """Start; return before the processes are up: wait for `counts()` where that matters."""
        for process in self._processes:
            process.start()
        return self

    def stop(self) -> dict[str, int]:
        """End every process and every connection of it; the counts of all."""
        self._halt.set()
        for process in self._processes:
            process.join(LAST_MOMENT_S)
            if process.is_alive():
                process.kill()
                process.join()
        return self.counts()

    def counts(self) -> dict[str, int]:
        """Return the sums over all processes so far.

        `connections` opened, `answers` with status 200 (their beginnings, for slow readers), answers that were `refused` (any
        other status), connections that the service closed or did not take (`broken`), `bytes` read.
        """
        return {name: sum(counters[at] for counters in self._counters) for at, name in enumerate(NAMES)}

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def slow_readers(port: int, n: int, path: str = "/openapi.json", *, bytes_per_s: int = 1) -> Attack:
    """`n` connections in one process that ask for `path` and read `bytes_per_s` of the answer; each that ends is opened again."""
    return Attack([SlowReaders(port, n, path, bytes_per_s)])


def get_loops(
    port: int, paths: Sequence[str], n: int, *, processes: int = 2, headers: Mapping[str, str] | None = None
) -> Attack:
    """`n` connections over `processes` processes, each a GET of the next of `paths` as soon as the last is answered."""
    shares = [n // processes + (at < n % processes) for at in range(processes)]
    return Attack([GetLoops(port, tuple(paths), share, dict(headers or {})) for share in shares if share])


def connection_flood(port: int, *, held: int = 500, begun: bytes = b"GET /version HT") -> Attack:
    """Connections one after the other without a pause; each sends `begun`, the newest `held` stay open."""
    return Attack([Flood(port, held, begun)])


@dataclass(frozen=True, slots=True)
class SlowReaders:
    """Work of one process."""

    port: int
    n: int
    path: str
    bytes_per_s: int

    def __call__(self, halt: Event, counters: Counters) -> None:
        """A round a second: whoever has no connection opens one, all others read a little."""
        readers = [SlowReader(self.port, request(self.path)) for _ in range(self.n)]
        try:
            while not halt.is_set():
                began_s = time.monotonic()
                for reader in readers:
                    if halt.is_set():
                        break
                    reader.turn(self.bytes_per_s, counters)
                halt.wait(max(0.0, 1.0 - (time.monotonic() - began_s)))
        finally:
            for reader in readers:
                reader.close()


@dataclass(slots=True)
class SlowReader:
    """One connection, opened again whenever it has ended."""

    port: int
    asks: bytes
    _socket: socket.socket | None = None
    _status: bytes = b""

    def turn(self, size: int, counters: Counters) -> None:
        """Open and ask, or read the status, or `size` bytes more."""
        missing = STATUS_BYTES - len(self._status)
        try:
            if self._socket is None:
                self._socket = opened(self.port, receive_buffer=RECEIVE_BUFFER)
                self._socket.sendall(self.asks)
                self._socket.setblocking(False)
                self._status = b""
                counters[CONNECTIONS] += 1
                return
            data = self._socket.recv(missing or size)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            counters[BROKEN] += 1
            self.close()
            return
        counters[BYTES] += len(data)
        if missing > 0:
            self._status += data
            if len(self._status) == STATUS_BYTES:
                counters[ANSWERS if self._status.endswith(b" 200") else REFUSED] += 1

    def close(self) -> None:
        """End the connection, if there is one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


@dataclass(frozen=True, slots=True)
class GetLoops:
    """Work of one process."""

    port: int
    paths: tuple[str, ...]
    n: int
    headers: dict[str, str] = field(default_factory=dict[str, str])

    def __call__(self, halt: Event, counters: Counters) -> None:
        """Until halted."""
        asyncio.run(self._all(halt, counters))

    async def _all(self, halt: Event, counters: Counters) -> None:
        loops = [asyncio.create_task(self._loop(at, counters)) for at in range(self.n)]
        await asyncio.to_thread(halt.wait)
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)

    async def _loop(self, first: int, counters: Counters) -> None:
        asks = [request(path, self.headers) for path in self.paths]
        turns = cycle(asks[first % len(asks) :] + asks[: first % len(asks)])
        while True:
            writer = None
            try:
                reader, writer = await asyncio.open_connection(HOST, self.port)
                counters[CONNECTIONS] += 1
                while True:
                    writer.write(next(turns))
                    await self._answer(reader, counters)
            except (OSError, EOFError):
                counters[BROKEN] += 1
                await asyncio.sleep(0.001)
            finally:
                if writer is not None:
                    writer.close()

    async def _answer(self, reader: asyncio.StreamReader, counters: Counters) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        await reader.readexactly(length)
        counters[BYTES] += len(head) + length
        counters[ANSWERS if head[:STATUS_BYTES].endswith(b" 200") else REFUSED] += 1


@dataclass(frozen=True, slots=True)
class Flood:
    """Work of one process."""

    port: int
    held: int
    begun: bytes

    def __call__(self, halt: Event, counters: Counters) -> None:
        """Until halted; a connection that is not taken counts as broken."""
        clients: deque[socket.socket] = deque()
        try:
            while not halt.is_set():
                try:
                    one = opened(self.port)
                except OSError:
                    counters[BROKEN] += 1
                    continue
                clients.append(one)
                counters[CONNECTIONS] += 1
                with suppress(OSError):
                    one.sendall(self.begun)
                if len(clients) > self.held:
                    clients.popleft().close()
        finally:
            for one in clients:
                one.close()


def opened(port: int, *, receive_buffer: int | None = None) -> socket.socket:
    """A blocking connection to a port of this machine; OSError, also after 10 s."""
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if receive_buffer is not None:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        one.settimeout(10)
        one.connect((HOST, port))
    except OSError:
        one.close()
        raise
    return one


def request(path: str, headers: Mapping[str, str] | None = None) -> bytes:
    """A GET, as bytes."""
    lines = [
        f"GET {path} HTTP/1.1",
        "Host: localhost",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"
