"""Program: the reference for the session channel, a bare Tornado server that answers each message with the same frame.

A process of its own under the service's process settings (processors, switch interval, frozen heap, no delay on its sockets);
it decodes nothing, encodes nothing and keeps no state.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application
from tornado.websocket import WebSocketHandler

from bench.support.machine import cores
from transport.service import SWITCH_INTERVAL_S


class Echo(WebSocketHandler):
    """WebSocket handler that sends its frame at the start and after each message."""

    def initialize(self, frame: bytes) -> None:
        """`frame` is text in UTF-8."""
        self.frame = frame

    def open(self, *_args: str, **_kwargs: str) -> None:
        """Send the first frame, as the service does."""
        self.set_nodelay(True)
        self.write_message(self.frame)

    def on_message(self, message: str | bytes) -> None:
        """Send one frame for one message."""
        del message
        self.write_message(self.frame)


async def serve(frame: bytes) -> None:
    """Serve until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    sockets = bind_sockets(0, "127.0.0.1")
    server = HTTPServer(Application([("/", Echo, {"frame": frame})]))
    server.add_sockets(sockets)
    gc.freeze()
    sys.stdout.write(f"ready ws://127.0.0.1:{sockets[0].getsockname()[1]}/\n")
    sys.stdout.flush()
    await stop.wait()


def main() -> None:
    """Serve the frame in the file that the first argument names."""
    frame = Path(sys.argv[1]).read_bytes()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    os.sched_setaffinity(0, cores().rest)
    asyncio.run(serve(frame))


if __name__ == "__main__":
    main()
