"""A stepped service whose simulated devices connect, leave and are held over HTTP, with a client on each channel."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from websockets.sync.client import connect

from actors.device.messages import MANAGER, AddSimulated, DeviceRecord, Phase, RemoveSimulated, SimulatedSpec
from actors.device.simulated_identity import parse
from actors.kit.message import Request
from tests.support.clients.event_client import Event
from tests.support.service.actor_faults import drain_actor
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.stepped_service import SteppedService

# Step of virtual time: one heartbeat.
PIECE_S: Final = 0.02
FULL: Final[Mapping[str, object]] = {"session": {"force_render_full_state": {}}}


def simulated_specs(*devices: str) -> tuple[SimulatedSpec, ...]:
    """Devices to simulate from `A001=arm`, `B001=grip:wired` and the like."""
    found: list[SimulatedSpec] = []
    for device in devices:
        device_id, _, word = device.partition("=")
        spec = parse(word)
        found.append(SimulatedSpec(spec.kind, spec.connection, device_id))
    return tuple(found)


class PairingService(SteppedService):
    """`devices` as in `simulated_specs`."""

    def __init__(self, folder: Path, *devices: str, **settings: object) -> None:
        super().__init__(folder, settings, simulated=simulated_specs(*devices))

    # ------------------------------------------------------------ HTTP

    def ask_ok(self, method: str, path: str, body: object = None) -> Any:
        """Return the JSON body; AssertionError unless the status is 200."""
        reply = self.ask(method, path, body)
        assert reply.status == 200, reply.body
        return reply.json

    def plug(self, device: str) -> None:
        """Add a simulated device; return when it is ready."""
        (spec,) = simulated_specs(device)
        self.service.step(2)
        self._manager(AddSimulated(spec))
        eventually(lambda: self._ready(str(spec.device_id)), "it is ready", pause_s=0.001)
        self.drain()

    def unplug(self, device_id: str) -> None:
        """Remove a simulated device."""
        self._manager(RemoveSimulated(device_id))
        self.service.step(2)
        self.drain()

    def simulate(self, device_id: str, **change: object) -> None:
        """Change what a simulated device does (fault, heartbeat, hand …) over HTTP."""
        self.ask_ok("POST", f"/simulation/*/{device_id}", change)

    def partner(self, device_id: str) -> str | None:
        """Return the partner over HTTP; wait until a full frame shows the same."""
        shown = self.ask_ok("GET", f"/*/{device_id}/config/paired_with")["paired_with"]
        eventually(lambda: self.config(device_id)["paired_with"] == shown, "the frame shows it", pause_s=0.002)
        return None if shown is None else str(shown)

    def pairs(self) -> dict[str, str | None]:
        """Return the partner of every present device by id."""
        return {one.device_id: self.partner(one.device_id) for one in self.service.system.inventory.value.devices}

    def calibration(self, device_id: str) -> Any:
        return self.ask_ok("GET", f"/*/{device_id}/calibration")

    def _ready(self, device_id: str) -> bool:
        self.service.wait(PIECE_S)
        return self.service.device(device_id).phase is Phase.READY

    def _manager(self, request: Request[DeviceRecord]) -> None:
        self.service.await_edge(self.service.bridge.ask(MANAGER, request))

    # ------------------------------------------------------------ frames

    def frame(self, message: object = None) -> Any:
        return self.frame_for(message)

    def config(self, device_id: str) -> Any:
        """Return `config` of one device, from a full frame."""
        return self._entry(self.frame(FULL), device_id)["config"]

    def status(self, device_id: str) -> Any:
        """Return `status` of one device, from the next frame."""
        self.drain()
        self.service.step()
        return self._entry(self.frame(), device_id)["status"]

    @staticmethod
    def _entry(frame: Any, device_id: str) -> Any:
        entries = [one for group in frame.values() if isinstance(group, list) for one in group]
        return next(one for one in entries if one.get("device_id") == device_id)

    # ------------------------------------------------------------ time and events

    def advance(self, seconds: float) -> None:
        """Advance virtual time in steps of one heartbeat and drain the actors after each."""
        for _ in range(round(seconds / PIECE_S)):
            self.service.wait(PIECE_S)
            self.drain()

    def drain(self) -> None:
        """Return when due timers and all messages between devices, pairing and loop are handled."""
        context = self.service.system.context
        context.timers.fire_due()
        each = [f"device/{one.device_id}" for one in self.service.system.inventory.value.devices]
        for name in (*each, "devices", "pairing", "devices", *each):
            drain_actor(context.directory, name)

    def wait_for_event(self, name: str, **data: object) -> Event:
        return self.events.wait_for_event(name, **data)

    def received_events(self, name: str, **data: object) -> list[Event]:
        """Return the events received so far; opens a session as a marker and waits for its event."""
        before = len(self.events.received_events("session-opened"))
        with connect(self.service.ws, proxy=None, open_timeout=TIMEOUT_S) as mark:
            mark.recv()
            eventually(lambda: len(self.events.received_events("session-opened")) > before, "the mark", pause_s=0.002)
        return self.events.received_events(name, **data)
