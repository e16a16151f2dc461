"""Print every device of a running hapticd, then follow the first one that moves for a few frames.

python print_devices.py [ws://localhost:10001]
"""

import json
import sys

from websockets.sync.client import connect


def main() -> None:
    """Connect, print the first frame, which the service sends unasked, and then one frame for each message sent."""
    url = sys.argv[1] if len(sys.argv) > 1 else "ws://localhost:10001"
    with connect(f"{url}/?vocabulary=neutral") as channel:
        first = json.loads(channel.recv())
        print(f"session {first['session_id']}")
        for kind in ("arm", "compact", "grip", "pen"):
            for device in first[kind]:
                config = device["config"]
                ready = "ready" if device["status"]["ready"] else "not ready yet"
                print(f"{kind} {device['device_id']}: {config['connection']} on {config['port']}, {ready}")
        for _ in range(5):
            channel.send("{}")
            frame = json.loads(channel.recv())
            for device in frame["arm"] + frame["compact"]:
                x, y, z = device["state"]["cursor_position"].values()
                print(f"{device['device_id']} is at x {x:+.4f}  y {y:+.4f}  z {z:+.4f} m")


if __name__ == "__main__":
    main()
