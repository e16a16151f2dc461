"""What a session's messages give rise to on the event channel: faults, old forms, a busy device, commands that time out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from actors.event.messages import HUB, Emit

if TYPE_CHECKING:
    from actors.values.identity import Kind
    from transport.bridge import Bridge
    from transport.wire.reading import Read

FAULT_EVERY_NS: Final = 1_000_000_000
NS_PER_S: Final = 1_000_000_000
MOST_RECEIVED: Final = 256


class SessionNotices:
    """One session's events; it holds back what would come too often, so that a flood never reaches an actor."""

    def __init__(self, bridge: Bridge, session_id: int) -> None:
        self._bridge = bridge
        self._session_id = session_id
        self._next_fault_ns = 0
        self._faults_held = 0

    def faults(self, found: Read, message: str | bytes) -> None:
        """Count bad parts; one event a second at most, with the count of those that it stands for."""
        system = self._bridge.system
        system.metrics.input_faults.inc(len(found.faults))
        now_ns = system.runtime.now_ns()
        if now_ns < self._next_fault_ns:
            self._faults_held += 1
            return
        self._next_fault_ns = now_ns + FAULT_EVERY_NS
        held, self._faults_held = self._faults_held, 0
        path, reason = found.faults[0]
        start = message[:MOST_RECEIVED]
        received = start if isinstance(start, str) else start.decode("utf-8", "replace")
        self._emit(
            "invalid-io-channel",
            {"received_data": received, "path": path, "reason": reason, "suppressed": held},
            f"session {self._session_id}: {path or 'the message'}: {reason}",
        )

    def deprecated(self, found: Read) -> None:
        """One event for each old form, now and then."""
        now_ns = self._bridge.system.runtime.now_ns()
        for form, replacement in found.deprecated:
            held = self._bridge.notices.due(form, now_ns)
            if held is not None:
                self._emit(
                    "command-deprecated",
                    {"command": form, "replacement": replacement, "suppressed": held},
                    f"session {self._session_id} uses the old form of {form}: use {replacement}",
                )

    def busy(self, device_id: str, kind: Kind, holder: int) -> None:
        """Another session holds the position."""
        self._emit(
            "device-busy",
            {"device_id": device_id, "device_family": str(kind), "held_by": holder},
            f"session {holder} holds {device_id}; session {self._session_id} was refused",
        )

    def timeouts(self, interval_ns: int) -> None:
        """Commands come too slowly to be held."""
        interval_s = interval_ns / NS_PER_S
        self._emit(
            "session-warning",
            {"reason": "command_timeout", "interval": interval_s, "setting": "sessions/command_timeout"},
            f"session {self._session_id} sends a command every {interval_s:.3f} s: send faster or raise sessions/command_timeout",
        )

    def _emit(self, kind: str, data: dict[str, object], message: str) -> None:
        emit = Emit(kind, {"session_id": self._session_id, **data}, message)
        self._bridge.system.context.directory.tell(HUB, emit)
