"""Program: the reference for HTTP reads, a bare Tornado server that answers GET of `/NAME` with the bytes of one file.

A process of its own under the service's process settings, as `tornado_echo`; it checks nothing, routes by a dict and keeps no state.
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
from tornado.web import Application, RequestHandler

from bench.support.machine import cores
from transport.service import SWITCH_INTERVAL_S


class Body(RequestHandler):
    """Handler that writes the bytes of its name."""

    def initialize(self, bodies: dict[str, bytes]) -> None:
        """`bodies`: by name."""
        self.bodies = bodies

    def compute_etag(self) -> None:
        """Return no ETag, as the service."""

    def get(self, name: str) -> None:
        """Answer."""
        self.set_header("Content-Type", "application/json")
        self.write(self.bodies[name])


async def serve(bodies: dict[str, bytes]) -> None:
    """Serve until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    sockets = bind_sockets(0, "127.0.0.1")
    server = HTTPServer(Application([("/(.*)", Body, {"bodies": bodies})]))
    server.add_sockets(sockets)
    gc.freeze()
    sys.stdout.write(f"ready http://127.0.0.1:{sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await stop.wait()


def main() -> None:
    """Serve the files of the folder that the first argument names."""
    bodies = {path.name: path.read_bytes() for path in Path(sys.argv[1]).iterdir()}
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    os.sched_setaffinity(0, cores().rest)
    asyncio.run(serve(bodies))


if __name__ == "__main__":
    main()
