"""SIGKILL of a service with emulated boards: a blocked port stays blocked, a manual pair stays paired."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.emulators.boards import Boards
from tests.support.clients.event_client import EventClient
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

LOOPS: Final = 2
SETTINGS: Final[dict[str, Any]] = {
    "devices/detection/period": 100,
    "devices/detection/loop_threshold": LOOPS,
    "devices/detection/loop_window": 600,
}
LOOSE: Final = 1
KILLS: Final = 2


class PortScanner:
    """Two arms and two grips at terminals, and the service that drives them; A2 is the one with a loose plug."""

    def __init__(self, boards: Boards, service: RunningService) -> None:
        self.boards = boards
        self.service = service

    def get(self, path: str) -> Any:
        status, found = self.service.request("GET", path)
        assert status == 200, found
        return found

    def ready(self, *device_ids: str) -> None:
        """Wait until exactly these are here and ready."""

        def look() -> bool:
            found = self.get("/devices")
            here = [*found["arm"], *found["grip"]]
            return {one["device_id"] for one in here} == set(device_ids) and all(one["status"]["ready"] for one in here)

        eventually(look, f"{device_ids} are ready", pause_s=0.02)

    @property
    def blocked(self) -> dict[str, Any]:
        """The ports that are blocked."""
        return {one["port"]: one for one in self.get("/ports")["ports"] if one["state"] == "blocked"}

    def pair(self, device_id: str) -> Any:
        return self.get(f"/*/{device_id}/config/paired_with")

    def shake(self) -> None:
        """A2 comes and goes until its port is blocked."""
        with EventClient(self.service.events) as events:

            def said(name: str, times: int) -> bool:
                return len(events.received_events(name, device_id="A2")) >= times or bool(
                    events.received_events("port-blocked")
                )

            for times in range(1, LOOPS + 1):
                self.boards.unplug(LOOSE)
                eventually(partial(said, "device-disconnected", times), "it is gone", pause_s=0.005)
                self.boards.plug(LOOSE)
                eventually(partial(said, "device-connected", times), "it is back", pause_s=0.005)
            events.wait_for_event("port-blocked", reason="connection_loop")


def test_blocked_port_and_manual_pair_survive_sigkill(tmp_path: Path) -> None:
    with Boards("arm:A1", "arm:A2", "grip:G1", "grip:G2") as boards:
        paths = json.dumps([boards.path(port) for port in range(4)])
        settings = {**SETTINGS, "devices/detection/serial_ports": paths}
        with RunningService(simulate="", settings=settings, state_dir=tmp_path) as service:
            machine = PortScanner(boards, service)
            machine.ready("A1", "A2", "G1", "G2")
            machine.shake()
            machine.ready("A1", "G1", "G2")
            blocked = machine.blocked
            other = {"G1": "G2", "G2": "G1"}[machine.pair("A1")["paired_with"]]
            by_hand = {"paired_with": other, "origin": "manual"}
            status, answer = service.request("POST", "/*/A1/config/paired_with", {"device_id": other})
            assert (status, answer) == (200, by_hand)

            for _ in range(KILLS):
                service.kill()
                service.start()
                machine.ready("A1", "G1", "G2")
                assert machine.blocked == blocked
                assert (machine.pair("A1"), machine.pair(other)) == (by_hand, {"paired_with": "A1", "origin": "manual"})

            (port,) = blocked
            assert service.request("POST", f"/ports/{port}/reset")[0] == 200
            machine.ready("A1", "A2", "G1", "G2")
            assert machine.pair("A1") == by_hand
