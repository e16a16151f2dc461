"""A stepped service for the safety monitors: faults, a streaming client, `status.safety`, events, metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from prometheus_client.parser import text_string_to_metric_families

from tests.support.service.desk import Desk
from tests.support.service.polling import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.clients.listener import Event

ARM, GRIP = "A001", "B001"
FREE: Final = {"ebrake": False, "fod_stage": "idle", "stalled": False, "oscillation_stage": 8, "stopped": False}
# A command every 20 ms, as a slow client sends them.
TURN_S: Final = 0.02
RATE: Final = 1000
ATTACHED: Final = 64


class SafetyDesk(Desk):
    """The whole chain, a client that streams commands, and `status.safety` in its frames."""

    def __init__(self, folder: Path, **settings: object) -> None:
        shown = {"control__frequency": RATE, "serialization__status_safety": "true"}
        super().__init__(folder, {**shown, **settings}, chain=True)

    def make(self, kind: str, device_id: str, **change: object) -> None:
        reply = self.ask("POST", f"/simulation/{kind}/{device_id}", change)
        assert reply.status == 200, reply.body
        self.service.step()

    def frame(self, commands: Mapping[str, object] | None = None) -> Any:
        """The arm's entry in the frame that answers these commands."""
        return self.said({"arm": [{"device_id": ARM, "commands": commands}]} if commands else {})["arm"][0]

    @property
    def safety(self) -> Any:
        return self.frame()["status"]["safety"]

    def streams(self, seconds: float, commands: Mapping[str, object], every: float = TURN_S) -> None:
        """A client sends the same for some seconds."""
        for _ in range(round(seconds / every)):
            self.frame(commands)
            self.service.wait(every)

    def hears(self, safety_type: str) -> Event:
        """The event, which came once; time stands still meanwhile."""
        self.events.hears("device-safety-triggered", safety_type=safety_type)
        (event,) = self.events.heard("device-safety-triggered", safety_type=safety_type)
        assert event["data"]["device_id"] == ARM
        return event

    def heard(self) -> list[str]:
        return [str(event["data"]["safety_type"]) for event in self.events.heard("device-safety-triggered")]

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

    def take(self, *, attached: bool) -> None:
        """The handle is in its place or out of it, and the loop knows."""
        self.make("grip", GRIP, attached=attached)

        def known() -> bool:
            self.service.wait(0.01)
            return bool(int(self.service.state(GRIP)["flags"]) & ATTACHED) is attached

        eventually(known, "the loop knows of the grip", tries=1_000, pause_s=0.005)


def push(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> dict[str, object]:
    return {"set_cursor_force": {"vector": {"x": x, "y": y, "z": z}}}


# The peak force, square to the stretched arm: 0.7 of what its motors can do.
FAR: Final = {"x": 0.2, "y": -0.22, "z": 0.36}
STRAIN: Final = push(-2.94, 4.41, 8.48)


def far_out(desk: SafetyDesk) -> None:
    """Far out, where the peak force takes the most of the motors, the arm does not move."""
    desk.make("arm", ARM, hand={"position": FAR, "stiffness": 30})
    desk.service.wait(4)
    desk.make("arm", ARM, fault="stall")
