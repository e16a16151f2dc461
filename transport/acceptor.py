"""Accept connections on a listening socket: a bounded number in each iteration, with a pause when no descriptor is left."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable
from typing import Any, Final

from tornado.ioloop import IOLoop

# Connections accepted in one iteration of the event loop; more than arrive in that time, so that the kernel drops none.
AT_ONCE: Final = 16
PAUSE_S: Final = 0.1
# s; a shortage that returns within this time is not logged again.
SAME_S: Final = 60.0
NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

Take = Callable[[socket.socket, Any], None]

logger = logging.getLogger(__name__)


class Shortage:
    """Log one line for each shortage of descriptors over all listening sockets; event loop's thread only."""

    def __init__(self, make_room: Callable[[], None]) -> None:
        """`make_room` closes a connection that can be spared, if there is one."""
        self._make_room = make_room
        self._last_s: float | None = None

    def met(self, error: OSError, now_s: float) -> None:
        """Note that a connection could not be accepted at `now_s` (s, event loop's clock)."""
        if self._last_s is None or now_s - self._last_s > SAME_S:
            logger.error(
                "No new connection can be accepted (%s): open ones go on, new ones wait until others close. Raise the limit of "
                "open files (LimitNOFILE= of the systemd unit, ulimit -n).",
                error.strerror,
            )
        self._last_s = now_s
        self._make_room()


class Acceptor:
    """Accept on one listening socket until stopped; event loop's thread only."""

    def __init__(self, listening: socket.socket, take: Take, shortage: Shortage) -> None:
        """`take` gets each connection and the address of its peer."""
        self._listening = listening
        self._take = take
        self._shortage = shortage
        self._loop = IOLoop.current()
        self._pause: object | None = None
        self._listen()

    def stop(self) -> None:
        """Accept no more; the socket stays open."""
        if self._pause is None:
            self._loop.remove_handler(self._listening)
        else:
            self._loop.remove_timeout(self._pause)

    def _listen(self) -> None:
        self._pause = None
        self._loop.add_handler(self._listening, self._accept, IOLoop.READ)

    def _accept(self, _listening: object, _events: int) -> None:
        for _ in range(AT_ONCE):
            try:
                connection, address = self._listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                if error.errno not in NO_ROOM:
                    raise
                self._loop.remove_handler(self._listening)
                self._pause = self._loop.call_later(PAUSE_S, self._listen)
                self._shortage.met(error, self._loop.time())
                return
            self._take(connection, address)
