"""Gains that sessions request for others: the smallest one counts."""

from __future__ import annotations

from actors.modules.force_ducking import HTTP, ForceScales


def test_the_smallest_gain_counts_and_one_takes_back() -> None:
    ducks = ForceScales()
    ducks.ask(1, 7, 0.5)
    ducks.ask(2, 7, 0.2)
    ducks.ask(HTTP, 8, 0)

    assert (ducks.gain(7), ducks.gain(8), ducks.gain(9)) == (0.2, 0, 1)
    ducks.ask(2, 7, 1)
    assert ducks.gain(7) == 0.5
    assert ducks.asked_by(1) == (7,)
    assert ducks.asked_by(2) == ()
    ducks.ask(1, 7, 1)
    assert ducks.gain(7) == 1


def test_a_session_that_closes_is_forgotten() -> None:
    ducks = ForceScales()
    ducks.ask(1, 7, 0)
    ducks.forget(7)
    ducks.forget(7)

    assert ducks.gain(7) == 1
    assert ducks.asked_by(1) == ()
