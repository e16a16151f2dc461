"""Stand-in for PortThread: records its constructor arguments and cannot be started."""

from __future__ import annotations

from typing import Any


class CannotStart(OSError):
    """Raised by `start`."""


class FakePortThread:
    """`given`: its keyword arguments; `idle`: orders a second for an unattached device, by index."""

    def __init__(self, made: list[FakePortThread], *arguments: object, **given: Any) -> None:
        made.append(self)
        self.protocol = arguments[2]
        self.given = given
        self.idle: dict[int, float] = {}

    def set_idle(self, index: int, rate_hz: float) -> None:
        self.idle[index] = rate_hz

    def start(self) -> None:
        raise CannotStart

    def close(self) -> None:
        """Do nothing: no port is open."""
