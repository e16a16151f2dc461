"""Gains that sessions request for others: the smallest one counts."""

from __future__ import annotations

from actors.modules.force_ducking import HTTP, ForceScales


def test_smallest_gain_counts_and_can_be_withdrawn() -> None:
    scales = ForceScales()
    scales.set_gain(1, 7, 0.5)
    scales.set_gain(2, 7, 0.2)
    scales.set_gain(HTTP, 8, 0)

    assert (scales.gain(7), scales.gain(8), scales.gain(9)) == (0.2, 0, 1)
    scales.set_gain(2, 7, 1)
    assert scales.gain(7) == 0.5
    assert scales.targets_of(1) == (7,)
    assert scales.targets_of(2) == ()
    scales.set_gain(1, 7, 1)
    assert scales.gain(7) == 1


def test_closed_session_is_forgotten() -> None:
    scales = ForceScales()
    scales.set_gain(1, 7, 0)
    scales.forget(7)
    scales.forget(7)

    assert scales.gain(7) == 1
    assert scales.targets_of(1) == ()
