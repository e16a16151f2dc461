"""Output limits of an arm whatever is commanded: springs at the edge of its reach, and hot motors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.loop.devices import ARM_CENTRE, ARM_HIGH, ARM_LOW, NO_HAND, REST, arm_params, fill, keep
from tests.support.loop.monitored_arm import (
    DERATED,
    MonitoredArm,
    size,
)

# ---------------------------------------------------------------- reach limits


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("side", [-1, 1])
def test_springs_push_back_out_of_the_zones_at_the_edge_of_the_reach(axis: int, side: int) -> None:
    place = list(ARM_CENTRE)
    # 5 mm deep in a zone of 20 mm.
    place[axis] = ARM_LOW[axis] + 0.015 if side < 0 else ARM_HIGH[axis] - 0.015
    still = arm_params(plant={"mass": 1e9}, hand={"path": REST, "centre": place})
    zones = {"zone_low": (0.020,) * 3, "zone_high": (0.020,) * 3}
    fill(still, zones)
    rig = MonitoredArm(still)

    force = rig.step()["force"]

    expected = np.zeros(3)
    expected[axis] = -side * 500 * 0.005
    assert force == pytest.approx(expected, abs=0.02)


def test_springs_push_with_at_most_half_the_peak() -> None:
    place = (ARM_LOW[0], ARM_LOW[1], ARM_CENTRE[2])
    still = arm_params(plant={"mass": 1e9}, hand={"path": REST, "centre": place})
    fill(still, {"zone_low": (0.1,) * 3, "zone_high": (0.1,) * 3})

    assert size(MonitoredArm(still).step()) == pytest.approx(5.0, abs=1e-6)


def test_inside_the_reach_no_spring_acts() -> None:
    still = arm_params(plant={"mass": 1e9}, hand={"path": REST})
    fill(still, {"zone_low": (0.020,) * 3, "zone_high": (0.020,) * 3})

    assert size(MonitoredArm(still).step()) == 0


# ---------------------------------------------------------------- hot motors


def hot_arm(celsius: float) -> MonitoredArm:
    """Locked motors that the room itself has brought to a temperature."""
    params = arm_params(plant={"mass": 1e9}, hand={"path": NO_HAND}, torque_limit=1000.0)
    fill(params["thermal"], {"rise": 1e-9, "ratio": 1.0, "winding": 1.0, "housing": 1.0, "ambient": celsius})
    return MonitoredArm(params, frequency=1000.0)


def warmed(rig: MonitoredArm, celsius: float) -> Any:
    """The state after the motors have come to another temperature."""
    thermal = rig.params["thermal"].copy()
    thermal["ambient"] = celsius
    rig.change(thermal=thermal)
    return rig.step(rig.ticks(40))


@pytest.mark.parametrize(
    ("celsius", "share"), [(25, 1), (79.9, 1), (90, 0.75), (100, 0.5), (105, 0.25), (110, 0), (150, 0)]
)
def test_heat_reduces_the_torque_limit(celsius: float, share: float) -> None:
    rig = hot_arm(celsius)
    rig.writer.begin()
    rig.writer.torque(0, 1000, 0)
    assert rig.writer.publish()

    state = rig.step(4)

    assert float(state["temperature"]) == pytest.approx(celsius)
    assert float(state["derating"]) == pytest.approx(share)
    assert float(state["torque"][1]) == pytest.approx(1000 * share, abs=1e-6)
    assert bool(int(state["safety"]) & DERATED) is (share < 1)


def test_torque_limit_recovers_after_cooling_five_kelvin() -> None:
    rig = hot_arm(25)

    shares = [float(warmed(rig, celsius)["derating"]) for celsius in (90, 86, 84, 80, 76, 74.5)]

    assert shares == pytest.approx([0.75, 0.75, 0.775, 0.875, 0.975, 1], abs=1e-3)
    assert rig.step()["deratings"] == 1
    assert float(warmed(rig, 90)["derating"]) == pytest.approx(0.75, abs=1e-3)
    assert rig.step()["deratings"] == 2


def test_motors_heat_with_their_torque() -> None:
    params = arm_params(plant={"mass": 1e9}, hand={"path": NO_HAND}, torque_limit=1000.0)
    fill(params["thermal"], {"rise": 80.0, "ratio": 1.5, "winding": 2.0, "housing": 1e6, "ambient": 25.0})
    rig = MonitoredArm(params, frequency=1000.0)
    rig.writer.begin()
    rig.writer.torque(0, 500, 0)

    state = keep(rig.writer, rig, 10)

    # A quarter of the heat at the limit, less what the housing has not taken yet.
    assert float(state["temperature"]) == pytest.approx(25 + 20 * (1 - np.exp(-5)), abs=0.2)
