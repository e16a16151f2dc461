"""Detect clients that disconnected with unread messages, and end their forces at once.

The kernel knows that the other side has closed as soon as it hears so; Tornado, only once it has read everything before that.
"""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Final

from tornado.ioloop import PeriodicCallback

if TYPE_CHECKING:
    from transport.bridge import Bridge

LOOK_EVERY_MS: Final = 20
# Linux tells of a peer that has closed its side; elsewhere only a broken connection shows.
HUNG_UP: Final[int] = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR


class HangupPoll:
    """Main thread only."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._looks = PeriodicCallback(self.look, LOOK_EVERY_MS)

    def start(self) -> None:
        """Look from now on."""
        self._looks.start()

    def stop(self) -> None:
        """Look no more."""
        self._looks.stop()

    def look(self) -> None:
        """One system call for all sessions; whoever has hung up commands nothing from now on."""
        channels = {channel.descriptor: channel for channel in self._bridge.channels.values()}
        channels.pop(-1, None)
        if not channels:
            return
        poller = select.poll()
        for descriptor in channels:
            poller.register(descriptor, HUNG_UP)
        for descriptor, _ in poller.poll(0):
            channels[descriptor].hung_up()
