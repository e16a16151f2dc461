"""The blocking service object: connect, loop, configure, leave; leaving it, however, means zero force."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Generator, Iterable
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, TypeVar

from hapticd_client import forks
from hapticd_client.core import operations
from hapticd_client.core.address import Address, parse_address
from hapticd_client.core.http import Operation
from hapticd_client.core.pacing import OnLate, Pacer, Turn
from hapticd_client.core.reconnecting import Backoff
from hapticd_client.core.service import ServiceCore
from hapticd_client.core.session import ServiceState
from hapticd_client.core.version import check_interface
from hapticd_client.core.words import FrameVersion, Words
from hapticd_client.device import Device
from hapticd_client.errors import HapticsError, NoService, Refused, ServiceLost, SessionClosed
from hapticd_client.events import Events
from hapticd_client.settings import Settings
from hapticd_client.transports.blocking import BlockingChannel, BlockingLink
from hapticd_client.transports.blocking_http import BlockingHttp
from hapticd_client.transports.local import LocalLink

T = TypeVar("T")
OnReconnect: TypeAlias = Literal["raise"] | Callable[["Service"], object]
TIMEOUT_S: Final = 5.0
RECONNECT_S: Final = 60.0


class Link(Protocol):
    """What a transport does for a service object."""

    @property
    def usable(self) -> bool:
        """Whether the connection is whole."""
        ...

    def turn(self) -> None:
        """Take the newest states."""
        ...

    def act(self) -> None:
        """Put what was assigned in force, and release what was not assigned again."""
        ...

    def release(self) -> None:
        """Release everything, if the connection is whole."""
        ...

    def close(self) -> None:
        """Release everything and close the connection."""
        ...

    def drop(self) -> None:
        """Close the connection without a word."""
        ...


class Service(ServiceCore[Device]):
    """A connected service, for one thread. Use it as a context manager: its block's end, however it comes, means zero force."""

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
        """Connect; `connect` says what each argument means."""
        self._link: Link | None = None
        self._process = os.getpid()
        self._http = BlockingHttp(address, token, timeout)
        http = self._http
        super().__init__(lambda kind, name: Device(kind, name, http), strict=strict, expect_instance=expect_instance)
        self._address, self._token, self._timeout = address, token, timeout
        self._words: Words = words
        self._version = version
        self._on_reconnect, self._reconnect_s = on_reconnect, reconnect_timeout
        self._session.profile = profile
        self._listeners: list[tuple[Events, Callable[[Any], object]]] = []
        self._link = self._opened()

    # ------------------------------------------------------------ turns

    def loop(
        self,
        rate: float = 1000.0,
        budget: float | None = None,
        on_late: OnLate = "skip",
        max_force: float | None = None,
        stop_after_misses: int | None = None,
        seconds: float | None = None,
    ) -> Generator[Turn]:
        """Yield turns at `rate` per second, each with new states; what its body assigns is sent as soon as the body has ended.

        `budget`: s that a body may take, one period unless given; a longer one is a miss. `on_late`: "skip" leaves out the turns that
        were due meanwhile, "raise" raises LateTurn. `max_force`: N, longer forces are shortened. `stop_after_misses`: LoopTooSlow
        after so many misses in a row. `seconds`: ends after that time, None: with the block. A body that takes longer than
        `sessions/command_timeout` gets its set-points dropped: they answer to a state that is old.

        Raises FrameErrors (`strict`), DeviceGone, ServiceLost and its kinds; forces are zero then.
        """
        if self._is_closed():
            raise self._closed()
        pacer = self._begin_loop(rate, budget, on_late, max_force, stop_after_misses, seconds)
        clock = time.perf_counter
        try:
            while True:
                while (wait := pacer.wait(clock())) > 0:
                    time.sleep(wait)
                if self._is_closed():
                    return
                began = clock()
                turn = pacer.begin(began, withheld=self.withheld)
                if seconds is not None and turn.time >= seconds:
                    return
                if not self._fresh(pacer, began):
                    continue
                yield turn
                if not self._acted(pacer):
                    return
        finally:
            self._ended(pacer)

    def update(self) -> None:
        """Send what was assigned now, and take new states: one turn without pacing. FrameErrors, DeviceGone, ServiceLost."""
        try:
            self._usable().act()
            self._usable().turn()
            self._session.check()
        except ServiceLost:
            self._lose()
            raise
        except BaseException:
            self._release()
            raise
        if self._listeners:
            self._deliver()

    def reconnect(self) -> None:
        """Connect again as the same session after ServiceLost; forces stay zero until `resume`. NoService, Refused, WrongInstance."""
        if self.status is ServiceState.CLOSED:
            raise self._closed()
        self._lose()
        self._link = self._opened()

    def _fresh(self, pacer: Pacer, began: float) -> bool:
        """Take new states; return False when the service had gone, and the next turn has to begin anew."""
        try:
            self._usable().turn()
        except ServiceLost as lost:
            self._come_back(pacer, lost)
            return False
        pacer.answered(began, time.perf_counter())
        self._session.check()
        if self._listeners:
            self._deliver()
        return True

    def _acted(self, pacer: Pacer) -> bool:
        """Send what the body of a turn assigned, unless it is stale; return False when the body has closed the service."""
        self._lead(pacer)
        if not pacer.end(time.perf_counter()):
            self._session.drop()
        if self._is_closed():
            return False
        try:
            self._usable().act()
        except ServiceLost as lost:
            self._come_back(pacer, lost)
        return True

    def _is_closed(self) -> bool:
        return self._session.state is ServiceState.CLOSED

    def _come_back(self, pacer: Pacer, lost: ServiceLost) -> None:
        """Handle ServiceLost in a loop: raise it, or wait for the service, as `on_reconnect` says."""
        self._lose()
        handler = self._on_reconnect
        if not callable(handler):
            raise lost
        backoff = Backoff(self._reconnect_s, time.monotonic())
        while True:
            try:
                self._link = self._opened()
                break
            except (NoService, ServiceLost, Refused) as error:
                if isinstance(error, Refused) and error.status != 503:
                    raise
                pause = backoff.pause(time.monotonic())
                if pause is None:
                    raise
                time.sleep(pause)
        pacer.forget()
        handler(self)

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

    def _opened(self) -> Link:
        """Return a link to the service, checked: instance and version."""
        session, address = self._session, self._address
        if address.local is not None:
            seat = LocalLink(session, address.local, self._http, self._timeout, self._check_instance)
            self._http.be_of(session.instance)
            return seat
        query: dict[str, str] = {
            "version": self._version,
            "vocabulary": "neutral" if self._words == "auto" else self._words,
        }
        if session.session_id:
            query["session_id"] = str(session.session_id)
        channel = BlockingChannel(address, query, self._token, self._timeout)
        try:
            self._check_instance(channel.instance)
            self._ask_service()
            opened = BlockingLink(session, channel, self._words)
        except BaseException:
            channel.drop()
            raise
        session.opened(session.session_id, channel.instance)
        return opened

    def _ask_service(self) -> None:
        """Check the service's version and read its time-out of commands. WrongVersion."""
        check_interface(self._http.run(operations.version()), str(self._address))
        self._session.command_timeout_s = float(self._http.run(operations.effective("sessions/command_timeout")))

    # ------------------------------------------------------------ end

    def close(self) -> None:
        """Release every force, say goodbye to the service and close the connection; a second call does nothing."""
        if self.status is ServiceState.CLOSED or os.getpid() != self._process:
            return
        self._session.state = ServiceState.CLOSED
        self._session.drop()
        link, self._link = self._link, None
        try:
            if link is not None:
                link.close()
        finally:
            for events, _ in self._listeners:
                events.close()
            self._listeners.clear()

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __del__(self) -> None:
        """Close an object that nobody refers to any more: no force outlives it."""
        link = getattr(self, "_link", None)
        if link is not None and os.getpid() == self._process:
            self._link = None
            link.drop()
            warnings.warn(
                "a service object was not closed: use `with haptics.connect() as service`",
                ResourceWarning,
                stacklevel=2,
            )

    # ------------------------------------------------------------ over HTTP; milliseconds each

    def _run(self, operation: Operation[T]) -> T:
        return self._http.run(operation)

    @property
    def settings(self) -> Settings:
        """Settings of the service by key, checked against their ranges."""
        return Settings(self._http)

    def stop(self) -> None:
        """Stop every device of the service, whoever commands it, until `release`. Refused, NoService."""
        self._run(operations.stop())

    def release(self) -> None:
        """End the stop of everything. Refused, NoService."""
        self._run(operations.release())

    @property
    def stopped(self) -> bool:
        """Whether any device is stopped. Refused, NoService."""
        return self._run(operations.stopped())

    @property
    def version(self) -> dict[str, Any]:
        """The answer of `GET /version`. NoService."""
        return self._run(operations.version())

    def step(self, ticks: int = 1) -> float:
        """Send what was assigned, let the loop tick where time stands still, and take new states: a turn of such a service.

        `ticks`: 1 to 32000. Returns s since the service's start. Refused where the loop runs by itself; else as `update`.
        """
        self.update()
        try:
            seconds = self._run(operations.step(ticks))
            self._usable().turn()
        except BaseException:
            self._release()
            raise
        self._session.check()
        return seconds

    def add_simulated(self, kind: str, device_id: str | None = None) -> str:
        """Simulate one more device and return its id; it is in `devices` from a turn on that sees it. Refused."""
        return self._run(operations.add_simulated(kind, device_id))

    def remove_simulated(self, device_id: str) -> None:
        """Simulate a device no longer. Refused."""
        self._run(operations.remove_simulated(device_id))

    def ports(self) -> list[dict[str, Any]]:
        """Return the ports of devices with their states, as docs/http.md describes them. Refused, NoService."""
        return self._run(operations.ports())

    def reset_port(self, port: str) -> dict[str, Any]:
        """Unblock a port and return its record. Refused, NoService."""
        return self._run(operations.reset_port(port))

    # ------------------------------------------------------------ events

    def events(
        self,
        kinds: Iterable[str] | None = None,
        level: str | None = None,
        since: datetime | str | None = None,
    ) -> Events:
        """Connect to the event channel and return its events, an iterator and context manager. NoService, Refused.

        `kinds`: names such as `device-connected`; `level`: the lowest, such as `warning`; `since`: replay from that time.
        """
        address = self._address.at_port(self._run(operations.events_port()))
        return Events(address, self._token, self._timeout, kinds, level, since)

    def on_event(
        self,
        callback: Callable[[Any], object],
        kinds: Iterable[str] | None = None,
        level: str | None = None,
        since: datetime | str | None = None,
    ) -> None:
        """Have `callback` called with each Event, in this thread, by the turns of `loop` and by `update`. NoService, Refused."""
        self._listeners.append((self.events(kinds, level, since), callback))

    def _deliver(self) -> None:
        for events, callback in list(self._listeners):
            for event in events.waiting():
                callback(event)


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
    """Connect to a service and return it; use it in a `with` block.

    `url`: `ws://HOST:PORT`, or `local:STATE_DIR` for shared memory (`local:` alone: the usual state directory); None: HAPTICD_URL, else
    this machine's service. `http`: HTTP address beside a local one. `profile`: name of this program at the service. `words`: vocabulary of
    the frames, `auto` takes either; `version`: of the frames. `on_reconnect`: "raise" raises ServiceLost in a loop when the service
    goes; a callable: the loop waits up to `reconnect_timeout` s for it, connects as the same session and calls it with the service
    object; either way forces stay zero until `resume()`. `expect_instance`: the only running service that will do, as `instance`
    showed it. `strict`: faults of frames are raised as FrameErrors, else kept in `faults`. `token`: bearer token of a service on
    another machine, None: HAPTICD_TOKEN. `timeout`: s for connecting and for each answer.

    Raises NoService, Refused, WrongInstance, WrongVersion, WrongWords, NotSupported; ValueError for what is no address.
    """
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
