"""Apply a simulation request to a device's Simulation, and convert it to the loop's parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from actors.device.messages import DeviceRecord
from actors.device.params import device_params
from actors.device.simulation import AWAY, changed
from actors.kit.errors import InvalidInput
from actors.values.simulation import Fault, HandPath, Simulation, SimulationChange
from tests.support.actors.doubles import inventory_of

ARM, GRIP, PEN = inventory_of("arm", "grip", "pen").devices
PLACE = (0.05, -0.1, 0.2)
TURNED = (0.6, 0.8, 0.0, 0.0)


def after(record: DeviceRecord, *changes: SimulationChange) -> DeviceRecord:
    """The record after these changes."""
    for change in changes:
        record = replace(record, simulation=changed(record, change))
    return record


def test_empty_change_changes_nothing() -> None:
    assert after(ARM, SimulationChange()) == ARM


def test_hand_rests_at_a_position_unless_a_path_is_named() -> None:
    rests = after(ARM, SimulationChange(position=PLACE)).simulation
    circles = after(ARM, SimulationChange(position=PLACE, path=HandPath.CIRCLE)).simulation

    assert (rests.path, rests.position) == (HandPath.REST, PLACE)
    assert (circles.path, circles.position) == (HandPath.CIRCLE, PLACE)
    assert after(ARM, SimulationChange(position=PLACE), SimulationChange(centred=True)).simulation.position is None


def test_holding_again_uses_the_present_position() -> None:
    held = after(ARM, SimulationChange(position=PLACE), SimulationChange(path=HandPath.HOLD))

    assert held.simulation.position is None
    params = device_params(held, 0)
    assert int(params["hand"]["path"]) == 3
    assert int(params["plant_revision"]) == 2
    there = device_params(after(ARM, SimulationChange(path=HandPath.HOLD, position=PLACE)), 0)
    assert int(there["hand"]["path"]) == 2
    assert tuple(there["hand"]["centre"]) == PLACE


def test_buttons_change_one_by_one() -> None:
    pressed = after(
        GRIP, SimulationChange(buttons=(("a", True), ("c", True))), SimulationChange(buttons=(("a", False),))
    )

    assert pressed.simulation.buttons == 4
    assert int(device_params(pressed, 0)["buttons"]) == 4


def test_orientation_is_set_and_cleared() -> None:
    turned = after(PEN, SimulationChange(orientation=TURNED))

    assert tuple(device_params(turned, 0)["simulation"]["orientation"]) == TURNED
    assert not np.any(device_params(after(turned, SimulationChange(free=True)), 0)["simulation"]["orientation"])


def test_battery_level_and_throw_apply_on_each_request() -> None:
    charged = after(GRIP, *[SimulationChange(battery_level=0.5)] * 2)
    thrown = after(ARM, *[SimulationChange(fault=Fault.THROW)] * 2)

    assert (charged.simulation.battery_level, charged.simulation.battery_revision) == (0.5, 2)
    assert float(device_params(charged, 0)["battery_start"]) == 0.5
    params = device_params(thrown, 0)
    assert (int(params["simulation"]["push_revision"]), int(params["hand"]["path"])) == (2, 0)
    assert np.linalg.norm(params["simulation"]["push"]) == 3.5


def test_hand_stiffness_scales_all_its_springs_and_dampers() -> None:
    soft, stiff = (device_params(after(ARM, SimulationChange(stiffness=k)), 0)["hand"] for k in (150.0, 600.0))

    for name, factor in (("grip_stiffness", 4), ("arm_stiffness", 4), ("grip_damping", 2), ("arm_damping", 2)):
        assert float(stiff[name]) == pytest.approx(factor * float(soft[name]))


@pytest.mark.parametrize(
    ("fault", "field"),
    [
        (Fault.STALL, "lock_stiffness"),
        (Fault.FOREIGN_OBJECT, "external"),
        (Fault.HANG, "frozen"),
        (Fault.THROW, "push"),
    ],
)
def test_fault_is_one_request_and_ends_with_it(fault: Fault, field: str) -> None:
    faulty = after(ARM, SimulationChange(fault=fault))

    assert np.any(device_params(faulty, 0)["simulation"][field])
    assert not np.any(device_params(after(faulty, SimulationChange(fault=Fault.NONE)), 0)["simulation"][field])


def test_disconnection_faults_apply_to_every_kind() -> None:
    for fault in AWAY:
        for record in (ARM, GRIP, PEN):
            assert after(record, SimulationChange(fault=fault)).fault is fault


@pytest.mark.parametrize(
    ("record", "change", "path"),
    [
        (ARM, SimulationChange(buttons=(("a", True),)), "buttons"),
        (ARM, SimulationChange(attached=True), "attached"),
        (ARM, SimulationChange(battery_level=0.5), "battery_level"),
        (PEN, SimulationChange(battery_level=0.5), "battery_level"),
        (GRIP, SimulationChange(battery_level=1.01), "battery_level"),
        (GRIP, SimulationChange(position=PLACE), "hand"),
        (GRIP, SimulationChange(centred=True), "hand"),
        (GRIP, SimulationChange(stiffness=100.0), "hand"),
        (GRIP, SimulationChange(fault=Fault.STALL), "fault"),
        (GRIP, SimulationChange(fault=Fault.FOREIGN_OBJECT), "fault"),
        (GRIP, SimulationChange(fault=Fault.THROW), "fault"),
        (PEN, SimulationChange(fault=Fault.OSCILLATING_HALL), "fault"),
        (PEN, SimulationChange(fault=Fault.CALIBRATION_BLOCKED), "fault"),
        (ARM, SimulationChange(stiffness=9.9), "hand.stiffness"),
        (ARM, SimulationChange(stiffness=1000.1), "hand.stiffness"),
        (ARM, SimulationChange(position=(0.0, 0.0, 0.2)), "hand.position.y"),
    ],
)
def test_unsupported_value_is_refused_by_name(record: DeviceRecord, change: SimulationChange, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        changed(record, change)

    assert caught.value.path == path


def test_real_device_has_the_default_simulation() -> None:
    assert Simulation().fault is Fault.NONE
    assert Simulation().attached


@pytest.mark.parametrize(
    ("paired", "attached", "held"), [(None, False, True), ("B001", True, True), ("B001", False, False)]
)
def test_foreign_object_pushes_after_the_grip_is_released(paired: str | None, attached: bool, held: bool) -> None:
    pushed = after(ARM, SimulationChange(fault=Fault.FOREIGN_OBJECT))
    bond = replace(pushed.bond, paired_with=paired, attached=attached)

    assert bool(int(device_params(replace(pushed, bond=bond), 0)["hand"]["path"])) is held
