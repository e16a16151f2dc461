"""Rules that merge, throttle and derive events. Pure: no actor, no I/O; times are those of the hub's clock."""

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
    """At most one event in `period_s` for each value of the data field `key`; `counted`: the next one tells how many were not sent."""

    period_s: float
    key: str
    counted: bool


THROTTLES: Final[Mapping[str, Throttle]] = MappingProxyType(
    {
        "invalid-io-channel": Throttle(1.0, "session_id", counted=True),
        "device-busy": Throttle(1.0, "session_id", counted=False),
        "command-deprecated": Throttle(30.0, "command", counted=True),
    }
)


@dataclass(slots=True)
class Limiter:
    """Remembers for each key when its last event went out and how many were held back since; past MOST_KEYS the oldest key is forgotten."""

    _keys: OrderedDict[tuple[str, Hashable], tuple[int, int]] = field(
        default_factory=OrderedDict[tuple[str, Hashable], tuple[int, int]]
    )

    def admit(self, emit: Emit, now_ns: int) -> Emit | None:
        """The event to send now, with its `suppressed` where the kind has one, what its source held back included; None: held back."""
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
        """The session has closed."""
        for kind, rule in THROTTLES.items():
            if rule.key == "session_id":
                self._keys.pop((kind, session_id), None)


@dataclass(slots=True)
class _Updates:
    sent_ns: deque[int] = field(default_factory=deque[int])
    held: Emit | None = None
    closed: bool = False


@dataclass(slots=True)
class Merger:
    """`session-updated`: at most UPDATES in a window for each session; what comes in between is merged into one."""

    _sessions: dict[Hashable, _Updates] = field(default_factory=dict[Hashable, _Updates])

    def admit(self, emit: Emit, now_ns: int) -> Emit | None:
        """The event to send now, with all that was held; None: held until `due_ns`."""
        updates = self._sessions.setdefault(emit.data.get("session_id"), _Updates())
        updates.held = emit if updates.held is None else merged(updates.held, emit)
        return self._release(updates, now_ns)

    def due_ns(self, session_id: Hashable) -> int | None:
        """When what is held for the session may go out; None when nothing is held."""
        updates = self._sessions.get(session_id)
        if updates is None or updates.held is None:
            return None
        return updates.sent_ns[0] + UPDATES_WINDOW_NS

    def held(self) -> tuple[Hashable, ...]:
        """The sessions for which something is held."""
        return tuple(session_id for session_id, updates in self._sessions.items() if updates.held is not None)

    def flush(self, session_id: Hashable, now_ns: int) -> Emit | None:
        """What was held for the session, if it may go out now."""
        updates = self._sessions.get(session_id)
        event = None if updates is None else self._release(updates, now_ns)
        if updates is not None and updates.closed and updates.held is None:
            del self._sessions[session_id]
        return event

    def forget_session(self, session_id: Hashable) -> None:
        """The session has closed; what is held for it still goes out in its time."""
        updates = self._sessions.get(session_id)
        if updates is not None:
            updates.closed = True
            if updates.held is None:
                del self._sessions[session_id]

    @staticmethod
    def _release(updates: _Updates, now_ns: int) -> Emit | None:
        while updates.sent_ns and now_ns - updates.sent_ns[0] >= UPDATES_WINDOW_NS:
            updates.sent_ns.popleft()
        if updates.held is None or len(updates.sent_ns) >= UPDATES:
            return None
        updates.sent_ns.append(now_ns)
        emit, updates.held = updates.held, None
        return emit


def merged(first: Emit, second: Emit) -> Emit:
    """Both updates of one session as one: every scope once, in order; what they disagree about is left out."""
    scopes = list(dict.fromkeys([*first.data["scopes"], *second.data["scopes"]]))
    agreed = {key: value for key, value in first.data.items() if key in second.data and second.data[key] == value}
    return Emit(
        first.kind, {**agreed, "scopes": scopes}, f"session {first.data['session_id']} changed {', '.join(scopes)}"
    )


@dataclass(slots=True)
class BatteryRule:
    """Tells of each device when its charge falls to a threshold, once until it has risen by the hysteresis."""

    _stages: dict[str, int] = field(default_factory=dict[str, int])

    def step(self, told: BatteryLevel) -> Emit | None:
        """The event that this charge is, if any; wired grips never have one."""
        if not told.wireless:
            return None
        before = self._stages.get(told.device_id, 0)
        after = battery_stage(before, told.level)
        self._stages[told.device_id] = after
        if after <= before:
            return None
        kind = ("device-battery-low", "device-battery-critical")[after - 1]
        data: dict[str, Any] = {
            "device_id": told.device_id,
            "device_family": told.device_family,
            "battery_level": told.level,
        }
        return Emit(
            kind, data, f"{told.device_family} {told.device_id} has {told.level:.0%} of its charge left: charge it"
        )

    def forget_device(self, device_id: str) -> None:
        """The device has gone; when it comes back, its charge is news."""
        self._stages.pop(device_id, None)


def battery_stage(before: int, level: float) -> int:
    """0 enough, 1 low, 2 critical: down at a threshold, up again only the hysteresis above it; no number changes nothing."""
    if math.isnan(level):
        return before
    for stage, threshold in ((2, BATTERY_CRITICAL), (1, BATTERY_LOW)):
        if level <= threshold or (before >= stage and level <= threshold + BATTERY_HYSTERESIS):
            return stage
    return 0


def first_bytes(received: str) -> str:
    """As much of what was received as an event shows: 256 bytes of UTF-8, no character cut in two."""
    return received.encode(errors="replace")[:MOST_RECEIVED_BYTES].decode(errors="ignore")
