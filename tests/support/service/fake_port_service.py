"""A stepped service with fake ports, for scenarios of real devices. Only `advance` advances time."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self
from unittest.mock import patch

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import Phase
from actors.pairing.messages import PAIRING
from actors.port.messages import DETECTION, PORTS, link_name
from tests.support.boards.fake_links import FakeLinks
from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import Reply, exchange
from tests.support.service.actor_faults import drain_actor
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

    from actors.device.messages import DeviceRecord, SimulatedSpec
    from actors.values.hardware import FoundDevice

# Ticks are cheap to step at this rate, and no physics is looked at.
RATE_HZ = 1000


class FakePortService:
    """Context manager: `machine` is plugged into before or after the start, `events` hears all from the start on."""

    service: InProcessService
    events: EventClient

    def __init__(
        self,
        folder: Path,
        machine: FakeLinks | None = None,
        *,
        simulated: tuple[SimulatedSpec, ...] | None = (),
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.machine = machine or FakeLinks()
        self._folder = folder
        self._simulated = simulated
        self._settings = {"control/frequency": RATE_HZ, **(settings or {})}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            service = InProcessService(
                self._folder,
                simulated=self._simulated,
                stepping=True,
                settings=self._settings,
                links=self.machine.make,
            )
            # Fake links exchange nothing: what their devices do is what the simulation does.
            stack.enter_context(patch("actors.device.params.AT_A_PORT", 0))
            self.service = stack.enter_context(service)
            self.events = stack.enter_context(EventClient(self.service.events, since="2000-01-01T00:00:00%2B00:00"))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    # ------------------------------------------------------------ time

    def advance_until(
        self, true: Callable[[], object], what: str, *, step_s: float = 0.02, paced: bool = False
    ) -> None:
        """Advance virtual time until `true()`; `paced` drains the actors after each step, so that a busy machine passes no more time than an idle one."""

        def passed() -> bool:
            self.service.wait(step_s)
            if paced:
                self.drain_all_ports()
            return bool(true())

        eventually(passed, what, tries=4_000, pause_s=0.002)

    def advance(self, seconds: float, *, step_s: float = 0.1) -> None:
        """Advance virtual time in steps and drain the actors after each."""
        for _ in range(round(seconds / step_s)):
            self.service.wait(step_s)
            self.drain()

    def drain(self, port: str = "ttyACM0") -> None:
        """Return when the actors of a port have handled all messages sent so far."""
        self.service.system.timekeeper.run_once()
        directory = self.service.system.context.directory
        for name in (
            DETECTION,
            link_name(port),
            PORTS,
            f"port/{port}",
            PORTS,
            DEVICES,
            link_name(port),
            PAIRING,
            DEVICES,
        ):
            if directory.ref(name) is not None and not (name.startswith("link/") and self.machine.opening):
                drain_actor(directory, name)

    def drain_all_ports(self) -> None:
        """As `drain`, at every port where something is plugged in, and at the first one."""
        for port in {"ttyACM0": None} | {board.candidate.port: None for board in self.machine.boards}:
            self.drain(port)

    # ------------------------------------------------------------ devices and ports

    def wait_ready(self, *found: FoundDevice) -> None:
        """Advance until exactly these real devices are present and ready; drain the actors."""
        wanted = {one.device_id for one in found}

        def here() -> bool:
            real = [one for one in self.records if not one.identity.simulated]
            return {one.device_id for one in real} == wanted and all(one.phase is Phase.READY for one in real)

        self.advance_until(here, f"{sorted(wanted)} are ready")
        self.drain_all_ports()

    def wait_gone(self, *, paced: bool = False) -> None:
        """Advance until no real device is present; drain the actors."""
        self.advance_until(lambda: all(one.identity.simulated for one in self.records), "all are gone", paced=paced)
        self.drain_all_ports()

    @property
    def records(self) -> tuple[DeviceRecord, ...]:
        return self.service.system.inventory.value.devices

    def record(self, device_id: str) -> DeviceRecord:
        return self.service.device(device_id)

    def row(self, port: str = "ttyACM0") -> Any:
        """The port over HTTP."""
        reply = self.ask("GET", f"/ports/{port}")
        assert reply.status == 200, reply.body
        return reply.json

    def ask(self, method: str, path: str, body: object = None) -> Reply:
        return exchange(self.service.http, method, path, body)

    def open_slots(self) -> int:
        return self.service.runtime.slots()[1]
