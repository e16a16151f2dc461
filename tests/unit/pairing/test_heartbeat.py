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
from tests.support.actors.doubles import inventory_of

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


def test_attaches_after_200_ms_and_detaches_after_100_ms_without() -> None:
    assert run(HeartbeatMonitor(), steady(0, 400), 1000) == [(200, True), (500, False)]


def test_no_heartbeats_never_attach() -> None:
    assert run(HeartbeatMonitor(), (), 500) == []


def test_one_heartbeat_short_of_the_time_does_not_attach() -> None:
    assert run(HeartbeatMonitor(), steady(0, 180), 1000) == []


def test_gap_restarts_the_attach_time() -> None:
    assert run(HeartbeatMonitor(), [*steady(0, 160), *steady(240, 600)], 600) == [(440, True)]


def test_one_lost_heartbeat_is_no_gap() -> None:
    beats = [beat for beat in steady(0, 400) if beat != 100]

    assert run(HeartbeatMonitor(), beats, 400) == [(200, True)]


@pytest.mark.parametrize(("away_ms", "expected"), [(20, []), (60, []), (80, []), (120, [(500, False), (720, True)])])
def test_bounce_shorter_than_the_debounce_is_ignored(away_ms: int, expected: list[tuple[int, bool]]) -> None:
    beats = [*steady(0, 400), *steady(400 + away_ms, 1000)]

    assert run(HeartbeatMonitor(), beats, 1000)[1:] == expected


def test_previously_attached_handle_has_the_whole_time_to_send() -> None:
    assert run(HeartbeatMonitor(attached=True), (), 500) == [(100, False)]
    assert run(HeartbeatMonitor(attached=True), steady(60, 500), 500) == []


def test_settings_change_both_times() -> None:
    assert run(HeartbeatMonitor(), steady(0, 400), 1000, Debounce(60 * MS, 40 * MS)) == [(60, True), (440, False)]


def test_late_check_of_a_beating_handle_does_not_detach() -> None:
    monitor = step(HeartbeatMonitor(attached=True), 0, 0, DEBOUNCE)

    assert step(monitor, 5000 * MS, 5000 * MS, DEBOUNCE).attached


def test_only_a_beating_simulated_handle_counts() -> None:
    (grip,) = inventory_of("grip").devices

    assert of_simulated(grip, 7) == 7
    assert of_simulated(replace(grip, simulation=Simulation(attached=False)), 7) is None
    assert of_simulated(replace(grip, identity=replace(grip.identity, simulated=False)), 7) is None


@given(st.lists(st.integers(1, 700), unique=True, max_size=40))
def test_attached_and_detached_only_after_the_debounce(beats: list[int]) -> None:
    ordered = sorted(beats)
    for now, attached in run(HeartbeatMonitor(), ordered, 900):
        before = [beat for beat in ordered if beat <= now]
        if attached:
            window = [beat for beat in before if beat >= before[-1] - 200]
            assert all(b - a <= GAP_NS // MS for a, b in pairwise(window))
            assert before[-1] - before[0] >= 200
        else:
            assert now - before[-1] == 100
