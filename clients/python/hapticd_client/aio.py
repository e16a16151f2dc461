"""The asyncio twin: the same names, `await` and `async` where a blocking service object waits."""

from __future__ import annotations

import asyncio
import os
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, TypeVar

from hapticd_client import forks
from hapticd_client.aio_device import Device
from hapticd_client.aio_events import Events
from hapticd_client.aio_settings import Settings
from hapticd_client.core import operations
from hapticd_client.core.address import Address, parse_address
from hapticd_client.core.http import Operation
from hapticd_client.core.pacing import OnLate, Pacer, Turn
from hapticd_client.core.reconnecting import Backoff
from hapticd_client.core.service import ServiceCore
from hapticd_client.core.session import ServiceState
from hapticd_client.core.version import check_interface
from hapticd_client.core.words import FrameVersion, Words
from hapticd_client.errors import HapticsError, NoService, Refused, ServiceLost, SessionClosed
from hapticd_client.transports.streams import AsyncHttp, AsyncLocalLink, StreamChannel, StreamLink
from hapticd_client.transports.timer import Timer

T = TypeVar("T")
OnReconnect: TypeAlias = Literal["raise"] | Callable[["Service"], object]
TIMEOUT_S: Final = 5.0
RECONNECT_S: Final = 60.0

__all__ = ["Device", "Events", "Service", "Settings", "connect"]


class Link(Protocol):
    """What a transport does for a service object."""

    async def turn(self) -> None:
        """Take the newest states."""
        ...

    async def act(self) -> None:
        """Put what was assigned in force, and release what was not assigned again."""
        ...

    def release(self) -> None:
        """Release everything, if the connection is whole."""
        ...

    async def close(self) -> None:
        """Release everything and close the connection."""
        ...

    def drop(self) -> None:
        """Close the connection without a word."""
        ...


class Turns(AsyncIterator[Turn]):
    """Turns of a loop; forces are released when nobody iterates any more, which an async generator is told much later."""

    def __init__(self, turns: AsyncIterator[Turn], release: Callable[[], None]) -> None:
        self._turns = turns
        self._release = release

    async def __anext__(self) -> Turn:
        """Return the next turn."""
        return await anext(self._turns)

    def __del__(self) -> None:
        """Release what the last turn put in force."""
        self._release()


