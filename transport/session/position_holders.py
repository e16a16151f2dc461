"""Which session holds a device's position: the first that sets one, until it omits it, times out or closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from transport.wire.commands import BY_CODE

if TYPE_CHECKING:
    from fastpath.arena.access import Writer

# bits of a record's `commands`
HOLDING: Final = sum(1 << code for code, row in BY_CODE.items() if row.exclusive)


class PositionHolders:
    """The last session that was let hold each device; whether it still does is read off its record."""

    def __init__(self) -> None:
        self._holders: dict[str, tuple[int, Writer]] = {}

    def claim(self, device_id: str, session_id: int, writer: Writer, now_ns: int, timeout_ns: int) -> int | None:
        """Take the device for `session_id`; None when it has it now, else the session that holds it."""
        holder = self.holder(device_id, now_ns, timeout_ns)
        if holder is not None and holder != session_id:
            return holder
        self._holders[device_id] = (session_id, writer)
        return None

    def holder(self, device_id: str, now_ns: int, timeout_ns: int) -> int | None:
        """The session that holds the device now."""
        holder = self._holders.get(device_id)
        return holder[0] if holder is not None and _holds(holder[1], now_ns, timeout_ns) else None

    def forget(self, session_id: int) -> None:
        """A session has closed."""
        self._holders = {device: holder for device, holder in self._holders.items() if holder[0] != session_id}


def _holds(writer: Writer, now_ns: int, timeout_ns: int) -> bool:
    return not writer.revoked and bool(writer.commands & HOLDING) and now_ns - writer.command_ns <= timeout_ns
