"""Program: a client that commands a force as fast as the service answers; prints `pushes` after the first answer.

Arguments: URL of the session channel, id of the arm, newtons along x, y and z.
"""

from __future__ import annotations

import json
import sys

from websockets.sync.client import connect


def main(url: str, device_id: str, *newtons: str) -> None:
    """Push until the process or the connection ends."""
    vector = dict(zip("xyz", map(float, newtons), strict=True))
    message = json.dumps({"arm": [{"device_id": device_id, "commands": {"set_cursor_force": {"vector": vector}}}]})
    with connect(url, compression=None, proxy=None, open_timeout=60) as channel:
        channel.recv()
        channel.send(message)
        channel.recv()
        sys.stdout.write("pushes\n")
        sys.stdout.flush()
        while True:
            channel.send(message)
            channel.recv()


if __name__ == "__main__":
    main(*sys.argv[1:])
