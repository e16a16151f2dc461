"""A Falcon on an emulated USB bus in the whole service: detected, homed, commanded, unplugged and plugged in again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fastpath.codecs.falcon_py import HOMED
from tests.emulators import falcon_board
from tests.emulators.falcon_backend import FalconBus
from tests.emulators.falcon_board import FalconBoard
from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import exchange
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from transport.link.protocols.falcon.device import BASE
from transport.link.protocols.falcon.driver import FalconDriver
from transport.link.usb_bus import UsbBus

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.port.link_interface import Link, Links, OpenLimits
    from actors.settings.messages import SettingsView
    from actors.values.hardware import Candidate
    from fastpath.arena.runtime import Runtime

ID = "FL010203"
FAST = {"devices/detection/period": 100, "control/frequency": 1000}


@dataclass
class OnlyFalcons:
    """A machine with a USB bus and nothing else."""

    setting_keys = frozenset[str]()

    falcons: FalconDriver

    def scan(self) -> tuple[Candidate, ...]:
        return self.falcons.candidates()

    def change_token(self) -> object:
        return None

    def taker(self, candidate: Candidate) -> str:
        """Return "": nothing takes a port away."""
        del candidate
        return ""

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Link:
        return self.falcons.open(candidate, limits, stop)


@dataclass
class FalconService:
    service: InProcessService
    board: FalconBoard
    bus: FalconBus
    peer: RawWebSocket
    events: EventClient

    def shown(self) -> dict[str, Any] | None:
        """The Falcon as clients see it."""
        frame = exchange(self.service.http, "GET", "/devices").json
        return next((one for one in frame.get("compact", ()) if one["device_id"] == ID), None)

    def status(self, key: str) -> Any:
        shown = self.shown()
        return None if shown is None else shown["status"][key]

    def force(self, **vector: float) -> dict[str, Any]:
        """Command it; the frame that answers."""
        command = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 0, **vector}}}
        answer: dict[str, Any] = self.peer.ask({"compact": [{"device_id": ID, "commands": command}]})
        return answer

    def ready(self) -> bool:
        """Whether it takes commands."""
        return self.status("ready") is True

    def home(self) -> None:
        """At once, and wait for the service."""
        self.board.find_zero()
        until(self.ready, "it takes commands")

    def motors(self) -> falcon_board.Vector:
        """What they were commanded last."""
        return self.board.motors


def until(look: Callable[[], bool], what: str) -> None:
    eventually(look, what, tries=2000, pause_s=0.005)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[FalconService]:
    board = FalconBoard(loaded=True, period=0.02)
    bus = FalconBus(board)

    def links(runtime: Runtime, settings: Published[SettingsView]) -> Links:
        return OnlyFalcons(FalconDriver(runtime, settings, UsbBus(bus)))

    with (
        InProcessService(tmp_path, simulated=(), settings=FAST, links=links) as service,
        EventClient(service.events) as events,
    ):
        until(lambda: bool(service.system.inventory.value.devices), "it is found")
        with RawWebSocket(service.ws) as peer:
            peer.frame()
            yield FalconService(service, board, bus, peer, events)


def test_commands_are_refused_until_the_falcon_is_homed(rig: FalconService) -> None:
    shown = rig.shown()
    assert shown is not None
    assert (shown["config"]["connection"], shown["config"]["port"]) == ("usb", "usb-1-1")
    assert rig.status("ready") is False

    refused = rig.force(x=1)

    assert "settling" in refused["errors"][0]["reason"]
    assert rig.motors() == (0, 0, 0)
    rig.board.hand = falcon_board.OUT
    until(lambda: rig.board.position[1] < -0.177, "its grip is all the way out")
    rig.board.hand = falcon_board.IN
    until(rig.ready, "it takes commands")
    assert rig.board.homed == HOMED
    assert "errors" not in rig.force(x=1)


def test_force_not_renewed_ends_at_the_motors(rig: FalconService) -> None:
    rig.home()
    until(lambda: "errors" not in rig.force(x=1) and any(rig.motors()), "the force reaches the motors")

    until(lambda: rig.motors() == (0, 0, 0), "it has faded")


def test_cursor_equals_the_emulated_grip_position(rig: FalconService) -> None:
    rig.home()

    def off() -> float:
        shown = rig.service.state(ID)["position"]
        there = [base + own for base, own in zip(BASE, rig.board.position, strict=True)]
        return max(abs(float(a) - b) for a, b in zip(shown, there, strict=True))

    until(lambda: off() < 0.0005, "the loop's cursor is at the emulator's grip")


def test_lost_homing_returns_the_device_to_settling(rig: FalconService) -> None:
    rig.home()
    rig.board.homed = 0

    until(lambda: rig.status("ready") is False, "it is not ready any more")
    until(lambda: "errors" in rig.force(x=1), "it takes no more commands")
    until(lambda: rig.motors() == (0, 0, 0), "what was taken before has faded")
    assert rig.force(x=1)["errors"]
    assert rig.motors() == (0, 0, 0)


def test_unplugging_under_force_disconnects_and_replugging_restores_the_id(rig: FalconService) -> None:
    rig.home()
    until(lambda: "errors" not in rig.force(x=1) and any(rig.motors()), "the force reaches the motors")

    rig.bus.unplug(rig.board)

    gone = rig.events.wait_for_event("device-disconnected", device_id=ID)
    assert "it was unplugged" in gone["message"]
    until(lambda: rig.shown() is None, "it is out of every frame")
    rig.board.loaded = True
    rig.bus.plug(rig.board)
    until(lambda: rig.status("ready") is False, "it is back, and not homed")
    assert rig.motors() == (0, 0, 0)


def test_port_without_firmware_file_names_the_missing_file(rig: FalconService) -> None:
    board = FalconBoard(serial="FL020304")
    rig.bus.plug(board)

    changed = rig.events.wait_for_event("port-state-changed", port="usb-1-2", reason="no_firmware_image")

    assert changed["level"] == "warning"
    row = exchange(rig.service.http, "GET", "/ports/usb-1-2").json
    assert (row["state"], row["reason"]) == ("unusable", "no_firmware_image")
    assert board.writes == []
