"""Damping of sessions: viscous force on each device axis; the strongest open session counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.arena.access import Writer
from tests.support.loop.devices import SteppedArm, arm_params, force_of, keep

MOVING_S = 0.3


def moving(mass: float = 0.2, frequency: float = 4000.0, peak_force: float = 10.0) -> SteppedArm:
    """An arm that its hand draws along a circle."""
    rig = SteppedArm(arm_params(plant={"mass": mass}, peak_force=peak_force), frequency=frequency)
    rig.step(rig.ticks(MOVING_S))
    return rig


def damp(writer: Writer, x: float, y: float, z: float) -> None:
    writer.set_damping(x, y, z)
    assert writer.publish(refresh=False)


@pytest.mark.parametrize("damping", [(1, 2, 3), (0, 4, 0), (0.5, 0, 20)])
def test_the_force_is_minus_b_v_along_each_axis(damping: tuple[float, float, float]) -> None:
    rig = moving()
    damp(rig.writer, *damping)
    state = rig.step(7)

    for _ in range(100):
        state = rig.step(7)
        assert force_of(state) == pytest.approx(-np.array(damping) * state["velocity"], abs=1e-12)
    assert np.max(np.abs(state["velocity"])) > 1e-3


def test_damping_slows_the_device_down() -> None:
    free, damped = moving(), moving()
    damp(damped.writer, 20, 20, 20)

    def way(rig: SteppedArm) -> float:
        return math.fsum(float(np.linalg.norm(rig.step(4)["velocity"])) for _ in range(500))

    assert way(damped) < 0.8 * way(free)


def test_strongest_damping_of_several_sessions_counts_per_axis() -> None:
    rig = moving()
    damp(rig.writer, 1, 8, 2)
    damp(rig.other("2"), 6, 3, 2)
    damp(rig.other("3"), 0, 0, 5)

    state = rig.step(20)

    assert force_of(state) == pytest.approx(-np.array((6, 8, 5)) * state["velocity"], abs=1e-12)


@given(st.lists(st.tuples(*[st.floats(0, 20)] * 3), min_size=1, max_size=4))
def test_session_cannot_reduce_another_s_damping(dampings: list[tuple[float, float, float]]) -> None:
    rig = moving()
    for number, damping in enumerate(dampings, 2):
        damp(rig.other(str(number)), *damping)

    state = rig.step(3)

    assert force_of(state) == pytest.approx(-np.max(dampings, axis=0) * state["velocity"], abs=1e-12)


@pytest.mark.parametrize(
    ("mass", "frequency", "most"),
    [(0.2, 4000.0, 20.0), (0.2, 100.0, 6.283), (0.2, 50.0, 3.142), (0.02, 1000.0, 4.064), (0.02, 4000.0, 6.390)],
)
def test_damping_is_limited_to_20_and_what_the_bare_mass_bears(mass: float, frequency: float, most: float) -> None:
    """0.4 pi m / (2 t), t being 1.5 periods and the lag of the low-pass of 100 Hz, or half a period where that is longer."""
    rig = moving(mass, frequency, peak_force=1e6)
    damp(rig.writer, 1000, 15, 0.5)

    state = rig.step(5)

    wanted = -np.array((most, min(15, most), 0.5)) * state["velocity"]
    assert force_of(state) == pytest.approx(wanted, rel=1e-3, abs=1e-9)


def test_damping_needs_no_commands_and_does_not_time_out() -> None:
    rig = moving()
    damp(rig.writer, 2, 2, 2)

    state = rig.step(rig.ticks(10 * rig.timeout))

    assert force_of(state) == pytest.approx(-2 * state["velocity"], abs=1e-12)
    assert np.any(state["force"])
    assert state["mode"] == 0
    assert not np.any(state["live"])


def test_damping_adds_to_a_force_and_outlives_it() -> None:
    rig = moving()
    rig.writer.set_damping(2, 2, 2)
    rig.force(0.5, 0.0, -0.25)

    state = rig.step()
    assert force_of(state) == pytest.approx(np.array((0.5, 0, -0.25)) - 2 * state["velocity"], abs=1e-12)

    rig.writer.begin()
    rig.writer.publish()
    state = rig.step()
    assert force_of(state) == pytest.approx(-2 * state["velocity"], abs=1e-12)
    assert np.any(state["force"])


def test_cleared_damping_ends_at_the_next_tick() -> None:
    rig = moving()
    damp(rig.writer, 2, 2, 2)
    rig.step()

    damp(rig.writer, 0, 0, 0)

    assert force_of(rig.step()) == (0.0, 0.0, 0.0)


def test_damping_ends_when_the_writer_is_revoked() -> None:
    rig = moving()
    damp(rig.writer, 2, 2, 2)
    rig.step()

    rig.writer.revoke()

    assert force_of(rig.step(2)) == (0.0, 0.0, 0.0)


def test_damping_of_a_closed_session_is_replaced_by_another_s() -> None:
    rig = moving()
    lease = rig.runtime.lease_session("2")
    damp(rig.writer, 1, 1, 1)
    damp(rig.runtime.writer(lease, rig.device), 9, 9, 9)
    rig.step()

    rig.runtime.release_session(lease)

    state = rig.step(2)
    assert force_of(state) == pytest.approx(-state["velocity"], abs=1e-12)


def test_the_next_session_in_a_slot_does_not_inherit_damping() -> None:
    rig = moving()
    damp(rig.writer, 9, 9, 9)
    rig.step()
    rig.runtime.release_session(rig.session)
    rig.step(2)

    writer = rig.other("2")
    writer.force(0.0, 0.0, 0.0)
    writer.publish()

    assert force_of(rig.step(5)) == (0.0, 0.0, 0.0)


def test_the_next_device_in_a_slot_is_not_damped() -> None:
    rig = moving()
    damp(rig.writer, 9, 9, 9)
    rig.step()
    rig.runtime.release_device(rig.device)
    rig.step(2)
    lease = rig.runtime.lease_device("next")
    rig.runtime.publish_device(lease, arm_params())

    rig.step(rig.ticks(0.2))

    assert force_of(rig.runtime.reader(lease).snapshot()) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("way", ["stop", "settling"])
def test_stopped_device_is_not_damped(way: str) -> None:
    rig = moving()
    damp(rig.writer, 9, 9, 9)
    rig.step()

    if way == "stop":
        rig.runtime.stop_device(rig.device, stopped=True)
    else:
        rig.runtime.publish_device(rig.device, arm_params(accepts_commands=0))

    assert force_of(rig.step(2)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("bad", [(-1.0, 0.0, 0.0), (0.0, math.nan, 0.0), (0.0, 0.0, math.inf), (0.0, -1e-9, 0.0)])
def test_invalid_damping_is_refused_and_changes_nothing(bad: tuple[float, float, float]) -> None:
    rig = moving()
    damp(rig.writer, 1, 1, 1)

    with pytest.raises(ValueError, match=r"damping|finite"):
        rig.writer.set_damping(*bad)

    rig.writer.publish(refresh=False)
    state = rig.step()
    assert force_of(state) == pytest.approx(-state["velocity"], abs=1e-12)


def test_damping_continues_while_another_session_commands() -> None:
    rig = moving()
    other = rig.other("2")
    damp(rig.writer, 3, 3, 3)
    other.force(1.0, 0.0, 0.0)

    state = keep(other, rig, 0.1)

    assert force_of(state) == pytest.approx(np.array((1, 0, 0)) - 3 * state["velocity"], abs=1e-12)
