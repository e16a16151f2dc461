"""One port of the service on a real socket, its event loop in a thread, over test doubles of actors and loop.

Settings and ledger are the real ones in a folder of the test; devices and sessions are stand-ins.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Self, TypeVar, cast

from tornado.netutil import add_accept_handler

from actors.control.messages import LoopWatch
from actors.device.messages import (
    DeviceIdentity,
    DeviceRecord,
    Inventory,
    Phase,
)
from actors.device.stop_latch import StopLatch
from actors.device.stop_switch import StopSwitch
from actors.device.trips import TripTable
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.clock import Clock
from actors.kit.errors import HapticError
from actors.kit.mailbox import RequestEnvelope, mailbox_of
from actors.kit.published import Published
from actors.port.messages import PortTable
from actors.session import configure
from actors.session.messages import (
    Applied,
    Client,
    ConfigureSession,
    SessionConfig,
    SessionRecord,
    SessionTable,
)
from actors.session.profile import SessionMemory
from actors.settings.ledger import Ledger
from actors.settings.sources import COMMAND_LINE, Override
from actors.settings.state import SettingsState
from actors.settings.state_directory import StateDirectory
from actors.settings.store import SettingsStore
from actors.values.identity import Connection, Firmware, Kind
from fastpath.arena.runtime import Lease, now_ns
from tests.support.service.addresses import PATIENT
from tests.support.wire.session_zero import free_of_zero
from transport.bridge import Bridge
from transport.http.app import HTTP_ROUTES, PortApplication, Upgrade
from transport.http.body_cache import BodyCache
from transport.http.call import Edge
from transport.http.route import RouteTable
from transport.security import AccessPolicy
from transport.session.devices import SessionDevices
from transport.settings_catalog import SETTINGS_CATALOG
from transport.tornado_ext.managed_server import ManagedServer
from transport.wire.device_texts import NOTHING
from transport.wire.vocabulary import Vocabulary

T = TypeVar("T")

TIMEOUT_S = 20.0
SHOWN_AFTER_S = 0.02
TOKEN = "a-token-of-this-test"
BUILD = {"project_name": "hapticd", "project_version": "3.5.3.1", "interface": "3.5.3"}


@dataclass(slots=True)
class FakeRuntime:
    """Says of the loop what the test wants."""

    running: bool = True
    tick_ns: int | None = None
    stopped: dict[str, bool] = field(default_factory=dict[str, bool])
    stepping: bool = False

    def stop_device(self, lease: Lease, stopped: bool) -> bool:
        self.stopped[lease.name] = stopped
        return True

    def loop_state(self) -> dict[str, int]:
        return {"running": int(self.running), "tick_ns": now_ns() if self.tick_ns is None else self.tick_ns}


@dataclass(slots=True)
class FakeChannel:
    """An open session channel."""

    session_id: int
    frames_sent: int = 12
    commands_received: int = 11
    closed: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def devices(self) -> SessionDevices | None:
        return cast("SessionDevices", FakeDevices(self.session_id))

    def disconnect(self, code: int, reason: str) -> None:
        self.closed.append((code, reason))

    @property
    def descriptor(self) -> int:
        return -1

    def hung_up(self) -> None:
        self.closed.append((0, "hung up"))


@dataclass(slots=True)
class FakeDevices:
    """Says whose devices are shown, and how."""

    session_id: int

    def configured(self, config: SessionConfig) -> None:
        """Nothing follows it here."""

    def devices_json(self, vocabulary: Vocabulary, version: str, more: Mapping[str, bytes] = NOTHING) -> bytes:
        del more
        return json.dumps({"seen_by": self.session_id, "words": vocabulary.name, "version": version}).encode()


class FakeSession(ServiceActor):
    """A session's actor: the real rules over a record of the published table, which shows a change a little later."""

    def __init__(self, context: Context, table: Published[SessionTable], session_id: int) -> None:
        super().__init__(f"session/{session_id}", context)
        self.table = table
        self.session_id = session_id

    @handles(ConfigureSession)
    def configure(self, message: ConfigureSession) -> Applied:
        (mine,) = (one for one in self.table.value.sessions if one.session_id == self.session_id)
        applied = configure.apply(
            mine.config, message.changes, configure.ValidationContext(Inventory(), SessionMemory())
        )
        threading.Timer(SHOWN_AFTER_S, self._show, [applied.config]).start()
        return applied

    def _show(self, config: SessionConfig) -> None:
        shown = (
            replace(one, config=config) if one.session_id == self.session_id else one
            for one in self.table.value.sessions
        )
        self.table.replace(SessionTable(tuple(shown)))


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(free_of_zero(self.body))

    @property
    def error(self) -> str:
        """The sentence of an error, whose body has the one shape that errors have."""
        shown = self.json
        assert set(shown) - {"deprecation_warning"} == {"ok", "error", "data"}
        assert (shown["ok"], shown["data"]) == (False, None)
        return str(shown["error"])


class RigServer(ManagedServer):
    """The server of the service without its limits."""

    def accept_on(self, listening: socket.socket) -> Callable[[], None]:
        """Serve each connection at once."""
        return add_accept_handler(listening, self.serve)


