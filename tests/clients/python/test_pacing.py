"""Pacing and its figures by a manual clock."""

from __future__ import annotations

import math

import pytest

from hapticd_client import InvalidCommand, LateTurn, LoopTooSlow
from hapticd_client.core.pacing import Pacer


def turn(pacer: Pacer, at: float, body: float = 0.0) -> tuple[int, int, bool]:
    """Begin a turn at a time and end it `body` later; number, skipped turns, whether its set-points are worth sending."""
    begun = pacer.begin(at)
    pacer.answered(at, at)
    return begun.number, begun.skipped, pacer.end(at + body)


def test_turns_are_due_at_multiples_of_the_period_however_late_each_began() -> None:
    pacer = Pacer(100)
    assert pacer.wait(5.0) == 0
    turn(pacer, 5.0)
    assert pacer.wait(5.002) == pytest.approx(0.008)
    turn(pacer, 5.0104)
    assert pacer.wait(5.011) == pytest.approx(0.009)


def test_late_turns_are_left_out_and_never_made_up_for() -> None:
    pacer = Pacer(100)
    pacer.wait(0.0)
    turn(pacer, 0.0)

    assert turn(pacer, 0.0455) == (1, 3, True)
    assert pacer.wait(0.0455) == pytest.approx(0.0045)

    figures = pacer.statistics()
    assert (figures.turns, figures.missed, figures.late) == (2, 3, 0)
    assert figures.longest_gap == pytest.approx(0.0455)


def test_turn_more_than_half_a_period_late_is_counted_as_late() -> None:
    pacer = Pacer(100)
    pacer.wait(0.0)
    for at in (0.0, 0.0149, 0.0249, 0.0349):
        turn(pacer, at)

    assert (pacer.statistics().late, pacer.statistics().missed) == (0, 0)
    turn(pacer, 0.0456)
    assert pacer.statistics().late == 1
    assert pacer.statistics().on_time == pytest.approx(0.8)


def test_body_over_its_budget_is_a_miss_and_over_the_timeout_is_not_sent() -> None:
    pacer = Pacer(100, budget=0.002, timeout=0.05)
    pacer.wait(0.0)

    assert turn(pacer, 0.0, 0.001)[2]
    assert turn(pacer, 0.01, 0.003)[2]
    assert pacer.statistics().missed == 1
    assert not turn(pacer, 0.02, 0.051)[2]


def test_misses_in_a_row_end_the_loop_and_single_ones_do_not() -> None:
    pacer = Pacer(100, stop_after_misses=2)
    pacer.wait(0.0)
    turn(pacer, 0.0)
    turn(pacer, 0.025)
    turn(pacer, 0.03)
    turn(pacer, 0.055)

    with pytest.raises(LoopTooSlow, match="2 turns in a row"):
        pacer.begin(0.075)


def test_late_turn_is_raised_when_asked_for() -> None:
    pacer = Pacer(100, on_late="raise")
    pacer.wait(0.0)
    turn(pacer, 0.0)

    with pytest.raises(LateTurn):
        pacer.begin(0.016)


def test_time_without_the_service_is_not_missed() -> None:
    pacer = Pacer(100)
    pacer.wait(0.0)
    for at in (0.0, 0.01):
        turn(pacer, at)
    pacer.forget()

    assert pacer.wait(10.0) == 0
    assert turn(pacer, 10.0) == (2, 0, True)
    assert pacer.statistics().missed == 0


@pytest.mark.parametrize(
    ("rate", "given"),
    [
        (0, {}),
        (-1, {}),
        (math.nan, {}),
        (math.inf, {}),
        (1, {"budget": 0}),
        (1, {"on_late": "wait"}),
        (1, {"stop_after_misses": 0}),
    ],
)
def test_arguments_without_a_meaning_are_refused(rate: float, given: dict[str, object]) -> None:
    with pytest.raises(InvalidCommand):
        Pacer(rate, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rate", "slow"), [(59, True), (60, False), (1000, False)])
def test_rate_under_three_turns_per_timeout_is_told(rate: float, slow: bool) -> None:
    assert (Pacer(rate, timeout=0.05).too_slow_for is not None) is slow


def test_figures_of_no_turn_are_zero_and_one_line() -> None:
    figures = Pacer(100).statistics()

    assert (figures.rate, figures.turns, figures.on_time) == (0, 0, 1)
    assert "\n" not in str(figures)
