"""A bouncing handle switch at the shipped debounce (0.2 s to attach, 0.1 s to detach), by the handle's heartbeats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.boards.fake_links import ARM, GRIP, FakeBoard
from tests.support.service.fake_port_service import FakePortService
from tests.support.service.polling import eventually

# A heartbeat comes every 20 ms; so many in a row span less than attaching takes, and so many missing less than detaching.
BEAT_S: Final = 0.02
TOO_FEW: Final = 10
ENOUGH: Final = 12
MISSED: Final = 3
TIMES: Final = 6
ATTACHMENT: Final = "grip-attachment-changed"
ROUTE: Final = f"/arm/{ARM.device_id}/calibration"


class Handle:
    """A grip beside its arm; virtual time passes only by its heartbeats and by their absence."""

    def __init__(self, setup: FakePortService) -> None:
        self.setup = setup
        self.grip: FakeBoard = setup.machine.plug(GRIP, receiver=True)
        self.arm: FakeBoard = setup.machine.plug(ARM, port="ttyACM1")
        setup.wait_ready(ARM, GRIP)
        setup.advance_until(lambda: setup.record(ARM.device_id).paired_with == GRIP.device_id, "they are paired")

    def attached(self) -> bool:
        return self.setup.record(GRIP.device_id).bond.attached

    def beats(self, times: int) -> None:
        service = self.setup.service
        for _ in range(times):
            self.grip.link.show_device(GRIP.device_id, heartbeat_ns=service.runtime.now_ns())
            eventually(self._heard, "the heartbeat is heard", pause_s=0.002)
            self._passes()

    def misses(self, times: int) -> None:
        for _ in range(times):
            self._passes()

    def calibration(self) -> Any:
        return self.setup.ask("GET", ROUTE).json["state"]

    def told(self) -> list[bool]:
        return [event["data"]["attached"] for event in self.setup.events.received_events(ATTACHMENT)]

    def _heard(self) -> bool:
        service = self.setup.service
        return service.system.links.heartbeat("ttyACM0", GRIP.device_id) == service.runtime.now_ns()

    def _passes(self) -> None:
        self.setup.service.wait(BEAT_S)
        self.setup.drain()


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[Handle]:
    with FakePortService(tmp_path) as setup:
        settings = setup.service.system.settings.value
        assert settings.number("devices/grip/attach_debounce") == 0.2
        assert settings.number("devices/grip/detach_debounce") == 0.1
        yield Handle(setup)


@pytest.mark.promise(27, "Attach and detach are decided by heartbeats with a debounce, which a bounce does not pass")
def test_bounce_shorter_than_the_debounce_does_not_attach(handle: Handle) -> None:
    for _ in range(TIMES):
        handle.beats(TOO_FEW)
        assert not handle.attached()
        handle.misses(MISSED)
        assert not handle.attached()
    assert handle.setup.ask("POST", ROUTE).status == 409
    assert handle.calibration() == "locked"

    handle.beats(ENOUGH)

    assert handle.attached()
    handle.setup.events.wait_for_event(ATTACHMENT, attached=True)
    assert handle.told() == [True]
    assert handle.setup.ask("POST", ROUTE).json["state"] == "running"


@pytest.mark.promise(27, "Attach and detach are decided by heartbeats with a debounce, which a bounce does not pass")
def test_bounce_shorter_than_the_debounce_neither_detaches_nor_ends_a_calibration(handle: Handle) -> None:
    handle.beats(ENOUGH)
    assert handle.attached()
    assert handle.setup.ask("POST", ROUTE).json["state"] == "running"

    for _ in range(TIMES):
        handle.misses(MISSED)
        assert handle.attached()
        handle.beats(1)
        assert handle.attached()
    assert handle.calibration() == "running"

    handle.misses(2 * MISSED)
    assert not handle.attached()
    handle.setup.events.wait_for_event(ATTACHMENT, attached=False)
    assert handle.told() == [True, False]
    assert handle.calibration() == "failed"
    handle.setup.events.wait_for_event("device-calibration-failed", reason="pen_lost")
