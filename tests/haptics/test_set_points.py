"""Set-points that are late, far away, turned round or no numbers: none pulls harder than half the peak or jumps, none disturbs another session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.device.params import SLEW_N_S, SLOW_SLEW_N_S
from fastpath.arena.access import Writer
from tests.support.loop.devices import ARM_CENTRE, ARM_MECHANISM, REST, SteppedArm, arm_params, force_of

PEAK_N: Final = 10.0
AWAY_M: Final = 0.04
DEGREES: Final = np.degrees(ARM_MECHANISM.inverse(ARM_CENTRE))


def params_of(grip: str) -> NDArray[np.void]:
    return arm_params(grip=grip, hand={"path": REST}, slew=SLEW_N_S, slow_slew=SLOW_SLEW_N_S)


def arm(*, timeout: float = 0.05, grip: str = "light") -> SteppedArm:
    return SteppedArm(params_of(grip), timeout=timeout)


def hold(rig: SteppedArm, seconds: float) -> float:
    """Hold a position beside the hand with a command in each tick; return the arm's largest speed towards it, m/s."""
    fastest = 0.0
    for _ in range(rig.ticks(seconds)):
        rig.writer.begin()
        rig.writer.position(ARM_CENTRE[0] + AWAY_M, *ARM_CENTRE[1:])
        assert rig.writer.publish()
        fastest = max(fastest, float(rig.step()["velocity"][0]))
    return fastest


@pytest.mark.parametrize("gap_s", [0.08, 0.15, 0.24, 0.26, 0.5])
@pytest.mark.parametrize("timeout_s", [0.05, 1.0])
def test_set_point_returns_softly_after_a_gap_whether_or_not_its_command_timed_out(
    gap_s: float, timeout_s: float
) -> None:
    rig = arm(timeout=timeout_s, grip="light")
    hold(rig, 1.0)

    rig.step(missed=rig.ticks(gap_s) - 1)
    if timeout_s < gap_s:
        rig.step(4)

    assert hold(rig, 0.1) < 0.12
    assert hold(rig, 3.0) < 0.15
    assert abs(float(rig.step()["position"][0]) - ARM_CENTRE[0]) > 0.005


def test_set_point_far_away_leaves_no_trace_in_the_next_one() -> None:
    rig = arm()
    for _ in range(20):
        rig.writer.begin()
        rig.writer.position(9e17, 0, 0)
        assert rig.writer.publish()
        assert np.abs(rig.step()["target"]).max() < 1000

    hold(rig, 1.0)

    honest = arm()
    hold(honest, 1.0)
    assert force_of(rig.step()) == pytest.approx(force_of(honest.step()), abs=0.05)


def steady(rig: SteppedArm, other: Writer, command: Callable[[], None]) -> NDArray[np.void]:
    """The state after 2 N of one session beside what another commands."""
    for _ in range(rig.ticks(0.3)):
        rig.force(0, 0, 2.0)
        other.begin()
        command()
        assert other.publish()
        rig.step()
    return rig.reader.snapshot()


@pytest.mark.parametrize("size", [1e18, -1e18, 1e300])
@pytest.mark.parametrize("command", ["position", "angle"])
def test_set_point_out_of_all_reach_takes_no_force_of_another_session(command: str, size: float) -> None:
    rig = arm(grip="firm")
    other = rig.other("b")

    state = steady(rig, other, lambda: getattr(other, command)(size, 0, 0))

    assert force_of(state)[2] == pytest.approx(2.0, abs=0.01)
    assert np.abs(np.array(state["target"])).max() < 1000


def test_set_point_that_a_clutch_makes_infinite_takes_no_force_of_another_session() -> None:
    rig = arm(grip="firm")
    other = rig.other("b")
    other.set_clutch(1e-300, rig.reader)

    state = steady(rig, other, lambda: other.position(1e6, 0, 0))

    assert force_of(state)[2] == pytest.approx(2.0, abs=0.01)


def test_held_angles_pull_with_half_the_peak_at_most() -> None:
    rig = arm(grip="firm")
    most = 0.0
    for _ in range(rig.ticks(1.0)):
        rig.writer.begin()
        rig.writer.angle(DEGREES[0] + 30, *DEGREES[1:])
        assert rig.writer.publish()
        most = max(most, float(np.linalg.norm(force_of(rig.step()))))

    assert 0.8 * PEAK_N / 2 < most <= PEAK_N / 2 + 1e-6


def test_held_angles_return_softly_when_the_handedness_changes() -> None:
    params = params_of("light")
    rig = SteppedArm(params)

    def held(seconds: float) -> float:
        fastest = 0.0
        for _ in range(rig.ticks(seconds)):
            rig.writer.begin()
            rig.writer.angle(DEGREES[0] + 5, *DEGREES[1:])
            assert rig.writer.publish()
            fastest = max(fastest, float(np.linalg.norm(rig.step()["velocity"])))
        return fastest

    held(1.0)
    params["left_handed"] = 1
    assert rig.runtime.publish_device(rig.device, params)

    assert held(0.2) < 0.15
    assert held(3.0) < 0.3
