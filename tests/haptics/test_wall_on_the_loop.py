"""A simulated arm pressed against a stiff wall for ten seconds on the real loop comes to rest with the filter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pytest

from actors.device.params import SLEW_N_S, SLOW_SLEW_N_S
from fastpath.arena.runtime import default_oscillation
from tests.support.loop.devices import ARM_CENTRE, REST, SteppedArm, arm_params
from tests.support.loop.walls import APPROACH_M, LIGHT, MEDIUM, Setup, rms_mm_s

FREQUENCY: Final = 1000.0
SECONDS: Final = 10.0
SETTLED_S: Final = 0.5
GRIPS: Final = {"light": LIGHT, "medium": MEDIUM}


@dataclass(slots=True)
class Held:
    """What the loop showed at each tick."""

    velocity: list[float] = field(default_factory=list[float])
    force: list[tuple[float, ...]] = field(default_factory=list[tuple[float, ...]])
    stage: list[int] = field(default_factory=list[int])
    entries: int = 0

    def settled_mm_s(self) -> float:
        """Motion across the wall once the hand has arrived, rms."""
        return rms_mm_s(np.array(self.velocity[round(SETTLED_S * FREQUENCY) :]))


def hold(
    grip: str,
    stiffness: float,
    *,
    filtered: bool = True,
    seconds: float = SECONDS,
    most: float = np.inf,
    aside: float = 0.0,
    slew: tuple[float, float] = (0.0, 0.0),
) -> Held:
    """Press along x: at each tick the client renders the wall (N/m, `most` N) from the last state, and `aside` N along y."""
    params = arm_params(grip=grip, hand={"path": REST}, encoder_step=12.5e-6, slew=slew[0], slow_slew=slew[1])
    rig = SteppedArm(at(params, -APPROACH_M), frequency=FREQUENCY)
    oscillation = default_oscillation()
    oscillation["enabled"] = filtered
    rig.runtime.publish_loop(frequency=FREQUENCY, command_timeout=rig.timeout, oscillation=oscillation)
    held, state = Held(), rig.step()
    for wanted in Setup(hand=GRIPS[grip]).pressing(seconds):
        rig.runtime.publish_device(rig.device, at(params, wanted))
        deep = float(state["position"][0]) - ARM_CENTRE[0]
        rig.force(-min(stiffness * max(deep, 0.0), most), aside, 0.0)
        state = rig.step()
        held.velocity.append(float(state["velocity"][0]))
        held.force.append(tuple(float(part) for part in state["force"]))
        held.stage.append(int(state["oscillation_stage"]))
    held.entries = int(state["oscillations"])
    return held


def at(params: np.ndarray, wanted: float) -> np.ndarray:
    """The hand means to be so far (m) behind the wall."""
    params["hand"]["centre"] = (ARM_CENTRE[0] + wanted, ARM_CENTRE[1], ARM_CENTRE[2])
    return params


@pytest.mark.parametrize("ratio", [2, 6])
@pytest.mark.parametrize("grip", GRIPS)
def test_a_stiff_wall_that_is_held_for_ten_seconds_comes_to_rest(grip: str, ratio: float) -> None:
    stiffness = ratio * Setup(hand=GRIPS[grip]).critical_stiffness()

    held = hold(grip, stiffness, slew=(SLEW_N_S, SLOW_SLEW_N_S))

    assert 1 <= held.entries <= 5
    assert held.settled_mm_s() <= 15


def test_stiff_wall_never_comes_to_rest_without_the_filter() -> None:
    held = hold("light", 2 * Setup(hand=LIGHT).critical_stiffness(), filtered=False, seconds=3.0)

    assert held.entries == 0
    assert held.settled_mm_s() > 50


@pytest.mark.promise(141, "The oscillation filter works on each axis by itself")
def test_oscillation_along_one_axis_keeps_the_force_along_another() -> None:
    held = hold("light", 8 * Setup(hand=LIGHT).critical_stiffness(), seconds=3.0, most=8.0, aside=1.0)

    assert held.entries >= 1
    assert min(held.stage) == 0
    assert min(force[1] for force in held.force) >= 0.9
