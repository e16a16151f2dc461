"""What a session channel tells the event hub about its client: faulty messages, old forms, a busy device, commands that time out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from actors.event.messages import HUB, Emit

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord
    from actors.system import System
    from transport.wire.notices import DeprecationNotices

FAULT_EVENT_S: Final = 1.0
BUSY_EVENT_S: Final = 1.0
RECEIVED: Final = 256
NS_PER_S: Final = 1_000_000_000


class SessionEvents:
    """One session's; main thread only."""

    def __init__(self, system: System, session_id: int) -> None:
        self._system = system
        self._session_id = session_id
        self._next_fault_ns = 0
        self._faults_held = 0
        self._next_busy_ns = 0

    def faulty(self, faults: Sequence[tuple[str, str]], message: str | bytes) -> None:
        """Count bad parts; one event a second at most, with the count of those that it stands for."""
        self._system.metrics.input_faults.inc(len(faults))
        now_ns = self._system.runtime.now_ns()
        if now_ns < self._next_fault_ns:
            self._faults_held += 1
            return
        self._next_fault_ns = now_ns + int(FAULT_EVENT_S * NS_PER_S)
        held, self._faults_held = self._faults_held, 0
        path, reason = faults[0]
        received = message[:RECEIVED] if isinstance(message, str) else message[:RECEIVED].decode("utf-8", "replace")
        self._emit(
            "invalid-io-channel",
            {"received_data": received, "path": path, "reason": reason, "suppressed": held},
            f"session {self._session_id}: {path or 'the message'}: {reason}",
            now_ns,
        )

    def deprecated(self, forms: Sequence[tuple[str, str]], notices: DeprecationNotices) -> None:
        """Old forms were used, each with what replaces it; `notices` says how often that is worth an event."""
        now_ns = self._system.runtime.now_ns()
        for form, replacement in forms:
            held = notices.due(form, now_ns)
            if held is not None:
                self._emit(
                    "command-deprecated",
                    {"command": form, "replacement": replacement, "suppressed": held},
                    f"session {self._session_id} uses the old form of {form}: use {replacement}",
                    now_ns,
                )

    def busy(self, record: DeviceRecord, holder: int) -> None:
        """A position was refused: session `holder` holds the device; one event a second at most."""
        now_ns = self._system.runtime.now_ns()
        if now_ns < self._next_busy_ns:
            return
        self._next_busy_ns = now_ns + int(BUSY_EVENT_S * NS_PER_S)
        device_id = record.device_id
        self._emit(
            "device-busy",
            {"device_id": device_id, "device_family": str(record.kind), "held_by": holder},
            f"session {holder} holds {device_id}; session {self._session_id} was refused",
            now_ns,
        )

    def timed_out(self, interval_ns: int) -> None:
        """Commands go stale again and again; `interval_ns` lay between the last two."""
        interval_s = interval_ns / NS_PER_S
        self._emit(
            "session-warning",
            {"reason": "command_timeout", "interval": interval_s, "setting": "sessions/command_timeout"},
            f"session {self._session_id} sends a command every {interval_s:.3f} s: send faster or raise sessions/command_timeout",
        )

    def _emit(self, kind: str, data: dict[str, object], message: str, at_ns: int | None = None) -> None:
        emit = Emit(kind, {"session_id": self._session_id, **data}, message, at_ns=at_ns)
        self._system.context.directory.tell(HUB, emit)