class Service(ServiceCore[Device]):
    """A service, for one event loop. The end of its `async with` block, however it comes, means zero force."""

    def __init__(
        self,
        address: Address,
        *,
        token: str | None,
        profile: str | None,
        words: Words,
        version: FrameVersion,
        strict: bool,
        timeout: float,
        on_reconnect: OnReconnect,
        reconnect_timeout: float,
        expect_instance: str | None,
    ) -> None:
        """Connected by `async with` or `await`; `connect` says what each argument means."""
        self._link: Link | None = None
        self._process = os.getpid()
        self._http = AsyncHttp(address, token, timeout)
        http = self._http
        super().__init__(lambda kind, name: Device(kind, name, http), strict=strict, expect_instance=expect_instance)
        self._address, self._token, self._timeout = address, token, timeout
        self._words: Words = words
        self._version = version
        self._on_reconnect, self._reconnect_s = on_reconnect, reconnect_timeout
        self._session.profile = profile
        self._listeners: list[tuple[Events, Callable[[Any], object]]] = []

    async def __aenter__(self) -> Self:
        """Connect. NoService, Refused, WrongInstance, WrongVersion, WrongWords."""
        if self._link is None and self.status is not ServiceState.CLOSED:
            self._link = await self._opened()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self.close()

    def __await__(self) -> Generator[Any, None, Self]:
        """Connect, as `async with` does; `close` is the caller's then."""
        return self.__aenter__().__await__()

    # ------------------------------------------------------------ turns

    def loop(
        self,
        rate: float = 1000.0,
        budget: float | None = None,
        on_late: OnLate = "skip",
        max_force: float | None = None,
        stop_after_misses: int | None = None,
        seconds: float | None = None,
    ) -> Turns:
        """Yield turns as the blocking `loop` does, with `async for`."""
        if self._is_closed():
            raise self._closed()
        pacer = self._begin_loop(rate, budget, on_late, max_force, stop_after_misses, seconds)
        return Turns(self._turns(pacer, seconds), lambda: self._ended(pacer))

    async def _turns(self, pacer: Pacer, seconds: float | None) -> AsyncIterator[Turn]:
        clock = time.perf_counter
        timer = Timer()
        try:
            while True:
                while (wait := pacer.wait(clock())) > 0:
                    await timer.sleep(wait)
                if self._is_closed():
                    break
                began = clock()
                turn = pacer.begin(began, withheld=self.withheld)
                if seconds is not None and turn.time >= seconds:
                    break
                if not await self._fresh(pacer, began):
                    continue
                yield turn
                if not await self._acted(pacer):
                    break
        finally:
            self._ended(pacer)
            timer.close()

    async def update(self) -> None:
        """Send what was assigned now, and take new states: one turn without pacing. FrameErrors, DeviceGone, ServiceLost."""
        try:
            await self._usable().act()
            await self._usable().turn()
            self._session.check()
        except ServiceLost:
            self._lose()
            raise
        except BaseException:
            self._release()
            raise
        if self._listeners:
            await self._deliver()

    async def reconnect(self) -> None:
        """Connect again as the same session after ServiceLost; forces stay zero until `resume`. NoService, Refused, WrongInstance."""
        if self.status is ServiceState.CLOSED:
            raise self._closed()
        self._lose()
        self._link = await self._opened()

    async def _fresh(self, pacer: Pacer, began: float) -> bool:
        """Take new states; return False when the service had gone, and the next turn has to begin anew."""
        try:
            await self._usable().turn()
        except ServiceLost as lost:
            await self._come_back(pacer, lost)
            return False
        pacer.answered(began, time.perf_counter())
        self._session.check()
        if self._listeners:
            await self._deliver()
        return True

    async def _acted(self, pacer: Pacer) -> bool:
        """Send what the body of a turn assigned, unless it is stale; return False when the body has closed the service."""
        self._lead(pacer)
        if not pacer.end(time.perf_counter()):
            self._session.drop()
        if self._is_closed():
            return False
        try:
            await self._usable().act()
        except ServiceLost as lost:
            await self._come_back(pacer, lost)
        return True

    def _is_closed(self) -> bool:
        return self._session.state is ServiceState.CLOSED

    async def _come_back(self, pacer: Pacer, lost: ServiceLost) -> None:
        """Handle ServiceLost in a loop: raise it, or wait for the service, as `on_reconnect` says."""
        self._lose()
        handler = self._on_reconnect
        if not callable(handler):
            raise lost
        backoff = Backoff(self._reconnect_s, time.monotonic())
        while True:
            try:
                self._link = await self._opened()
                break
            except (NoService, ServiceLost, Refused) as error:
                if isinstance(error, Refused) and error.status != 503:
                    raise
                pause = backoff.pause(time.monotonic())
                if pause is None:
                    raise
                await asyncio.sleep(pause)
        pacer.forget()
        answer = handler(self)
        if isinstance(answer, Awaitable):
            await answer

    def _lose(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.drop()
        self._session.lost()

    def _usable(self) -> Link:
        link = self._link
        if link is None or os.getpid() != self._process:
            raise self._closed()
        return link

    def _closed(self) -> HapticsError:
        if os.getpid() != self._process:
            return forks.forked()
        if self.status is ServiceState.LOST:
            return ServiceLost("the connection has ended; forces are zero: reconnect(), then resume()")
        return SessionClosed("this service object is closed: connect again")

    def _ended(self, pacer: Pacer) -> None:
        """End a loop."""
        if self._ends(pacer):
            self._release()

    def _release(self) -> None:
        self._session.drop()
        link = self._link
        if link is not None and os.getpid() == self._process:
            try:
                link.release()
            except ServiceLost:
                self._lose()

    async def _opened(self) -> Link:
        """Return a link to the service, checked: instance and version."""
        session, address = self._session, self._address
        if address.local is not None:
            seat = AsyncLocalLink(session, address.local, self._http, self._timeout, self._check_instance)
            self._http.be_of(session.instance)
            return seat
        query: dict[str, str] = {
            "version": self._version,
            "vocabulary": "neutral" if self._words == "auto" else self._words,
        }
        if session.session_id:
            query["session_id"] = str(session.session_id)
        channel = await StreamChannel.opened(address, query, self._token, self._timeout)
        try:
            self._check_instance(channel.instance)
            check_interface(await self._http.run(operations.version()), str(address))
            session.command_timeout_s = float(await self._http.run(operations.effective("sessions/command_timeout")))
            link = StreamLink(session, channel, self._words)
            await link.begin()
        except BaseException:
            channel.drop()
            raise
        session.opened(session.session_id, channel.instance)
        return link

    # ------------------------------------------------------------ end

    async def close(self) -> None:
        """Release every force, say goodbye to the service and close the connection; a second call does nothing."""
        if self.status is ServiceState.CLOSED or os.getpid() != self._process:
            return
        self._session.state = ServiceState.CLOSED
        self._session.drop()
        link, self._link = self._link, None
        try:
            if link is not None:
                await link.close()
        finally:
            if link is not None:
                link.drop()
            for events, _ in self._listeners:
                events.drop()
            self._listeners.clear()

    def __del__(self) -> None:
        """Close an object that nobody refers to any more: no force outlives it."""
        link = getattr(self, "_link", None)
        if link is not None and os.getpid() == self._process:
            self._link = None
            link.drop()
            warnings.warn(
                "a service object was not closed: use `async with haptics.aio.connect()`", ResourceWarning, stacklevel=2
            )

    # ------------------------------------------------------------ over HTTP

    async def _run(self, operation: Operation[T]) -> T:
        return await self._http.run(operation)

    @property
    def settings(self) -> Settings:
        """Settings of the service by key, checked against their ranges."""
        return Settings(self._http)

    async def stop(self) -> None:
        """Stop every device of the service, whoever commands it, until `release`. Refused, NoService."""
        await self._run(operations.stop())

    async def release(self) -> None:
        """End the stop of everything. Refused, NoService."""
        await self._run(operations.release())

    async def stopped(self) -> bool:
        """Return whether any device is stopped. Refused, NoService."""
        return await self._run(operations.stopped())

    async def version(self) -> dict[str, Any]:
        """Return the answer of `GET /version`. NoService."""
        return await self._run(operations.version())

    async def step(self, ticks: int = 1) -> float:
        """Send what was assigned, let the loop tick, and take new states, as the blocking `step` does. Refused."""
        await self.update()
        try:
            seconds = await self._run(operations.step(ticks))
            await self._usable().turn()
        except BaseException:
            self._release()
            raise
        self._session.check()
        return seconds

    async def add_simulated(self, kind: str, device_id: str | None = None) -> str:
        """Simulate one more device and return its id; it is in `devices` from a turn on that sees it. Refused."""
        return await self._run(operations.add_simulated(kind, device_id))

    async def remove_simulated(self, device_id: str) -> None:
        """Simulate a device no longer. Refused."""
        await self._run(operations.remove_simulated(device_id))

    async def ports(self) -> list[dict[str, Any]]:
        """Return the ports of devices with their states. Refused, NoService."""
        return await self._run(operations.ports())

    async def reset_port(self, port: str) -> dict[str, Any]:
        """Unblock a port and return its record. Refused, NoService."""
        return await self._run(operations.reset_port(port))

    # ------------------------------------------------------------ events

    async def events(
        self,
        kinds: Iterable[str] | None = None,
        level: str | None = None,
        since: datetime | str | None = None,
    ) -> Events:
        """Connect to the event channel and return its events: `async for event in await service.events()`. NoService, Refused."""
        address = self._address.at_port(await self._run(operations.events_port()))
        return await Events.opened(address, self._token, self._timeout, kinds, level, since)

    async def on_event(
        self,
        callback: Callable[[Any], object],
        kinds: Iterable[str] | None = None,
        level: str | None = None,
        since: datetime | str | None = None,
    ) -> None:
        """Have `callback` called with each Event by the turns of `loop` and by `update`; what it returns is awaited if it can be."""
        self._listeners.append((await self.events(kinds, level, since), callback))

    async def _deliver(self) -> None:
        for events, callback in list(self._listeners):
            for event in events.waiting():
                answer = callback(event)
                if isinstance(answer, Awaitable):
                    await answer


def connect(
    url: str | None = None,
    *,
    profile: str | None = None,
    words: Words = "auto",
    version: FrameVersion = "3.1",
    on_reconnect: OnReconnect = "raise",
    reconnect_timeout: float = RECONNECT_S,
    expect_instance: str | None = None,
    strict: bool = True,
    token: str | None = None,
    timeout: float = TIMEOUT_S,
    http: str | None = None,
) -> Service:
    """Return a service object that `async with` connects; arguments as of `hapticd_client.connect`. ValueError for what is no address."""
    return Service(
        parse_address(url, http),
        token=token if token is not None else os.environ.get("HAPTICD_TOKEN"),
        profile=profile,
        words=words,
        version=version,
        strict=strict,
        timeout=timeout,
        on_reconnect=on_reconnect,
        reconnect_timeout=reconnect_timeout,
        expect_instance=expect_instance,
    )
