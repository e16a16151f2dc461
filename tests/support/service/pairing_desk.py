"""A stepped service whose simulated devices connect, leave and are held over HTTP, with a client on each channel."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from websockets.sync.client import connect

from actors.device.messages import MANAGER, AddSimulated, DeviceRecord, Phase, RemoveSimulated, SimulatedSpec
from actors.device.simulated_identity import parse
from actors.kit.message import Request
from tests.support.clients.listener import Event
from tests.support.service.desk import Desk
from tests.support.service.living_actors import handled
from tests.support.service.polling import PATIENCE_S, eventually

# Virtual time passes in pieces of one heartbeat.
PIECE_S: Final = 0.02
FULL: Final[Mapping[str, object]] = {"session": {"force_render_full_state": {}}}


def named(*devices: str) -> tuple[SimulatedSpec, ...]:
    """Devices to simulate from `A001=arm`, `B001=grip:wired` and the like."""
    found: list[SimulatedSpec] = []
    for device in devices:
        device_id, _, word = device.partition("=")
        spec = parse(word)
        found.append(SimulatedSpec(spec.kind, spec.connection, device_id))
    return tuple(found)


class PairingDesk(Desk):
    """`devices` as in `named`."""

    def __init__(self, folder: Path, *devices: str, **settings: object) -> None:
        super().__init__(folder, settings, simulated=named(*devices))

    # ------------------------------------------------------------ HTTP

    def done(self, method: str, path: str, body: object = None) -> Any:
        """The answer of an exchange that succeeds."""
        reply = self.ask(method, path, body)
        assert reply.status == 200, reply.body
        return reply.json

    def plug(self, device: str) -> None:
        """One more simulated device."""
        (spec,) = named(device)
        self.service.step(2)
        self._manager(AddSimulated(spec))
        eventually(lambda: self._ready(str(spec.device_id)), "it is ready", pause_s=0.001)
        self.listened()

    def unplug(self, device_id: str) -> None:
        """One simulated device less."""
        self._manager(RemoveSimulated(device_id))
        self.service.step(2)
        self.listened()

    def make(self, device_id: str, **change: object) -> None:
        """A simulated device does what is asked for."""
        self.done("POST", f"/simulation/*/{device_id}", change)

    def partner(self, device_id: str) -> str | None:
        """As HTTP, the inventory and a full frame show it, all the same."""
        shown = self.done("GET", f"/*/{device_id}/config/paired_with")["paired_with"]
        eventually(lambda: self.config(device_id)["paired_with"] == shown, "the frame shows it", pause_s=0.002)
        return None if shown is None else str(shown)

    def pairs(self) -> dict[str, str | None]:
        """The partner of every device that is here."""
        return {one.device_id: self.partner(one.device_id) for one in self.service.system.inventory.value.devices}

    def calibration(self, device_id: str) -> Any:
        return self.done("GET", f"/*/{device_id}/calibration")

    def _ready(self, device_id: str) -> bool:
        self.service.wait(PIECE_S)
        return self.service.device(device_id).phase is Phase.READY

    def _manager(self, request: Request[DeviceRecord]) -> None:
        self.service.await_edge(self.service.bridge.ask(MANAGER, request))

    # ------------------------------------------------------------ frames

    def frame(self, message: object = None) -> Any:
        return self.said(message)

    def config(self, device_id: str) -> Any:
        """Of one device, in a full frame."""
        return self._entry(self.frame(FULL), device_id)["config"]

    def status(self, device_id: str) -> Any:
        """Of one device, in the next frame."""
        self.listened()
        self.service.step()
        return self._entry(self.frame(), device_id)["status"]

    @staticmethod
    def _entry(frame: Any, device_id: str) -> Any:
        entries = [one for group in frame.values() if isinstance(group, list) for one in group]
        return next(one for one in entries if one.get("device_id") == device_id)

    # ------------------------------------------------------------ time and events

    def passes(self, seconds: float) -> None:
        """Virtual time, so slowly that every heartbeat is heard."""
        for _ in range(round(seconds / PIECE_S)):
            self.service.wait(PIECE_S)
            self.listened()

    def listened(self) -> None:
        """Wait until all that was due has gone through devices and pairs to the loop."""
        context = self.service.system.context
        context.timers.fire_due()
        each = [f"device/{one.device_id}" for one in self.service.system.inventory.value.devices]
        for name in (*each, "devices", "pairing", "devices", *each):
            handled(context.directory, name)

    def hears(self, name: str, **data: object) -> Event:
        return self.events.hears(name, **data)

    def heard(self, name: str, **data: object) -> list[Event]:
        """What came until now; a mark that is sent behind it has come too."""
        before = len(self.events.heard("session-opened"))
        with connect(self.service.ws, proxy=None, open_timeout=PATIENCE_S) as mark:
            mark.recv()
            eventually(lambda: len(self.events.heard("session-opened")) > before, "the mark", pause_s=0.002)
        return self.events.heard(name, **data)
