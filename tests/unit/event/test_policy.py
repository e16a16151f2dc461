"""Rate limits of events, per session and per deprecated form, with a count of the suppressed; merged updates."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.event.messages import BatteryLevel, Emit
from actors.event.policy import (
    MOST_KEYS,
    THROTTLES,
    UPDATES,
    UPDATES_WINDOW_NS,
    BatteryRule,
    Limiter,
    Merger,
    battery_stage,
    first_bytes,
    merged,
)
from actors.kit.clock import NS_PER_S
from tests.unit.event.event_helpers import faulty, updated


def deprecated(command: str, session_id: int = 1) -> Emit:
    data = {"command": command, "session_id": session_id, "replacement": "vector"}
    return Emit("command-deprecated", data, f"{command} is old")


def busy(session_id: int) -> Emit:
    return Emit("device-busy", {"device_id": "049D", "session_id": session_id, "held_by": 9}, "held")


def suppressed(emit: Emit | None) -> Any:
    assert emit is not None
    return emit.data["suppressed"]


@pytest.mark.parametrize(("make", "period_s"), [(faulty, 1), (busy, 1)])
def test_faulty_message_events_are_limited_to_one_per_second_and_session(make: Any, period_s: int) -> None:
    limiter = Limiter()
    assert limiter.admit(make(1), 0)
    assert limiter.admit(make(1), period_s * NS_PER_S - 1) is None
    assert limiter.admit(make(2), 5)
    assert limiter.admit(make(1), period_s * NS_PER_S)


@pytest.mark.promise(211, "`command-deprecated` comes once in 30 s for each command")
def test_deprecation_event_is_limited_to_one_per_30_seconds_over_all_sessions() -> None:
    limiter = Limiter()
    assert limiter.admit(deprecated("set_cursor_force", 1), 0)
    assert limiter.admit(deprecated("set_cursor_force", 2), 30 * NS_PER_S - 1) is None
    assert limiter.admit(deprecated("set_cursor_position", 2), 5)
    assert suppressed(limiter.admit(deprecated("set_cursor_force", 1), 30 * NS_PER_S)) == 1


def test_source_s_suppressed_count_is_included() -> None:
    limiter = Limiter()

    def used(held: int) -> Emit:
        emit = deprecated("set_cursor_force")
        return replace(emit, data={**emit.data, "suppressed": held})

    assert suppressed(limiter.admit(used(3), 0)) == 3
    assert limiter.admit(used(5), 30 * NS_PER_S - 1) is None
    assert suppressed(limiter.admit(used(2), 30 * NS_PER_S)) == 5 + 1 + 2
    assert suppressed(limiter.admit(used(0), 60 * NS_PER_S)) == 0


def test_next_event_has_the_suppressed_count() -> None:
    limiter = Limiter()
    assert suppressed(limiter.admit(faulty(1), 0)) == 0
    for number in range(1, 8):
        assert limiter.admit(faulty(1), number) is None
    assert suppressed(limiter.admit(faulty(1), NS_PER_S)) == 7
    assert suppressed(limiter.admit(faulty(1), 2 * NS_PER_S)) == 0


@pytest.mark.parametrize(
    "kind", ["device-calibration-failed", "session-warning", "port-blocked", "http-route-deprecated"]
)
def test_other_kinds_are_not_limited(kind: str) -> None:
    limiter = Limiter()
    emit = Emit(kind, {"device_id": "049D", "reason": "blocked"}, "calibration is blocked")
    assert [limiter.admit(emit, 0) for _ in range(100)] == [emit] * 100


def test_closed_session_resets_its_limit() -> None:
    limiter = Limiter()
    limiter.admit(faulty(1), 0)
    limiter.admit(faulty(1), 1)
    limiter.forget_session(1)
    assert suppressed(limiter.admit(faulty(1), 2)) == 0


def test_number_of_keys_is_bounded() -> None:
    limiter = Limiter()
    for session_id in range(3 * MOST_KEYS):
        limiter.admit(faulty(session_id), session_id)
    assert len(limiter._keys) == MOST_KEYS
    assert limiter.admit(faulty(3 * MOST_KEYS - 1), 3 * MOST_KEYS) is None


def test_least_recently_used_key_is_dropped() -> None:
    limiter = Limiter()
    for session_id in range(MOST_KEYS):
        limiter.admit(faulty(session_id), 0)
    limiter.admit(faulty(0), NS_PER_S)
    limiter.admit(faulty(MOST_KEYS), NS_PER_S)
    assert limiter.admit(faulty(0), NS_PER_S + 1) is None
    assert ("invalid-io-channel", 1) not in limiter._keys


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.integers(0, 2 * NS_PER_S)), max_size=60))
def test_limit_holds_and_every_event_is_counted(steps: list[tuple[int, int]]) -> None:
    limiter = Limiter()
    now_ns = 0
    sent: dict[int, list[int]] = {1: [], 2: []}
    told = {1: 0, 2: 0}
    count = {1: 0, 2: 0}
    for session_id, wait_ns in steps:
        now_ns += wait_ns
        count[session_id] += 1
        emit = limiter.admit(faulty(session_id), now_ns)
        if emit is not None:
            sent[session_id].append(now_ns)
            told[session_id] += 1 + suppressed(emit)
            assert told[session_id] == count[session_id]
    period_ns = THROTTLES["invalid-io-channel"].period_s * NS_PER_S
    for times in sent.values():
        assert all(later - earlier >= period_ns for earlier, later in pairwise(times))


def test_first_ten_updates_per_second_are_sent_singly() -> None:
    merger = Merger()
    emits = [updated(1, f"config.{number}") for number in range(UPDATES)]
    assert [merger.admit(emit, 0) for emit in emits] == emits
    assert merger.due_ns(1) is None


def test_further_updates_are_merged_until_allowed() -> None:
    merger = Merger()
    for _ in range(UPDATES):
        merger.admit(updated(1, "basis"), 0)
    for scopes in (("config.mount", "config.preset"), ("config.basis",), ("config.mount",)):
        assert merger.admit(updated(1, *scopes), 10) is None
    assert merger.pending() == (1,)
    assert merger.due_ns(1) == UPDATES_WINDOW_NS
    assert merger.flush(1, UPDATES_WINDOW_NS - 1) is None
    emit = merger.flush(1, UPDATES_WINDOW_NS)
    assert emit is not None
    assert emit.data == {"session_id": 1, "scopes": ["config.mount", "config.preset", "config.basis"]}
    assert emit.message == "session 1 changed config.mount, config.preset, config.basis"
    assert merger.flush(1, 2 * UPDATES_WINDOW_NS) is None
    assert merger.pending() == ()


def test_update_includes_the_held_one() -> None:
    merger = Merger()
    for _ in range(UPDATES):
        merger.admit(updated(1, "basis"), 0)
    merger.admit(updated(1, "profile"), 1)
    emit = merger.admit(updated(1, "basis"), UPDATES_WINDOW_NS)
    assert emit is not None
    assert emit.data["scopes"] == ["profile", "basis"]


def test_sessions_are_limited_independently_and_forgotten_on_close() -> None:
    merger = Merger()
    for _ in range(UPDATES + 1):
        merger.admit(updated(1, "basis"), 0)
    assert merger.admit(updated(2, "basis"), 0)
    merger.forget_session(2)
    assert merger.admit(updated(2, "basis"), 1)
    assert merger.pending() == (1,)


def test_held_update_of_a_closed_session_is_sent_then_forgotten() -> None:
    merger = Merger()
    for _ in range(UPDATES + 1):
        merger.admit(updated(1, "profile"), 0)

    merger.forget_session(1)

    assert merger.flush(1, UPDATES_WINDOW_NS - 1) is None
    assert merger.flush(1, UPDATES_WINDOW_NS) == updated(1, "profile")
    assert merger == Merger()


def test_merged_update_omits_conflicting_fields() -> None:
    one = updated(1, "config.mount", device_id="049D", device_family="arm")
    two = updated(1, "config.mount", device_id="1605", device_family="arm")
    assert merged(one, two).data == {"session_id": 1, "device_family": "arm", "scopes": ["config.mount"]}


@given(
    st.lists(
        st.tuples(st.integers(0, 300_000_000), st.sampled_from(["profile", "basis", "config.mount", "config.preset"])),
        max_size=80,
    )
)
def test_merged_updates_lose_no_scope_and_stay_within_ten_per_second(steps: list[tuple[int, str]]) -> None:
    merger = Merger()
    now_ns = 0
    sent: list[int] = []
    unsaid: list[str] = []

    def send(emit: Emit | None) -> None:
        if emit is not None:
            sent.append(now_ns)
            assert emit.data["scopes"] == list(dict.fromkeys(unsaid))
            unsaid.clear()

    for wait_ns, scope in steps:
        next_ns = now_ns + wait_ns
        due_ns = merger.due_ns(1)
        if due_ns is not None and due_ns <= next_ns:
            now_ns = due_ns
            send(merger.flush(1, now_ns))
            assert merger.due_ns(1) is None
        now_ns = next_ns
        unsaid.append(scope)
        send(merger.admit(updated(1, scope), now_ns))
        assert (merger.due_ns(1) is None) == (not unsaid)
    for first, last in zip(sent, sent[UPDATES:], strict=False):
        assert last - first >= UPDATES_WINDOW_NS


def charge(level: float, *, wireless: bool = True, device_id: str = "1605") -> BatteryLevel:
    return BatteryLevel(device_id, "grip", level, wireless)


def kinds(rule: BatteryRule, *levels: float, wireless: bool = True) -> list[str | None]:
    emits = [rule.step(charge(level, wireless=wireless)) for level in levels]
    return [None if emit is None else emit.kind.removeprefix("device-battery-") for emit in emits]


def test_falling_battery_raises_two_events() -> None:
    assert kinds(BatteryRule(), 1.0, 0.21, 0.20, 0.19, 0.06, 0.05, 0.01) == [
        *(None, None, "low", None),
        *(None, "critical", None),
    ]


def test_wired_grip_raises_no_battery_event() -> None:
    rule = BatteryRule()
    assert kinds(rule, 0.2, 0.01, wireless=False) == [None, None]
    assert kinds(rule, 0.01) == ["critical"]


def test_level_trembling_at_a_threshold_raises_one_event() -> None:
    rule = BatteryRule()
    assert kinds(rule, 0.2, 0.21, 0.2, 0.2199, 0.2) == ["low", None, None, None, None]
    assert kinds(rule, 0.221, 0.2) == [None, "low"]


def test_rising_level_raises_no_event_and_rearms() -> None:
    assert kinds(BatteryRule(), 0.04, 0.08, 0.05, 0.5, 0.04) == ["critical", None, "critical", None, "critical"]


def test_the_event_names_the_grip_and_its_charge() -> None:
    emit = BatteryRule().step(charge(0.15))
    assert emit is not None
    assert emit.data == {"device_id": "1605", "device_family": "grip", "battery_level": 0.15}
    assert emit.message == "grip 1605 has 15% of its charge left: charge it"


def test_grips_are_independent_and_reset_on_reconnect() -> None:
    rule = BatteryRule()
    rule.step(charge(0.1))
    assert rule.step(charge(0.1, device_id="1606"))
    assert rule.step(charge(0.1)) is None
    rule.forget_device("1605")
    assert rule.step(charge(0.1))


@given(st.lists(st.floats(0, 1) | st.just(math.nan), max_size=60))
def test_battery_stage_matches_its_level_outside_the_hysteresis(levels: list[float]) -> None:
    stage = 0
    for level in levels:
        after = battery_stage(stage, level)
        if math.isnan(level):
            assert after == stage
        elif level <= 0.05:
            assert after == 2
        elif level <= 0.07:
            assert after == (2 if stage == 2 else 1)
        elif level <= 0.2:
            assert after == 1
        elif level <= 0.22:
            assert after == (1 if stage else 0)
        else:
            assert after == 0
        stage = after


@given(st.text(max_size=600))
def test_first_256_received_bytes_are_shown(text: str) -> None:
    shown = first_bytes(text)
    whole = text.encode(errors="replace")
    assert whole.startswith(shown.encode())
    assert min(len(whole), 256) - 3 <= len(shown.encode()) <= 256
