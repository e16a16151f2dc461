"""EventHub: applies the policy to emitted events, stamps and encodes each once, and queues it for every subscriber."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from actors.event.catalog import EVENT_KINDS
from actors.event.hub_state import Encode, Event, HubState, event_of, microseconds, wanted
from actors.event.messages import HUB, BatteryLevel, Emit, RecentEvents, Subscribe, Unsubscribe
from actors.event.queue import QueueClosed
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.clock import NS_PER_S
from actors.kit.message import Message

_BURST_US: Final = 1_000_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Flush(Message):
    """Told to the hub by its timer: send the pending update of a session."""

    session_id: Hashable


class EventHub(ServiceActor):
    """Actor of events, named HUB. `wall_ns` is the time of day, used for stamps only."""

    def __init__(
        self, context: Context, encode: Encode, state: HubState, wall_ns: Callable[[], int] = time.time_ns
    ) -> None:
        super().__init__(HUB, context)
        self._encode = encode
        self._state = state
        self._wall_ns = wall_ns

    def started(self) -> None:
        """Restart the timers of updates that were pending in the last hub."""
        self._count_subscribers()
        for session_id in self._state.merger.pending():
            self._schedule_flush(session_id)

    @handles(Emit)
    def emit(self, message: Emit) -> None:
        """Send the event, keep it pending or drop it by its throttle; log an unknown kind."""
        if message.kind not in EVENT_KINDS:
            logger.error(
                'there is no kind of event "%s": add it to the catalogue or use one that is there', message.kind
            )
            return
        if message.kind == "session-updated":
            self._emit_update(message)
            return
        self._forget_closed(message)
        at_ns = self.context.clock.now_ns() if message.at_ns is None else message.at_ns
        admitted = self._state.limiter.admit(message, at_ns)
        if admitted is None:
            self._count_held_back(message)
        else:
            self._send(admitted)

    @handles(BatteryLevel)
    def battery(self, message: BatteryLevel) -> None:
        """Emit an event when the charge falls to a threshold."""
        event = self._state.batteries.step(message)
        if event is not None:
            self._send(event)

    @handles(_Flush)
    def flush(self, message: _Flush) -> None:
        """Send the pending update of a session."""
        event = self._state.merger.flush(message.session_id, self.context.clock.now_ns())
        if event is not None:
            self._send(event)
        self._schedule_flush(message.session_id)

    @handles(Subscribe)
    def subscribe(self, message: Subscribe) -> None:
        """Send the remembered events that match, then every new one."""
        self._state.subscriptions[message.subscriber.identity] = message
        if message.since is not None:
            since_us = microseconds(message.since)
            for event in tuple(self._state.history):
                if event.at_us > since_us and wanted(event, message) and not self._offer(event, message):
                    break
        self._count_subscribers()

    @handles(RecentEvents)
    def recent(self, message: RecentEvents) -> tuple[bytes, ...]:
        """Return the newest events, oldest first."""
        newest = list(self._state.history)[-message.limit :]
        return tuple(event.text(self._encode, None) for event in newest)

    @handles(Unsubscribe)
    def unsubscribe(self, message: Unsubscribe) -> None:
        """Remove the subscriber."""
        self._state.subscriptions.pop(message.subscriber.identity, None)
        self._count_subscribers()

    def _emit_update(self, message: Emit) -> None:
        session_id = message.data.get("session_id")
        event = self._state.merger.admit(message, self.context.clock.now_ns())
        if event is not None:
            self._send(event)
            return
        self._count_held_back(message)
        self._schedule_flush(session_id)

    def _schedule_flush(self, session_id: Hashable) -> None:
        due_ns = self._state.merger.due_ns(session_id)
        if due_ns is not None:
            wait_s = max(0, due_ns - self.context.clock.now_ns()) / NS_PER_S
            self.context.timers.after(wait_s, HUB, _Flush(session_id), key=(HUB, "flush", session_id))

    def _forget_closed(self, message: Emit) -> None:
        if message.kind == "session-closed":
            session_id = message.data.get("session_id")
            self._state.limiter.forget_session(session_id)
            self._state.merger.forget_session(session_id)
        elif message.kind == "device-disconnected":
            self._state.batteries.forget_device(str(message.data.get("device_id")))

    def _count_held_back(self, message: Emit) -> None:
        self.context.metrics.events_held_back.labels(message.kind).inc()

    def _send(self, emit: Emit) -> None:
        event = event_of(emit, self._stamp())
        try:
            event.text(self._encode, None)
        except (TypeError, ValueError):
            logger.exception("%s is not sent: its data are no JSON", emit.kind, extra={"event": emit.kind})
            return
        self.context.metrics.events.labels(emit.kind).inc()
        self._state.history.append(event)
        for subscription in tuple(self._state.subscriptions.values()):
            if wanted(event, subscription):
                self._offer(event, subscription)

    def _stamp(self) -> int:
        """Return microseconds since 1970, unique, so that `since` separates any two events."""
        at_us = self._wall_ns() // 1_000
        last_us = self._state.history[-1].at_us if self._state.history else 0
        return last_us + 1 if 0 <= last_us - at_us < _BURST_US else at_us

    def _offer(self, event: Event, subscription: Subscribe) -> bool:
        """Return whether the subscriber remains: one that fails is dropped; if only translation fails it misses the event."""
        try:
            text = event.text(self._encode, subscription.translate)
        except Exception:
            logger.exception("%s cannot be said in a subscriber's words", event.body["name"])
            return True
        try:
            subscription.subscriber.offer(text)
        except QueueClosed:
            self._state.subscriptions.pop(subscription.subscriber.identity, None)
            self._count_subscribers()
            return False
        except Exception:
            logger.exception("a subscriber of events failed and is dropped: %s", subscription.subscriber.identity)
            self._state.subscriptions.pop(subscription.subscriber.identity, None)
            self.context.metrics.event_subscribers_lost.inc()
            self._count_subscribers()
            return False
        return True

    def _count_subscribers(self) -> None:
        self.context.metrics.event_subscribers.set(len(self._state.subscriptions))