class EdgeServer:
    """Context manager; everything inside is running, and nothing runs outside."""

    def __init__(self, folder: StateDirectory, overrides: Mapping[str, Override] | None = None) -> None:
        patient = {key: Override(value, COMMAND_LINE) for key, value in PATIENT.items()}
        self.state = SettingsState.load(folder, SETTINGS_CATALOG, patient | dict(overrides or {}))
        self.ledger = Ledger.load(folder)
        self.context = Context.build(Clock(now_ns))
        self.runtime = FakeRuntime()
        self.inventory = Published(Inventory())
        self.sessions = Published(SessionTable())
        self.ports = Published(PortTable())
        self.loop_watch = Published(LoopWatch())
        self.trips = Published(TripTable())
        system = SimpleNamespace(
            settings=self.state.view,
            ledger=self.ledger,
            context=self.context,
            metrics=self.context.metrics,
            runtime=self.runtime,
            inventory=self.inventory,
            sessions=self.sessions,
            ports=self.ports,
            loop_watch=self.loop_watch,
            trips=self.trips,
            stops=StopSwitch(cast("Any", self.runtime), self.inventory, StopLatch(), self.context.directory.tell),
        )
        self.bridge = Bridge(cast("Any", system))
        self.bridge.listening = True
        self.access = AccessPolicy(self.state.view, TOKEN, lambda: frozenset({"workbench", "workbench.local"}))
        self.edge = Edge(self.bridge, self.access, BUILD, BodyCache(now_ns))
        self.actors: list[Any] = []
        self.port = 0
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._run, name="edge")
        self._servers: list[ManagedServer] = []

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread.start()
        self.start_actor(SettingsStore.start(self.context, self.state, self.ledger))
        self.port = self.serve(HTTP_ROUTES)
        return self

    def __exit__(self, *_exception: object) -> None:
        self.on_loop(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(TIMEOUT_S)
        for ref in reversed(self.actors):
            ref.stop(timeout=TIMEOUT_S)

    # ------------------------------------------------------------ what stands behind the edge

    def start_actor(self, ref: Any) -> None:
        mailbox_of(ref).wait_started(TIMEOUT_S)
        self.actors.append(ref)

    def add_session(self, session_id: int, profile: str = "default", *, channel: bool = True) -> FakeChannel:
        """An open session with its actor and, as a rule, its channel."""
        config = SessionConfig(profile=profile)
        client = Client("127.0.0.1", "3.1")
        record = SessionRecord(session_id, client, "2026-01-01T00:00:00+00:00", config)
        self.sessions.replace(SessionTable((*self.sessions.value.sessions, record)))
        self.start_actor(FakeSession.start(self.context, self.sessions, session_id))
        fake = FakeChannel(session_id)
        if channel:
            self.bridge.channels[session_id] = fake
        return fake

    def add_device(
        self, device_id: str, kind: Kind = Kind.ARM, phase: Phase = Phase.READY, *, simulated: bool = True
    ) -> None:
        identity = DeviceIdentity(
            device_id=device_id,
            kind=kind,
            connection=Connection.SIMULATED if kind.has_motors else Connection.WIRELESS,
            port="sim0",
            simulated=simulated,
            firmware=Firmware(7, 5),
            hardware_version=1,
            uuid="0" * 32,
            number=len(self.inventory.value.devices),
            reach=None,
        )
        record = DeviceRecord(identity, Lease(0, 0, device_id), phase)
        self.inventory.replace(Inventory((*self.inventory.value.devices, record)))

    # ------------------------------------------------------------ the edge

    def serve(self, table: RouteTable, upgrade: Upgrade | None = None) -> int:
        """One more port; its number."""

        async def start() -> int:
            server = RigServer(PortApplication(self.edge, table, upgrade), max_body_size=64 * 1024, body_timeout=2)
            listening = socket.create_server(("127.0.0.1", 0))
            listening.settimeout(0)
            server.add_sockets([listening])
            self._servers.append(server)
            return int(listening.getsockname()[1])

        return self.on_loop(start())

    def on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine on the edge's loop."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result(TIMEOUT_S)

    def call(self, step: Callable[[], T]) -> T:
        """The result of a function called on the edge's thread."""

        async def run() -> T:
            return step()

        return self.on_loop(run())

    # ------------------------------------------------------------ clients

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None, **raw: bytes
    ) -> Reply:
        """One exchange on a connection of its own; `body` is sent as JSON, `raw=` bytes as they are."""
        data = raw.get("raw") if body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, data, dict(headers or {}))
            answer = connection.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        return self.ask("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def connect(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)

    async def _close(self) -> None:
        for server in self._servers:
            server.stop()
            await server.close_all_connections()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()


class FailingActor(ServiceActor):
    """An actor that answers every request with `error` and takes no notice of what it is told."""

    def __init__(self, name: str, context: Context, error: HapticError) -> None:
        super().__init__(name, context)
        self.error = error

    def on_receive(self, message: Any) -> None:
        if isinstance(message, RequestEnvelope):
            message.reply.fail(self.error)


def replace_by_failing(rig: EdgeServer, name: str, error: HapticError) -> None:
    """From now on `name` fails with `error`."""
    rig.start_actor(FailingActor.start(name, rig.context, error))
