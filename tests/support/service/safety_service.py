"""A stepped service for the safety monitors: faults, a streaming client, `status.safety`, events, metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from prometheus_client.parser import text_string_to_metric_families

from tests.support.service.polling import eventually
from tests.support.service.stepped_service import SteppedService

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.clients.event_client import Event

ARM, GRIP = "A001", "B001"
FREE: Final = {"ebrake": False, "fod_stage": "idle", "stalled": False, "oscillation_stage": 8, "stopped": False}
# A command every 20 ms, as a slow client sends them.
TURN_S: Final = 0.02
RATE: Final = 1000
ATTACHED: Final = 64


class SafetyService(SteppedService):
    """The whole chain, a client that streams commands, and `status.safety` in its frames."""

    def __init__(self, folder: Path, **settings: object) -> None:
        shown = {"control__frequency": RATE, "serialization__status_safety": "true"}
        super().__init__(folder, {**shown, **settings}, chain=True)

    def simulate(self, kind: str, device_id: str, **change: object) -> None:
        reply = self.ask("POST", f"/simulation/{kind}/{device_id}", change)
        assert reply.status == 200, reply.body
        self.service.step()

    def frame(self, commands: Mapping[str, object] | None = None) -> Any:
        """The arm's entry in the frame that answers these commands."""
        return self.frame_for({"arm": [{"device_id": ARM, "commands": commands}]} if commands else {})["arm"][0]

    @property
    def safety(self) -> Any:
        return self.frame()["status"]["safety"]

    def stream(self, seconds: float, commands: Mapping[str, object], every: float = TURN_S) -> None:
        """Send the same commands every `every` s for `seconds` of virtual time."""
        for _ in range(round(seconds / every)):
            self.frame(commands)
            self.service.wait(every)

    def wait_for_event(self, safety_type: str) -> Event:
        """Return the only event of this safety type; AssertionError when it came more than once."""
        self.events.wait_for_event("device-safety-triggered", safety_type=safety_type)
        (event,) = self.events.received_events("device-safety-triggered", safety_type=safety_type)
        assert event["data"]["device_id"] == ARM
        return event

    def received_events(self) -> list[str]:
        return [str(event["data"]["safety_type"]) for event in self.events.received_events("device-safety-triggered")]

    def metric(self, name: str) -> float:
        """The value of one of the arm's metrics as Prometheus reads it."""
        page = self.ask("GET", "/metrics").body.decode()
        (value,) = [
            sample.value
            for family in text_string_to_metric_families(page)
            for sample in family.samples
            if sample.name == name and sample.labels.get("device_id") == ARM
        ]
        return float(value)

    def set_attached(self, *, attached: bool) -> None:
        """Attach or detach the grip; return when the loop knows."""
        self.simulate("grip", GRIP, attached=attached)

        def known() -> bool:
            self.service.wait(0.01)
            return bool(int(self.service.state(GRIP)["flags"]) & ATTACHED) is attached

        eventually(known, "the loop knows of the grip", tries=1_000, pause_s=0.005)


def force_command(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> dict[str, object]:
    return {"set_cursor_force": {"vector": {"x": x, "y": y, "z": z}}}


# The peak force, square to the stretched arm: 0.7 of what its motors can do.
FAR: Final = {"x": 0.2, "y": -0.22, "z": 0.36}
STRAIN: Final = force_command(-2.94, 4.41, 8.48)


def stall_at_full_reach(setup: SafetyService) -> None:
    """Stall the arm at full reach, where the peak force needs the highest motor torque."""
    setup.simulate("arm", ARM, hand={"position": FAR, "stiffness": 30})
    setup.service.wait(4)
    setup.simulate("arm", ARM, fault="stall")
