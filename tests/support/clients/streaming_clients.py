"""Many clients that stream forces over WebSockets on one thread; each checks that every message got one frame."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.support.service.polling import eventually
from tests.support.wire.session_zero import free_of_zero

Frame = Mapping[str, Any]

TIMEOUT_S = 30.0
LOST = 1006
FULL_EVERY = 16
FULL: Frame = {"session": {"force_render_full_state": {}}}
GROUPS = ("arm", "compact", "grip", "pen")


class StreamingClient:
    """One connection; it repeats its force after each frame, and asks for a full frame every FULL_EVERY messages."""

    def __init__(self, url: str, force: float) -> None:
        self.url = url
        self.force = force
        self.session_id = 0
        self.first: Frame = {}
        self.frame: Frame = {}
        self.frames = 0
        self.failure: BaseException | None = None
        self.opened = threading.Event()
        self.ended = threading.Event()
        self._code: int | None = None
        self._code_wanted = False
        self._leaves = False
        self._wishes: SimpleQueue[tuple[Frame, Future[Frame]]] = SimpleQueue()

    # ------------------------------------------------------------ for the test

    def ask(self, message: Frame) -> Frame:
        """Send `message` between two forces; its reply."""
        future: Future[Frame] = Future()
        self._wishes.put((message, future))
        eventually(lambda: future.done() or self.ended.is_set(), "the message was answered", pause_s=0.005, tries=6_000)
        assert future.done(), f"session {self.session_id} ended first: {self.failure or self._code}"
        return future.result()

    def full(self) -> Frame:
        """A full frame."""
        return self.ask(FULL)

    def arm(self) -> Mapping[str, Any]:
        """The arm as a full frame shows it."""
        (entry,) = self.full()["arm"]
        return dict(entry)

    def configure(self, **areas: object) -> Frame:
        """Configure the arm; the reply."""
        return self.ask({"arm": [{"device_id": self.first["arm"][0]["device_id"], "configure": areas}]})

    def leave(self) -> None:
        """Close the connection normally."""
        self._leaves = True
        assert self.ended.wait(TIMEOUT_S)

    def close_code(self) -> int:
        """Wait for the end; return the close code of the service, 1006 for none."""
        self._code_wanted = True
        assert self.ended.wait(TIMEOUT_S), "the connection is still open"
        assert self._code is not None, f"it ended otherwise: {self.failure!r}"
        return self._code

    def check(self) -> None:
        """AssertionError when a frame was wrong or the connection ended unexpectedly."""
        if self.failure is not None:
            raise AssertionError(f"session {self.session_id} failed") from self.failure
        assert self._code is None or self._code_wanted, f"session {self.session_id} was closed with {self._code}"

    # ------------------------------------------------------------ on the clients' thread

    async def run(self) -> None:
        try:
            async with connect(
                self.url, compression=None, ping_interval=None, proxy=None, max_size=None, open_timeout=TIMEOUT_S
            ) as channel:
                await self._stream(channel)
        except ConnectionClosed as closed:
            self._code = LOST if closed.rcvd is None else closed.rcvd.code
        except InvalidStatus as refused:
            self.failure = AssertionError(f"{refused}: {refused.response.body!r}")
        except BaseException as error:  # noqa: BLE001 - the test's thread raises it
            self.failure = error
        finally:
            self.opened.set()
            self.ended.set()

    async def _stream(self, channel: ClientConnection) -> None:
        self.first = self.frame = json.loads(free_of_zero(await channel.recv()))
        assert is_full(self.first)
        self.session_id = self.first["session_id"]
        self.opened.set()
        while not self._leaves:
            message, future = self._next()
            reply = await self._exchange(channel, message)
            if future is not None:
                future.set_result(reply)
        # Were a frame left over, this would get that one.
        assert is_full(await self._exchange(channel, FULL))

    def _next(self) -> tuple[Frame, Future[Frame] | None]:
        try:
            return self._wishes.get_nowait()
        except Empty:
            return (FULL if self.frames % FULL_EVERY == 0 else self._push(), None)

    def _push(self) -> Frame:
        vector = {"x": 0.0, "y": 0.0, "z": self.force}
        entries = [
            {"device_id": arm["device_id"], "commands": {"set_cursor_force": {"vector": vector}}}
            for arm in self.first["arm"]
        ]
        return {"arm": entries}

    async def _exchange(self, channel: ClientConnection, message: Frame) -> Frame:
        await channel.send(json.dumps(message))
        self.frame = frame = json.loads(free_of_zero(await channel.recv()))
        assert frame["session_id"] == self.session_id
        assert is_full(frame) == wants_full(message), f"{message} was answered with {frame}"
        self.frames += 1
        return dict(frame)


class StreamingClients:
    """Context manager: `count` clients stream inside; on leaving, each had one frame for each message and an open connection."""

    def __init__(self, url: str, count: int, force: float = 0.1) -> None:
        """Each pushes upwards with `force` N."""
        self.clients = [StreamingClient(url, force) for _ in range(count)]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="clients")

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            for client in self.clients:
                self._add(client)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        if kind is None:
            for client in self.clients:
                client.check()

    def join(self, url: str) -> StreamingClient:
        """One more client."""
        client = StreamingClient(url, self.clients[0].force if self.clients else 0.0)
        self.clients.append(client)
        self._add(client)
        return client

    def wait_frames(self, count: int) -> None:
        """Return when every client that is still connected has had that many more frames."""
        there = [client for client in self.clients if not client.ended.is_set()]
        goals = [(client, client.frames + count) for client in there]

        def passed() -> bool:
            for client in self.clients:
                client.check()
            return all(client.frames >= goal for client, goal in goals)

        eventually(passed, f"{count} more frames for each", pause_s=0.005, tries=12_000)

    @property
    def session_ids(self) -> list[int]:
        """Return the session ids of all clients, in order."""
        return [client.session_id for client in self.clients]

    def _add(self, client: StreamingClient) -> None:
        asyncio.run_coroutine_threadsafe(client.run(), self._loop)
        assert client.opened.wait(TIMEOUT_S), "no first frame"
        client.check()

    def _end(self) -> None:
        for client in self.clients:
            client._leaves = True
        for client in self.clients:
            client.ended.wait(TIMEOUT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(TIMEOUT_S)
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()


def is_full(frame: Frame) -> bool:
    """Whether every device shows its configuration; a frame that shows it of some is none of ours."""
    shown = {"config" in entry for group in GROUPS for entry in frame[group]}
    assert len(shown) <= 1, f"some devices have config and some have not: {frame}"
    return shown != {False}


def wants_full(message: Frame) -> bool:
    """Return whether a message requests a full frame."""
    return "force_render_full_state" in message.get("session", {})
