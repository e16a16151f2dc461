"""Force gates: while the oscillation filter acts, each session's own force is reduced by its own gate only."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.arena.access import Writer
from fastpath.arena.runtime import default_oscillation
from tests.support.loop.devices import REST, SteppedArm, arm_params

SECONDS = 0.6
SHAKE_HZ = 15.0


def shaken(gate: float, *, enabled: bool = True) -> NDArray[np.void]:
    """States, tick by tick, of an arm that one session shakes along x while another one pushes it with 1 N along z."""
    rig = SteppedArm(arm_params(grip="light", hand={"path": REST}), frequency=1000)
    oscillation = default_oscillation()
    oscillation["enabled"] = enabled
    # It follows the motion, to which the other session's force adds.
    oscillation["damping"] = 0
    rig.runtime.publish_loop(frequency=1000, command_timeout=0.05, oscillation=oscillation)
    steady = rig.other("2")
    steady.set_gate(gate)
    assert steady.publish(refresh=False)
    rig.step(rig.ticks(0.2))
    states: list[NDArray[np.void]] = []
    for tick in range(rig.ticks(SECONDS)):
        rig.force(3 * math.sin(math.tau * SHAKE_HZ * tick / 1000), 0.0, 0.0)
        push(steady)
        states.append(rig.step())
    return np.array(states)


def push(writer: Writer) -> None:
    writer.begin()
    writer.force(0.0, 0.0, 1.0)
    assert writer.publish()


@pytest.mark.parametrize("gate", [0.0, 0.3, 1.0])
def test_session_force_is_reduced_by_its_gate_times_the_filter_s_reduction(gate: float) -> None:
    seen = shaken(gate)
    before = seen["severity"][:-1]

    assert np.max(before) > 0.5
    assert seen["force"][1:, 2] == pytest.approx(1 - gate * before, abs=1e-9)


def test_gate_keeps_another_session_s_force() -> None:
    assert shaken(1.0)["force"][:, 0] == pytest.approx(shaken(0.0)["force"][:, 0], abs=1e-9)


def test_gate_without_the_filter_changes_nothing() -> None:
    seen = shaken(1.0, enabled=False)

    assert np.all(seen["severity"] == 0)
    assert seen["force"][:, 2] == pytest.approx(1, abs=1e-9)
