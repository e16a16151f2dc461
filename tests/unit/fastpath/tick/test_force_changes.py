"""What filter, damper and monitors take from the commanded force and add to it, in N·s."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.control.gap_counters import CHANGERS
from fastpath.arena.access import Reader
from fastpath.testing.formulas import force_change
from tests.support.loop.devices import SteppedArm, arm_params, shaken_until_found
from tests.support.loop.monitored_arm import EBRAKE, MonitoredArm, bare_arm, latched

Vector = tuple[float, float, float]

number = st.floats(-10, 10)
force = st.tuples(number, number, number)


@pytest.mark.parametrize(
    ("before", "after", "taken", "added"),
    [
        ((2, 0, 0), (2, 0, 0), 0, 0),
        ((2, 0, 0), (0.5, 0, 0), 1.5, 0),
        ((2, 0, 0), (3, 0, 0), 0, 1),
        ((2, 0, 0), (2, 1, 0), 0, 1),
        ((2, 0, 0), (-1, 0, 0), 2, 1),
        ((2, 0, 0), (0, 1, 0), 2, 1),
        ((0, 0, 0), (0, 0, -3), 0, 3),
        ((0, 3, 4), (0, 0, 0), 5, 0),
    ],
)
def test_difference_is_taken_up_to_the_force_and_added_beyond(
    before: Vector, after: Vector, taken: float, added: float
) -> None:
    assert force_change(before, after, 0.5) == pytest.approx((taken / 2, added / 2))


@given(force, force)
def test_taken_and_added_explain_the_difference(before: Vector, after: Vector) -> None:
    taken, added = force_change(before, after, 1.0)

    size = float(np.linalg.norm(before))
    assert 0 <= taken <= size + 1e-9
    assert added >= 0
    # What is taken lies along the force, what is added beside or beyond it.
    along = np.asarray(before) / (size or 1.0)
    rest = np.asarray(after) - np.asarray(before) + taken * along
    assert float(np.linalg.norm(rest)) == pytest.approx(added, abs=1e-6)
    assert float(rest @ along) * taken <= 1e-6 or math.isclose(taken, size)


def changes(rig: SteppedArm) -> dict[str, tuple[float, float]]:
    """What each has taken and added, once the gaps were published after what the rig did."""
    rig.step(rig.ticks(0.11))
    reader: Reader = rig.reader
    cell: Any = reader.gaps()["changes"]
    return dict(zip(CHANGERS, zip(cell["taken"].tolist(), cell["added"].tolist(), strict=True), strict=True))


@pytest.mark.parametrize("torques", [(6000, 6000, 6000), (6000, 0, 0), (0, 0, -6000), (3000, 0, 0)])
def test_torques_beyond_the_peak_force_are_no_force_that_the_filter_adds(torques: Vector) -> None:
    rig = SteppedArm(arm_params(grip="firm"))
    for _ in range(30):
        rig.writer.begin()
        rig.writer.torque(*torques)
        assert rig.writer.publish()
        rig.step(rig.ticks(0.01))

    assert changes(rig)["filter"] == pytest.approx((0, 0), abs=1e-9)


def test_force_that_arrives_is_not_counted() -> None:
    rig = SteppedArm(arm_params())
    for _ in range(50):
        rig.force(2, 0, 0)
        rig.step(rig.ticks(0.01))

    assert changes(rig) == {"filter": (0, 0), "damper": (0, 0), "monitors": (0, 0)}


def test_brake_takes_the_command_and_adds_its_own() -> None:
    rig = MonitoredArm(bare_arm())
    rig.push(3.5, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.02)
    for _ in range(30):
        rig.force(0, 4, 0)
        rig.step(rig.ticks(0.01))

    counted = changes(rig)
    taken, added = counted.pop("monitors")
    assert counted == {"filter": (0, 0), "damper": (0, 0)}
    assert taken == pytest.approx(0.3 * 4, rel=0.25)
    assert added > 0.2


def test_oscillation_that_is_found_costs_force_by_damper_and_filter() -> None:
    rig = SteppedArm(arm_params())
    shaken_until_found(rig)
    for tick in range(rig.ticks(1.0)):
        rig.force(6 * math.sin(math.tau * 15 * tick / rig.frequency), 0.0, 0.0)
        rig.step()

    counted = changes(rig)
    assert counted["damper"][0] + counted["filter"][0] > 0.1
    assert counted["monitors"] == (0, 0)
