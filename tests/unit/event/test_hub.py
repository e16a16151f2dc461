"""EventHub as a plain object: stamps, sends and replays events, survives bad ones."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson
import pytest

from actors.event.hub import EventHub
from actors.event.hub_state import REMEMBERED, HubState
from actors.event.messages import HUB, BatteryLevel, Emit, RecentEvents, Subscribe, Unsubscribe
from actors.event.policy import THROTTLES, UPDATES
from actors.event.queue import MOST_WAITING, BoundedQueue, lost_notice
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.clock import ManualClock
from actors.kit.message import Announce
from actors.kit.supervisor import Supervisor
from tests.unit.event.event_helpers import Broken, Kept, Wall, encode, faulty, opened, run_waiting, updated
from tests.unit.kit.sample_actors import TIMEOUT_S, actor_of, counted


@pytest.fixture
def kept(hub: EventHub) -> Kept:
    subscriber = Kept()
    hub.on_receive(Subscribe(subscriber))
    return subscriber


def test_an_event_is_stamped_and_sent(hub: EventHub, kept: Kept, context: Context) -> None:
    hub.on_receive(opened(7))
    assert kept.events == [
        {
            "name": "session-opened",
            "category": "session",
            "level": "info",
            "time": "2030-03-17T17:46:40.000000Z",
            "data": {"session_id": 7, "profile": "default"},
            "message": "session 7 opened",
        }
    ]
    assert counted(context, "hapticd_events_total", kind="session-opened") == 1


def test_unknown_kind_is_logged_as_an_error(hub: EventHub, kept: Kept, caplog: pytest.LogCaptureFixture) -> None:
    hub.on_receive(Emit("session-exploded", {}, ""))
    assert kept.events == []
    assert 'no kind of event "session-exploded"' in caplog.text


def test_invalid_json_data_are_logged_as_an_error(
    hub: EventHub, kept: Kept, hub_state: HubState, caplog: pytest.LogCaptureFixture
) -> None:
    hub.on_receive(Emit("session-opened", {"session_id": object()}, ""))
    assert kept.events == []
    assert not hub_state.history
    assert "session-opened is not sent" in caplog.text


def test_every_subscriber_gets_the_very_same_bytes(hub: EventHub, kept: Kept) -> None:
    second = Kept("second")
    hub.on_receive(Subscribe(second))
    hub.on_receive(opened(7))
    assert kept.texts[0] is second.texts[0]


def test_subscribers_get_events_that_match_their_filter(hub: EventHub) -> None:
    kinds, level = Kept("kinds"), Kept("level")
    hub.on_receive(Subscribe(kinds, kinds=frozenset({"session-opened", "port-blocked"})))
    hub.on_receive(Subscribe(level, level="warning"))
    hub.on_receive(opened(7))
    hub.on_receive(faulty(7))
    hub.on_receive(Emit("port-blocked", {"port": "ttyACM0", "state": "blocked", "reason": ""}, ""))
    assert kinds.names == ["session-opened", "port-blocked"]
    assert level.names == ["invalid-io-channel", "port-blocked"]


def test_subscriber_gets_its_vocabulary(hub: EventHub, kept: Kept) -> None:
    def translate(body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**body, "data": {"word": "other"}}

    other = Kept("other")
    hub.on_receive(Subscribe(other, translate=translate))
    hub.on_receive(opened(7))
    assert other.events[0]["data"] == {"word": "other"}
    assert kept.events[0]["data"] == {"session_id": 7, "profile": "default"}


def test_failed_translation_drops_the_event_not_the_subscriber(
    hub: EventHub, kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    def translate(body: Mapping[str, Any]) -> Mapping[str, Any]:
        if body["name"] == "session-opened":
            raise KeyError("device_family")
        return body

    other = Kept("other")
    hub.on_receive(Subscribe(other, translate=translate))
    hub.on_receive(opened(7))
    hub.on_receive(faulty(7))
    assert other.names == ["invalid-io-channel"]
    assert kept.names == ["session-opened", "invalid-io-channel"]
    assert "session-opened cannot be said" in caplog.text


def test_unsubscribed_receiver_gets_nothing(hub: EventHub, kept: Kept, context: Context) -> None:
    assert counted(context, "hapticd_event_subscribers") == 1
    hub.on_receive(Unsubscribe(kept))
    hub.on_receive(Unsubscribe(kept))
    hub.on_receive(opened(7))
    assert kept.events == []
    assert counted(context, "hapticd_event_subscribers") == 0


def test_a_dead_subscriber_is_dropped_and_counted_and_the_others_go_on(
    hub: EventHub, context: Context, caplog: pytest.LogCaptureFixture
) -> None:
    broken, kept = Broken("broken"), Kept("kept")
    hub.on_receive(Subscribe(broken))
    hub.on_receive(Subscribe(kept))
    hub.on_receive(opened(7))
    hub.on_receive(opened(8))
    assert len(broken.texts) == 1
    assert len(kept.texts) == 2
    assert counted(context, "hapticd_event_subscribers_lost_total") == 1
    assert counted(context, "hapticd_event_subscribers") == 1
    assert "a subscriber of events failed and is dropped: broken" in caplog.text


def test_subscriber_failing_during_replay_is_dropped(hub: EventHub, context: Context) -> None:
    for session_id in range(3):
        hub.on_receive(opened(session_id))
    broken = Broken("broken")
    hub.on_receive(Subscribe(broken, since=datetime.fromisoformat("2030-01-01T00:00:00Z")))
    assert len(broken.texts) == 1
    assert counted(context, "hapticd_event_subscribers") == 0


def test_since_replays_matching_stored_events(hub: EventHub, wall: Wall) -> None:
    for session_id in range(REMEMBERED + 5):
        wall.now_ns += 1_000_000
        hub.on_receive(opened(session_id))
    hub.on_receive(faulty(1))
    late = Kept("late")
    hub.on_receive(
        Subscribe(late, kinds=frozenset({"session-opened"}), since=datetime.fromisoformat("2030-01-01T00:00:00Z"))
    )
    assert [event["data"]["session_id"] for event in late.events] == list(range(6, REMEMBERED + 5))


def test_recent_events_are_the_newest_ones_oldest_first(hub: EventHub) -> None:
    for number in (1, 2, 3):
        hub.on_receive(opened(number))

    found = [orjson.loads(text)["data"]["session_id"] for text in hub.recent(RecentEvents(2))]

    assert found == [2, 3]
    assert len(hub.recent(RecentEvents(10))) == 3


def test_since_the_time_of_an_event_means_after_it(hub: EventHub, kept: Kept) -> None:
    for session_id in range(4):
        hub.on_receive(opened(session_id))
    times = [event["time"] for event in kept.events]
    assert times == sorted(set(times))
    late = Kept("late")
    hub.on_receive(Subscribe(late, since=datetime.fromisoformat(times[1])))
    assert [event["data"]["session_id"] for event in late.events] == [2, 3]


def test_without_since_nothing_is_replayed(hub: EventHub) -> None:
    hub.on_receive(opened(7))
    late = Kept("late")
    hub.on_receive(Subscribe(late))
    assert late.events == []


def test_clock_set_back_is_followed(hub: EventHub, kept: Kept, wall: Wall) -> None:
    hub.on_receive(opened(7))
    wall.now_ns -= 3_600_000_000_000
    hub.on_receive(opened(8))
    assert [event["time"] for event in kept.events] == ["2030-03-17T17:46:40.000000Z", "2030-03-17T16:46:40.000000Z"]


def test_flood_of_faults_is_one_event_per_second(
    hub: EventHub, kept: Kept, clock: ManualClock, context: Context
) -> None:
    for _ in range(500):
        hub.on_receive(faulty(7))
    clock.advance(1)
    hub.on_receive(faulty(7))
    assert [event["data"]["suppressed"] for event in kept.events] == [0, 499]
    assert counted(context, "hapticd_events_held_back_total", kind="invalid-io-channel") == 499
    assert counted(context, "hapticd_events_total", kind="invalid-io-channel") == 2


@pytest.mark.parametrize("kind", THROTTLES)
def test_rate_limit_uses_the_source_time_not_the_arrival(
    hub: EventHub, kept: Kept, clock: ManualClock, kind: str
) -> None:
    period_s = THROTTLES[kind].period_s
    data = {"session_id": 7, "command": "set_cursor_force"}
    began_ns = clock.now_ns()
    clock.advance(0.4)
    hub.on_receive(Emit(kind, data, "", at_ns=began_ns))
    clock.advance(period_s - 0.4)
    hub.on_receive(Emit(kind, data, "", at_ns=clock.now_ns() - 1))
    hub.on_receive(Emit(kind, data, "", at_ns=clock.now_ns()))
    assert kept.names == [kind, kind]


def test_held_updates_are_flushed_by_a_timer(hub: EventHub, kept: Kept, clock: ManualClock, context: Context) -> None:
    for number in range(14):
        hub.on_receive(updated(7, f"config.{number}"))
    assert len(kept.events) == 10
    clock.advance(0.999)
    assert context.timers.fire_due() == 0
    clock.advance(0.001)
    assert context.timers.fire_due() == 1
    run_waiting(hub)
    assert kept.events[10]["data"]["scopes"] == ["config.10", "config.11", "config.12", "config.13"]
    assert len(context.timers) == 0
    assert counted(context, "hapticd_events_held_back_total", kind="session-updated") == 4


def test_timer_without_held_events_sends_nothing(
    hub: EventHub, kept: Kept, clock: ManualClock, context: Context
) -> None:
    for number in range(11):
        hub.on_receive(updated(7, f"config.{number}"))
    clock.advance(1)
    hub.on_receive(updated(7, "basis"))
    context.timers.fire_due()
    run_waiting(hub)
    assert [event["data"]["scopes"] for event in kept.events][10:] == [["config.10", "basis"]]


def test_held_updates_of_a_closed_session_are_still_flushed(
    hub: EventHub, kept: Kept, clock: ManualClock, context: Context
) -> None:
    for number in range(11):
        hub.on_receive(updated(7, f"config.{number}"))
    hub.on_receive(Emit("session-closed", {"session_id": 7, "profile": "default"}, ""))
    clock.advance(2)
    context.timers.fire_due()
    run_waiting(hub)
    assert kept.names == ["session-updated"] * 10 + ["session-closed", "session-updated"]


def test_closed_session_has_no_fault_count(hub: EventHub, kept: Kept) -> None:
    hub.on_receive(faulty(7))
    hub.on_receive(faulty(7))
    hub.on_receive(Emit("session-closed", {"session_id": 7, "profile": "default"}, ""))
    hub.on_receive(faulty(7))
    assert kept.names == ["invalid-io-channel", "session-closed", "invalid-io-channel"]
    assert kept.events[-1]["data"]["suppressed"] == 0


def test_restarted_hub_flushes_overdue_updates(
    hub: EventHub, kept: Kept, hub_state: HubState, clock: ManualClock, context: Context, wall: Wall
) -> None:
    for number in range(11):
        hub.on_receive(updated(7, f"config.{number}"))
    context.directory.forget(HUB, hub.actor_ref)
    clock.advance(2)
    assert context.timers.fire_due() == 1
    successor = EventHub(context, encode, hub_state, wall)
    context.directory.register(HUB, successor.actor_ref)
    successor.started()
    assert context.timers.fire_due() == 1
    run_waiting(successor)
    assert kept.events[-1]["data"]["scopes"] == ["config.10"]


def test_low_battery_raises_one_event_per_connection(hub: EventHub, kept: Kept) -> None:
    low = BatteryLevel("1605", "grip", 0.1, wireless=True)
    hub.on_receive(low)
    hub.on_receive(low)
    hub.on_receive(Emit("device-disconnected", {"device_id": "1605", "device_family": "grip"}, ""))
    hub.on_receive(low)
    hub.on_receive(BatteryLevel("1606", "grip", 0.1, wireless=False))
    assert kept.names == ["device-battery-low", "device-disconnected", "device-battery-low"]


class Deadly(dict[str, Any]):
    """Data that kill the hub that looks into them."""

    def get(self, *_arguments: Any) -> Any:
        raise MemoryError("broken")


class Listener(ServiceActor):
    """Hears of a restart."""

    def __init__(self, context: Context) -> None:
        super().__init__("listener", context)
        self.heard = threading.Event()

    @handles(Announce)
    def hear(self, _message: Announce) -> None:
        self.heard.set()


class Waited(Kept):
    """A subscriber of a hub on a thread."""

    def __init__(self) -> None:
        super().__init__("waited")
        self._come = threading.Semaphore(0)

    def offer(self, event: bytes) -> None:
        super().offer(event)
        self._come.release()

    def wait_for(self, more: int) -> list[str]:
        for _ in range(more):
            assert self._come.acquire(timeout=TIMEOUT_S)
        return self.names


def test_restarted_hub_keeps_subscribers_history_and_held_updates(
    context: Context, clock: ManualClock, hub_state: HubState, wall: Wall
) -> None:
    subscriber, late = Waited(), Waited()
    tell = context.directory.tell
    tree = Supervisor(context, lambda _name, _error: None)
    tree.add(HUB, lambda: EventHub.start(context, encode, hub_state, wall))
    tree.add("listener", lambda: Listener.start(context))
    tree.start()
    try:
        listener = context.directory.ref("listener")
        assert listener is not None
        tell(HUB, Subscribe(subscriber))
        for number in range(UPDATES + 1):
            tell(HUB, updated(7, f"config.{number}"))
        tell(HUB, Emit("session-closed", Deadly(), "the last words of this hub"))
        assert actor_of(listener, Listener).heard.wait(TIMEOUT_S)
        tell(HUB, opened(8))
        assert subscriber.wait_for(UPDATES + 1) == ["session-updated"] * UPDATES + ["session-opened"]
        clock.advance(1)
        context.timers.fire_due()
        subscriber.wait_for(1)
        assert subscriber.events[-1]["data"]["scopes"] == [f"config.{UPDATES}"]
        late.identity = "late"
        tell(HUB, Subscribe(late, since=datetime.fromisoformat("2030-01-01T00:00:00Z")))
        assert len(late.wait_for(UPDATES + 2)) == UPDATES + 2
    finally:
        tree.stop()
    assert counted(context, "hapticd_actor_restarts_total", actor=HUB) == 1


def test_blocked_subscriber_delays_no_other(hub: EventHub, kept: Kept, context: Context, wall: Wall) -> None:
    woken: list[bool] = []
    slow = BoundedQueue(
        "slow", lambda: woken.append(True), lost_notice(encode, None, wall), context.metrics.events_dropped
    )
    hub.on_receive(Subscribe(slow))
    for session_id in range(MOST_WAITING + 20):
        hub.on_receive(opened(session_id))
    assert len(kept.texts) == MOST_WAITING + 20
    assert woken == [True]
    assert counted(context, "hapticd_events_dropped_total") == 20
    lost, first, *_ = [orjson.loads(text)["data"] for text in slow.take()]
    assert lost == {"session_id": None, "reason": "events_dropped", "lost": 20}
    assert first["session_id"] == 20
