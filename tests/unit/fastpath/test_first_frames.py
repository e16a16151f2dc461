"""Frames before a device's first reading: identity rotation, not ready."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from fastpath.arena.runtime import Lease, Runtime
from fastpath.layout.constants import StatusFlag
from fastpath.port.port_cell import PortCell
from fastpath.text.encoder import FrameEncoder, FrameEntry
from tests.support.loop.devices import arm_params, grip_params
from tests.unit.fastpath.frame_rig import SHAPES

UNIT: Final = {"w": 1, "x": 0, "y": 0, "z": 0}
TILTED: Final = (0.6, 0.8, 0.0, 0.0)
KINDS: Final = pytest.mark.parametrize(
    ("kind", "field"), [(1, "body_orientation"), (2, "body_orientation"), (3, "orientation"), (4, "orientation")]
)


class Desk:
    """One leased device of a stepped loop, without parameters."""

    def __init__(self, kind: int) -> None:
        self.kind = kind
        self.runtime = Runtime(stepping=True)
        self.lease: Lease = self.runtime.lease_device("A1")

    def publish(self, *, at_port: bool) -> None:
        params = arm_params() if self.kind < 3 else grip_params()
        params["source"], params["silence"] = at_port, 0.02
        params["flags"] = 127
        assert self.runtime.publish_device(self.lease, params)

    def entry(self) -> Any:
        """The device in a frame whose inventory says that it is ready."""
        shown = FrameEntry("A1", SHAPES[self.kind], self.runtime.reader(self.lease), None, wireless=False, ready=True)
        return json.loads(FrameEncoder(None, [("g", [shown])], version=31).encode())["g"][0]

    def measured(self) -> bool:
        return bool(int(self.runtime.reader(self.lease).snapshot()["flags"]) & StatusFlag.FLAG_MEASURED)


def unread(desk: Desk, field: str) -> bool:
    entry = desk.entry()
    assert entry["state"][field] == UNIT
    return not entry["status"]["ready"] and not desk.measured()


@KINDS
def test_a_device_without_parameters_is_not_turned_and_not_ready(kind: int, field: str) -> None:
    desk = Desk(kind)
    assert unread(desk, field)

    desk.runtime.step(3)
    assert unread(desk, field)


@KINDS
def test_a_simulated_device_is_ready_with_its_first_tick(kind: int, field: str) -> None:
    desk = Desk(kind)
    desk.publish(at_port=False)
    assert unread(desk, field)

    desk.runtime.step()
    assert desk.measured()
    assert desk.entry()["status"]["ready"]


@KINDS
def test_a_device_at_a_port_is_ready_with_its_first_packet(kind: int, field: str) -> None:
    desk = Desk(kind)
    desk.publish(at_port=True)
    desk.runtime.step(3)
    assert unread(desk, field)

    assert PortCell(desk.runtime, desk.lease).put(orientation=TILTED)
    desk.runtime.step()
    assert desk.measured()
    assert desk.entry()["status"]["ready"]
    assert desk.entry()["state"][field] == pytest.approx({"w": 0.6, "x": 0.8, "y": 0, "z": 0})


@KINDS
@pytest.mark.parametrize("released", [True, False])
def test_a_slot_that_is_leased_again_shows_nothing_of_the_device_before(
    kind: int, field: str, *, released: bool
) -> None:
    desk = Desk(kind)
    desk.publish(at_port=True)
    assert PortCell(desk.runtime, desk.lease).put(orientation=TILTED, battery_level=0.5)
    desk.runtime.step()
    if released:
        desk.runtime.release_device(desk.lease)
        desk.runtime.step()

    desk.lease = desk.runtime.lease_device("A1")
    desk.publish(at_port=True)
    desk.runtime.step(3)
    assert unread(desk, field)


@KINDS
def test_a_loop_that_stops_before_the_first_reading_shows_no_rotation(kind: int, field: str) -> None:
    runtime = Runtime(realtime=False)
    desk = Desk(kind)
    desk.runtime, desk.lease = runtime, runtime.lease_device("A1")
    runtime.start()
    runtime.stop()
    assert unread(desk, field)
