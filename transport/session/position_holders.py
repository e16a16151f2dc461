"""Which session holds a device's position: the first to set one, until it omits it, times out or closes."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, Protocol

from transport.wire.commands import BY_CODE

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

# bits of a record's `commands`
HOLDING: Final = sum(1 << code for code, row in BY_CODE.items() if row.exclusive)


class Hold(Protocol):
    """What shows whether a session holds a device: its Writer, or that of a page of shared memory."""

    @property
    def revoked(self) -> bool:
        """Whether it has ended."""
        ...

    @property
    def commands(self) -> int:
        """Bits of the commands in force."""
        ...

    @property
    def command_ns(self) -> int:
        """When they were stamped, ns."""
        ...


class PositionHolders:
    """The last session that could claim each device; its writer shows whether it still holds.

    The streaming thread writes a session's records too: they are read under the session's lock, or a message of the holder
    that is applied at the moment looks like a release, and two sessions hold one device.
    """

    def __init__(self) -> None:
        self._holders: dict[str, tuple[int, Hold, AbstractContextManager[None]]] = {}

    def claim(
        self,
        device_id: str,
        session_id: int,
        writer: Hold,
        now_ns: int,
        timeout_ns: int,
        lock: AbstractContextManager[None] | None = None,
    ) -> int | None:
        """Claim the device for `session_id`, whose records `lock` covers. Return None on success, else the session that holds it."""
        holder = self.holder(device_id, now_ns, timeout_ns)
        if holder is not None and holder != session_id:
            return holder
        self._holders[device_id] = (session_id, writer, lock or nullcontext())
        return None

    def holder(self, device_id: str, now_ns: int, timeout_ns: int) -> int | None:
        """Return the session that holds the device, None without one."""
        holder = self._holders.get(device_id)
        if holder is None:
            return None
        with holder[2]:
            return holder[0] if _holds(holder[1], now_ns, timeout_ns) else None

    def forget(self, session_id: int) -> None:
        """Drop the claims of a closed session."""
        self._holders = {device: holder for device, holder in self._holders.items() if holder[0] != session_id}


def _holds(writer: Hold, now_ns: int, timeout_ns: int) -> bool:
    return not writer.revoked and bool(writer.commands & HOLDING) and now_ns - writer.command_ns <= timeout_ns
