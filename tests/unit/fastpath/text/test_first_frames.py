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
from tests.unit.fastpath.text.frame_rig import SHAPES

UNIT: Final = {"w": 1, "x": 0, "y": 0, "z": 0}
TILTED: Final = (0.6, 0.8, 0.0, 0.0)
KINDS: Final = pytest.mark.parametrize(
    ("kind", "field"), [(1, "body_orientation"), (2, "body_orientation"), (3, "orientation"), (4, "orientation")]
)


class LeasedDevice:
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


def unread(setup: LeasedDevice, field: str) -> bool:
    entry = setup.entry()
    assert entry["state"][field] == UNIT
    return not entry["status"]["ready"] and not setup.measured()


@KINDS
def test_device_without_parameters_has_identity_rotation_and_is_not_ready(kind: int, field: str) -> None:
    setup = LeasedDevice(kind)
    assert unread(setup, field)

    setup.runtime.step(3)
    assert unread(setup, field)


@KINDS
def test_a_simulated_device_is_ready_with_its_first_tick(kind: int, field: str) -> None:
    setup = LeasedDevice(kind)
    setup.publish(at_port=False)
    assert unread(setup, field)

    setup.runtime.step()
    assert setup.measured()
    assert setup.entry()["status"]["ready"]


@KINDS
def test_a_device_at_a_port_is_ready_with_its_first_packet(kind: int, field: str) -> None:
    setup = LeasedDevice(kind)
    setup.publish(at_port=True)
    setup.runtime.step(3)
    assert unread(setup, field)

    assert PortCell(setup.runtime, setup.lease).put(orientation=TILTED)
    setup.runtime.step()
    assert setup.measured()
    assert setup.entry()["status"]["ready"]
    assert setup.entry()["state"][field] == pytest.approx({"w": 0.6, "x": 0.8, "y": 0, "z": 0})


@KINDS
@pytest.mark.parametrize("released", [True, False])
def test_slot_leased_again_shows_nothing_of_the_previous_device(kind: int, field: str, *, released: bool) -> None:
    setup = LeasedDevice(kind)
    setup.publish(at_port=True)
    assert PortCell(setup.runtime, setup.lease).put(orientation=TILTED, battery_level=0.5)
    setup.runtime.step()
    if released:
        setup.runtime.release_device(setup.lease)
        setup.runtime.step()

    setup.lease = setup.runtime.lease_device("A1")
    setup.publish(at_port=True)
    setup.runtime.step(3)
    assert unread(setup, field)


@KINDS
def test_loop_stopped_before_the_first_reading_shows_identity_rotation(kind: int, field: str) -> None:
    runtime = Runtime(realtime=False)
    setup = LeasedDevice(kind)
    setup.runtime, setup.lease = runtime, runtime.lease_device("A1")
    runtime.start()
    runtime.stop()
    assert unread(setup, field)
