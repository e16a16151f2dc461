"""Program: the fastest echo that Python offers: picows, whose frames are parsed in Cython, on uvloop."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import uvloop
from picows import (
    WSFrame,
    WSListener,
    WSMsgType,
    WSTransport,
    WSUpgradeRequest,
    ws_create_server,  # pyright: ignore[reportUnknownVariableType] - its keywords have no types
)

from bench.support.machine import cores


class Echo(WSListener):
    """Connection that sends its frame at the start and after each message."""

    frame = b""

    def on_ws_connected(self, transport: WSTransport) -> None:
        """Send the first frame, as the service does."""
        transport.send(WSMsgType.TEXT, self.frame)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """Send one frame for one message."""
        if frame.msg_type is WSMsgType.TEXT:
            transport.send(WSMsgType.TEXT, self.frame)


def listener(_request: WSUpgradeRequest) -> WSListener:
    """Return the listener of a new connection."""
    return Echo()


async def serve() -> None:
    """Serve until a signal ends the process."""
    server = await ws_create_server(listener, "127.0.0.1", 0)
    gc.freeze()
    sys.stdout.write(f"ready ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/\n")
    sys.stdout.flush()
    await server.serve_forever()


def main() -> None:
    """Serve the frame in the file that the first argument names."""
    Echo.frame = Path(sys.argv[1]).read_bytes()
    os.sched_setaffinity(0, cores().rest)
    uvloop.run(serve())


if __name__ == "__main__":
    main()
