"""Detect clients that disconnected with unread messages, and end their forces at once.

The kernel reports a closed peer at once, Tornado only after it has read everything before.
"""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Final

from tornado.ioloop import PeriodicCallback

if TYPE_CHECKING:
    from transport.bridge import Bridge

POLL_EVERY_MS: Final = 20
# Linux reports a peer that closed its side; other systems only a broken connection.
HUNG_UP: Final[int] = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR


class HangupPoll:
    """Polls the sockets of all sessions; main thread only."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._timer = PeriodicCallback(self.poll, POLL_EVERY_MS)

    def start(self) -> None:
        """Start polling."""
        self._timer.start()

    def stop(self) -> None:
        """Stop polling."""
        self._timer.stop()

    def poll(self) -> None:
        """Release the forces of sessions whose client has hung up; one system call for all."""
        channels = {channel.descriptor: channel for channel in self._bridge.channels.values()}
        channels.pop(-1, None)
        if not channels:
            return
        poller = select.poll()
        for descriptor in channels:
            poller.register(descriptor, HUNG_UP)
        for descriptor, _ in poller.poll(0):
            channels[descriptor].hung_up()
