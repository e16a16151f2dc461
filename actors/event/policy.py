"""Rules that merge, throttle and derive events. Pure; times are those of the hub's clock."""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from actors.event.messages import BatteryLevel, Emit
from actors.kit.clock import NS_PER_S

MOST_KEYS: Final = 4_096
MOST_RECEIVED_BYTES: Final = 256

UPDATES: Final = 10
UPDATES_WINDOW_NS: Final = NS_PER_S

BATTERY_LOW: Final = 0.20
BATTERY_CRITICAL: Final = 0.05
BATTERY_HYSTERESIS: Final = 0.02


@dataclass(frozen=True, slots=True)
class Throttle:
    """Rate limit of one kind of event."""

    period_s: float  # s, at most one event in it for each value of `key`
    key: str  # field of the event's data
    counted: bool  # the next event has the number of dropped ones in `suppressed`


THROTTLES: Final[Mapping[str, Throttle]] = MappingProxyType(
    {
        "invalid-io-channel": Throttle(1.0, "session_id", counted=True),
        "device-busy": Throttle(1.0, "session_id", counted=False),
        "command-deprecated": Throttle(30.0, "command", counted=True),
    }
)


@dataclass(slots=True)
class Limiter:
    """Applies the throttles; past MOST_KEYS the key used longest ago is dropped."""

    _keys: OrderedDict[tuple[str, Hashable], tuple[int, int]] = field(
        default_factory=OrderedDict[tuple[str, Hashable], tuple[int, int]]
    )

    def admit(self, emit: Emit, now_ns: int) -> Emit | None:
        """Return the event to send now, with its `suppressed` (including the source's own) if its kind has one; None: dropped."""
        rule = THROTTLES.get(emit.kind)
        if rule is None:
            return emit
        key = (emit.kind, emit.data.get(rule.key))
        sent_ns, suppressed = self._keys.get(key, (None, 0))
        by_source = emit.data.get("suppressed", 0)
        suppressed += by_source if isinstance(by_source, int) else 0
        if sent_ns is not None and now_ns - sent_ns < rule.period_s * NS_PER_S:
            self._keys[key] = (sent_ns, suppressed + 1)
            return None
        self._keys[key] = (now_ns, 0)
        self._keys.move_to_end(key)
        if len(self._keys) > MOST_KEYS:
            self._keys.popitem(last=False)
        return replace(emit, data={**emit.data, "suppressed": suppressed}) if rule.counted else emit

    def forget_session(self, session_id: Hashable) -> None:
        """Drop the keys of a closed session."""
        for kind, rule in THROTTLES.items():
            if rule.key == "session_id":
                self._keys.pop((kind, session_id), None)


@dataclass(slots=True)
class _SessionUpdates:
    sent_ns: deque[int] = field(default_factory=deque[int])
    pending: Emit | None = None
    closed: bool = False


@dataclass(slots=True)
class Merger:
    """`session-updated`: at most UPDATES in a window for each session; further ones are merged into one pending update."""

    _sessions: dict[Hashable, _SessionUpdates] = field(default_factory=dict[Hashable, _SessionUpdates])

    def admit(self, emit: Emit, now_ns: int) -> Emit | None:
        """Return the event to send now, merged with the pending one; None: pending until `due_ns`."""
        updates = self._sessions.setdefault(emit.data.get("session_id"), _SessionUpdates())
        updates.pending = emit if updates.pending is None else merged(updates.pending, emit)
        return self._release(updates, now_ns)

    def due_ns(self, session_id: Hashable) -> int | None:
        """Return when the pending update of the session may be sent (ns); None without one."""
        updates = self._sessions.get(session_id)
        if updates is None or updates.pending is None:
            return None
        return updates.sent_ns[0] + UPDATES_WINDOW_NS

    def pending(self) -> tuple[Hashable, ...]:
        """Return the sessions with a pending update."""
        return tuple(session_id for session_id, updates in self._sessions.items() if updates.pending is not None)

    def flush(self, session_id: Hashable, now_ns: int) -> Emit | None:
        """Return the pending update of the session if it may be sent now."""
        updates = self._sessions.get(session_id)
        event = None if updates is None else self._release(updates, now_ns)
        if updates is not None and updates.closed and updates.pending is None:
            del self._sessions[session_id]
        return event

    def forget_session(self, session_id: Hashable) -> None:
        """Forget a closed session, after its pending update is sent."""
        updates = self._sessions.get(session_id)
        if updates is not None:
            updates.closed = True
            if updates.pending is None:
                del self._sessions[session_id]

    @staticmethod
    def _release(updates: _SessionUpdates, now_ns: int) -> Emit | None:
        while updates.sent_ns and now_ns - updates.sent_ns[0] >= UPDATES_WINDOW_NS:
            updates.sent_ns.popleft()
        if updates.pending is None or len(updates.sent_ns) >= UPDATES:
            return None
        updates.sent_ns.append(now_ns)
        emit, updates.pending = updates.pending, None
        return emit


def merged(first: Emit, second: Emit) -> Emit:
    """Return two updates of one session as one: each scope once, in order; other fields only where both agree."""
    scopes = list(dict.fromkeys([*first.data["scopes"], *second.data["scopes"]]))
    agreed = {key: value for key, value in first.data.items() if key in second.data and second.data[key] == value}
    return Emit(
        first.kind, {**agreed, "scopes": scopes}, f"session {first.data['session_id']} changed {', '.join(scopes)}"
    )


@dataclass(slots=True)
class BatteryRule:
    """Emits an event once when a device's charge falls to a threshold, again after a rise by the hysteresis."""

    _stages: dict[str, int] = field(default_factory=dict[str, int])

    def step(self, reading: BatteryLevel) -> Emit | None:
        """Return the event of this charge, or None; wired grips have none."""
        if not reading.wireless:
            return None
        before = self._stages.get(reading.device_id, 0)
        after = battery_stage(before, reading.level)
        self._stages[reading.device_id] = after
        if after <= before:
            return None
        kind = ("device-battery-low", "device-battery-critical")[after - 1]
        data: dict[str, Any] = {
            "device_id": reading.device_id,
            "device_family": reading.device_family,
            "battery_level": reading.level,
        }
        return Emit(
            kind,
            data,
            f"{reading.device_family} {reading.device_id} has {reading.level:.0%} of its charge left: charge it",
        )

    def forget_device(self, device_id: str) -> None:
        """Forget a device that left; its charge is reported again when it returns."""
        self._stages.pop(device_id, None)


def battery_stage(before: int, level: float) -> int:
    """Return 0 enough, 1 low or 2 critical, with hysteresis on the way up; NaN changes nothing."""
    if math.isnan(level):
        return before
    for stage, threshold in ((2, BATTERY_CRITICAL), (1, BATTERY_LOW)):
        if level <= threshold or (before >= stage and level <= threshold + BATTERY_HYSTERESIS):
            return stage
    return 0


def first_bytes(received: str) -> str:
    """Return the first 256 bytes (UTF-8, whole characters) of received text, as an event shows it."""
    return received.encode(errors="replace")[:MOST_RECEIVED_BYTES].decode(errors="ignore")
