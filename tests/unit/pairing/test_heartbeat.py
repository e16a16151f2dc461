"""Debounce of heartbeats: attached after 200 ms without a gap, detached after 100 ms without a heartbeat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.pairing.heartbeat import GAP_NS, PERIOD_S, Debounce, HeartbeatMonitor, of_simulated, step
from actors.values.simulation import Simulation
from tests.support.actors.slices import inventory_of

MS = 1_000_000
PERIOD_MS = round(PERIOD_S * 1000)
DEBOUNCE = Debounce()


def run(
    monitor: HeartbeatMonitor, beats_ms: Iterable[int], until_ms: int, debounce: Debounce = DEBOUNCE
) -> list[tuple[int, bool]]:
    """When it was attached and detached, in ms, update_pairs at every millisecond."""
    beats, newest, found = set(beats_ms), None, []
    for now in range(until_ms + 1):
        newest = now * MS if now in beats else newest
        before, monitor = monitor, step(monitor, newest, now * MS, debounce)
        if before.attached is not monitor.attached:
            found.append((now, monitor.attached))
    return found


def steady(since_ms: int, until_ms: int) -> range:
    return range(since_ms, until_ms + 1, PERIOD_MS)


def test_two_hundred_milliseconds_attach_and_a_hundred_without_detach() -> None:
    assert run(HeartbeatMonitor(), steady(0, 400), 1000) == [(200, True), (500, False)]


def test_without_heartbeats_nothing_is_attached() -> None:
    assert run(HeartbeatMonitor(), (), 500) == []


def test_one_heartbeat_more_would_have_attached() -> None:
    assert run(HeartbeatMonitor(), steady(0, 180), 1000) == []


def test_a_gap_starts_the_time_to_attach_again() -> None:
    assert run(HeartbeatMonitor(), [*steady(0, 160), *steady(240, 600)], 600) == [(440, True)]


def test_one_lost_heartbeat_is_no_gap() -> None:
    beats = [beat for beat in steady(0, 400) if beat != 100]

    assert run(HeartbeatMonitor(), beats, 400) == [(200, True)]


@pytest.mark.parametrize(("away_ms", "expected"), [(20, []), (60, []), (80, []), (120, [(500, False), (720, True)])])
def test_a_bounce_shorter_than_the_debounce_is_none(away_ms: int, expected: list[tuple[int, bool]]) -> None:
    beats = [*steady(0, 400), *steady(400 + away_ms, 1000)]

    assert run(HeartbeatMonitor(), beats, 1000)[1:] == expected


def test_who_was_attached_before_anybody_listened_has_the_whole_time_to_be_heard() -> None:
    assert run(HeartbeatMonitor(attached=True), (), 500) == [(100, False)]
    assert run(HeartbeatMonitor(attached=True), steady(60, 500), 500) == []


def test_the_settings_move_both() -> None:
    assert run(HeartbeatMonitor(), steady(0, 400), 1000, Debounce(60 * MS, 40 * MS)) == [(60, True), (440, False)]


def test_a_late_look_at_a_heart_that_goes_on_detaches_nothing() -> None:
    monitor = step(HeartbeatMonitor(attached=True), 0, 0, DEBOUNCE)

    assert step(monitor, 5000 * MS, 5000 * MS, DEBOUNCE).attached


def test_only_a_simulated_handle_that_beats_is_heard() -> None:
    (grip,) = inventory_of("grip").devices

    assert of_simulated(grip, 7) == 7
    assert of_simulated(replace(grip, simulation=Simulation(attached=False)), 7) is None
    assert of_simulated(replace(grip, identity=replace(grip.identity, simulated=False)), 7) is None


@given(st.lists(st.integers(1, 700), unique=True, max_size=40))
def test_it_is_attached_only_after_enough_and_detached_only_after_none(beats: list[int]) -> None:
    ordered = sorted(beats)
    for now, attached in run(HeartbeatMonitor(), ordered, 900):
        before = [beat for beat in ordered if beat <= now]
        if attached:
            window = [beat for beat in before if beat >= before[-1] - 200]
            assert all(b - a <= GAP_NS // MS for a, b in pairwise(window))
            assert before[-1] - before[0] >= 200
        else:
            assert now - before[-1] == 100
