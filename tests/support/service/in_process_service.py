"""The whole service inside the test's process, behind real sockets, with a loop thread or a stepped loop.

With `stepping` time stands still between steps: commands age and timed messages fall due only by `step` and `wait`.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from unittest.mock import patch

from actors.control.cores import Cores
from actors.device.messages import DeviceRecord, Phase, SimulatedSpec
from actors.modules.registry import ModuleRegistry
from actors.settings.ledger import Ledger
from actors.settings.sources import read_overrides
from actors.settings.state import SettingsState
from actors.settings.state_directory import StateDirectory
from actors.system import MakeLinks, System
from actors.values.identity import Connection, Kind
from tests.support.service.addresses import FREE_PORTS, PATIENT, STREAMING, Addresses, WithAddresses, parse_ready
from tests.support.service.polling import eventually
from tests.support.service.timeouts import long_silence_limits, long_timeouts
from transport.bridge import Bridge
from transport.limits import EdgeLimits
from transport.listeners import Listeners
from transport.local.server import LocalServer
from transport.settings_catalog import SETTINGS_CATALOG
from transport.ws.native import native_streams
from transport.ws.session import MOST_UNSENT_BYTES, SessionChannel

T = TypeVar("T")

TIMEOUT_S: Final = 60.0
SETTLED_S: Final = 0.35
BUILD: Final = {
    "project_name": "hapticd",
    "project_version": "3.5.3.1",
    "interface": "3.5.3",
    "build_time": "2026-01-01T00:00:00+00:00",
    "git_hash": "0" * 40,
    "git_branch": "main",
    "git_tag": "",
    "git_describe": "0000000",
}
ARM_AND_GRIP: Final = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A001"),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, "B001"),
)


class InProcessService(WithAddresses):
    """Context manager: everything answers inside, and every thread has ended behind."""

    def __init__(
        self,
        folder: Path,
        *,
        simulated: tuple[SimulatedSpec, ...] | None = ARM_AND_GRIP,
        settings: Mapping[str, object] | None = None,
        stepping: bool = False,
        settled: bool = True,
        chain: bool = False,
        limits: EdgeLimits | None = None,
        modules: ModuleRegistry | None = None,
        links: MakeLinks | None = None,
        local: bool = False,
    ) -> None:
        """`settings` hold for this start, on free ports; without `settled` a stepped service stands still before its first tick.

        Stepped, forces are there at the next tick, neither filtered nor slewed, unless the whole `chain` is wanted. `local`: with the socket of
        local clients; the path of `folder` is short then.
        """
        self._directory = StateDirectory(folder)
        self._simulated = simulated
        unfiltered = {} if chain or not stepping else {"filters/oscillation/enabled": "false"}
        time = {"simulation/stepped": "true"} if stepping else {}
        self._chosen = {**FREE_PORTS, **STREAMING, **PATIENT, **time, **unfiltered, **(settings or {})}
        self._stepping = stepping
        self._settled = settled
        self._bare = stepping and not chain
        self._limits = limits
        self._modules = modules
        self._links = links
        self._with_local = local
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="edge", daemon=True)
        self._cleanup = ExitStack()
        self.fatal: list[str] = []

    def __enter__(self) -> Self:
        with ExitStack() as cleanup:
            cleanup.enter_context(self._directory)
            cleanup.enter_context(long_timeouts())
            if self._links is not None and not self._stepping:
                cleanup.enter_context(long_silence_limits())
            if self._bare:
                for limit in ("SLEW_N_S", "SLOW_SLEW_N_S"):
                    cleanup.enter_context(patch(f"actors.device.params.{limit}", 0.0))
            cleanup.callback(self._loop.close)
            overrides = read_overrides(SETTINGS_CATALOG, [f"{key}={value}" for key, value in self._chosen.items()])
            state = SettingsState.load(self._directory, SETTINGS_CATALOG, overrides)
            ledger = Ledger.load(self._directory)
            self.system = System(
                state,
                ledger,
                lambda name, _error: self.fatal.append(name),
                cores=Cores(None, frozenset()),
                simulated=self._simulated,
                realtime=False,
                links=self._links,
            )
            self.runtime = self.system.runtime
            cleanup.callback(self.system.stop)
            self._thread.start()
            cleanup.callback(self._end_loop)
            self._addresses = self.on_edge(self._open)
            cleanup.callback(self._close)
            self.system.start()
            self.bridge.listening = True
            if self._settled:
                self.settle()
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cleanup.close()
        if kind is None:
            assert self.fatal == []

    @property
    def token(self) -> str:
        """The bearer token."""
        return self._directory.token()

    # ------------------------------------------------------------ time

    def step(self, ticks: int = 1) -> None:
        """Step a stepped loop by some ticks."""
        self.runtime.step(ticks)

    def wait(self, seconds: float) -> None:
        """Step by the number of ticks in `seconds`."""
        self.step(round(seconds * float(self.runtime.loop_state()["target_frequency"])))

    def settle(self) -> None:
        """Wait until every device is ready."""

        def ready() -> bool:
            inventory = self.system.inventory.value
            devices = [one for one in inventory.devices if one.identity.simulated]
            if self._stepping:
                self.wait(0.01)
            wanted = len(devices) == len(self._simulated) if self._simulated is not None else not inventory.choosing
            return wanted and all(one.phase is Phase.READY for one in devices)

        if self._stepping:
            eventually(self._has_its_rate, "the loop has its rate")
        eventually(ready, "every device is ready", tries=6000, pause_s=0.005)
        if self._stepping:
            self.wait(SETTLED_S)

    def state(self, device_id: str) -> Any:
        """Return the loop's state of a device, in device space."""
        return self.runtime.reader(self.device(device_id).lease).snapshot()

    def device(self, device_id: str) -> DeviceRecord:
        """A device's record in the inventory."""
        return self.system.inventory.value.get(device_id)

    # ------------------------------------------------------------ the edge's thread

    def on_edge(self, act: Callable[[], T]) -> T:
        """The result of a call on the thread that serves all sockets."""
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(act())
            except BaseException as error:  # noqa: BLE001 - handed to the thread that asked
                done.set_exception(error)

        self._loop.call_soon_threadsafe(run)
        return done.result(TIMEOUT_S)

    def await_edge(self, act: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that runs on the thread that serves all sockets."""
        return asyncio.run_coroutine_threadsafe(act, self._loop).result(TIMEOUT_S)

    def shrink_send_buffer(self, session_id: int) -> None:
        """Shrink the send buffer of a session to a few frames, so that an unread backlog shows soon."""

        def shrink() -> None:
            channel: Any = self.bridge.channels[session_id]
            channel.ws_connection.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)

        self.on_edge(shrink)

    def is_backlogged(self, session_id: int) -> bool:
        """Return whether the unread backlog of a session keeps the service from reading it for a hundred event loop turns."""
        channel: Any = self.bridge.channels[session_id]
        before = channel.commands_received
        for _ in range(100):
            self.on_edge(lambda: None)
        return bool(channel._unsent > MOST_UNSENT_BYTES and channel.commands_received == before)

    def wait_for_sessions(self, left: int = 0) -> None:
        """Wait until so many sessions are open and no other one holds a slot."""

        def gone() -> bool:
            if self._stepping:
                self.step()
            return len(self.system.sessions.value.sessions) == left and self.runtime.slots()[0] == left

        eventually(gone, f"all but {left} sessions are gone", tries=6000, pause_s=0.005)

    # ------------------------------------------------------------ start and stop

    def _open(self) -> Addresses:
        self.bridge = Bridge(self.system, self._modules)
        self.bridge.streams = native_streams(self.system)
        self.listeners = Listeners(self.bridge, SessionChannel, BUILD, self._directory.token, self._limits)
        addresses = parse_ready(f"ready {self.listeners.open()}")
        self.local = LocalServer(self.bridge, self._directory.path)
        if self._with_local:
            self.local.open()
        return addresses

    def _has_its_rate(self) -> bool:
        self.step()
        wanted = self.system.settings.value.number("control/frequency")
        return float(self.runtime.loop_state()["target_frequency"]) == wanted

    def _close(self) -> None:
        async def close() -> None:
            self.bridge.stopping = True
            self.listeners.close()
            self.local.close()
            for channel in list(self.bridge.channels.values()):
                channel.disconnect(1001, "the service is stopping")
            self.local.stop()
            await self.listeners.drained()

        self.await_edge(close())

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(TIMEOUT_S)
