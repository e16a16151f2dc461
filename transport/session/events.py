"""Events that a session channel emits: faulty messages, old forms, busy device, timed-out commands."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from actors.event.api import HUB, Emit

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord
    from actors.system import System
    from transport.session.command_gap import SlowSession
    from transport.wire.deprecation_notices import DeprecationNotices
    from transport.wire.hint_limit import HintLimit

FAULT_EVENT_S: Final = 1.0
BUSY_EVENT_S: Final = 1.0
RECEIVED: Final = 256
NS_PER_S: Final = 1_000_000_000
COMMAND_TIMEOUT: Final = "sessions/command_timeout"

logger = logging.getLogger(__name__)


class SessionEvents:
    """Emits the events of one session; main thread only."""

    def __init__(self, system: System, session_id: int) -> None:
        self._system = system
        self._session_id = session_id
        self._next_fault_ns = 0
        self._faults_suppressed = 0
        self._next_busy_ns = 0

    def faulty(self, faults: Sequence[tuple[str, str]], message: str | bytes) -> None:
        """Count faults and emit at most one event a second, with the number of suppressed ones."""
        self._system.metrics.input_faults.inc(len(faults))
        now_ns = self._system.runtime.now_ns()
        if now_ns < self._next_fault_ns:
            self._faults_suppressed += 1
            return
        self._next_fault_ns = now_ns + int(FAULT_EVENT_S * NS_PER_S)
        suppressed, self._faults_suppressed = self._faults_suppressed, 0
        path, reason = faults[0]
        received = message[:RECEIVED] if isinstance(message, str) else message[:RECEIVED].decode("utf-8", "replace")
        self._emit(
            "invalid-io-channel",
            {"received_data": received, "path": path, "reason": reason, "suppressed": suppressed},
            f"session {self._session_id}: {path or 'the message'}: {reason}",
            now_ns,
        )

    def deprecated(self, forms: Sequence[tuple[str, str]], notices: DeprecationNotices) -> None:
        """Emit events for old forms and their replacements, as often as `notices` allows."""
        now_ns = self._system.runtime.now_ns()
        for form, replacement in forms:
            suppressed = notices.due(form, now_ns)
            if suppressed is not None:
                self._emit(
                    "command-deprecated",
                    {"command": form, "replacement": replacement, "suppressed": suppressed},
                    f"session {self._session_id} uses the old form of {form}: use {replacement}",
                    now_ns,
                )

    def busy(self, record: DeviceRecord, holder: int) -> None:
        """Emit that a position was refused because session `holder` holds the device; at most once a second."""
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

    def timed_out(self, slow: SlowSession, timeout_s: float, limit: HintLimit) -> None:
        """Emit that commands time out repeatedly, and log it within the `limit` of all sessions."""
        sentence = (
            f"session {self._session_id} sends a command every {slow.interval:.3f} s, which is more than"
            f" {COMMAND_TIMEOUT} ({timeout_s:g} s): its commands fade before the next ones come, and {slow.force_lost:.0%}"
            f" of its force is lost; send faster or raise {COMMAND_TIMEOUT}"
        )
        data: dict[str, object] = {
            "reason": "command_timeout",
            "interval": slow.interval,
            "force_lost": slow.force_lost,
            "setting": COMMAND_TIMEOUT,
        }
        self._emit("session-warning", data, sentence)
        suppressed = limit.due(self._system.runtime.now_ns())
        if suppressed is not None:
            logger.warning("%s%s", sentence, _suppressed_note(suppressed), extra=self._log_fields())

    def _log_fields(self) -> dict[str, object]:
        return {"event": "session-warning", "session": self._session_id}

    def _emit(self, kind: str, data: dict[str, object], message: str, at_ns: int | None = None) -> None:
        emit = Emit(kind, {"session_id": self._session_id, **data}, message, at_ns=at_ns)
        self._system.context.directory.tell(HUB, emit)


def _suppressed_note(suppressed: int) -> str:
    return f" ({suppressed} more such sessions were not logged)" if suppressed else ""
