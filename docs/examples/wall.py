"""Feel a wall: push back in proportion to how deep the cursor is below a height.

    .venv/bin/python docs/examples/wall.py [--stiffness 1000] [--height 0.125] [--seconds 8] [--url ws://localhost:10001]

The address may also stand alone: .venv/bin/python docs/examples/wall.py ws://localhost:10001
The simulated hand moves on a circle of 30 mm, so it meets the wall on each turn.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

try:
    from websockets.exceptions import ConnectionClosed, WebSocketException
    from websockets.sync.client import connect
except ImportError:
    raise SystemExit(f"websockets is missing: {sys.executable} -m pip install websockets") from None


def main() -> None:
    """Read the options, run, and say in one sentence when the service is not there or has gone."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--stiffness", type=float, default=1000, help="N/m")
    parser.add_argument("--height", type=float, default=0.125, help="m, device frame")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--url", default=os.environ.get("HAPTICD_URL", "ws://localhost:10001"), help="also http://…")
    parser.add_argument("--token", default=os.environ.get("HAPTICD_TOKEN"), help="for a service on another machine")
    parser.add_argument("--token-file", type=Path, help="file with the token")
    parser.add_argument("--timeout", type=float, default=5, help="seconds to connect in")
    parser.add_argument("url", nargs="?", default=argparse.SUPPRESS, help="the same as --url")
    options = parser.parse_args()
    options.url = options.url.replace("http", "ws", 1) if options.url.startswith("http") else options.url
    try:
        if options.token_file is not None:
            options.token = options.token_file.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise SystemExit(f"no token in {options.token_file} ({error}): give the file token of the service") from None
    try:
        run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has gone, as in `| head -1`: nothing may fail when Python flushes it at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
    except ConnectionClosed as error:
        raise SystemExit(f"the service at {options.url} has closed the connection ({error})") from None
    except (OSError, WebSocketException) as error:
        raise SystemExit(f"no service at {options.url} ({error}): start one, or give its address with --url") from None
    except KeyboardInterrupt:
        pass


def run(options: argparse.Namespace) -> None:
    """Send one force for each frame; print depth, force and rate once a second."""
    headers = {"Authorization": f"Bearer {options.token}"} if options.token else {}
    address = f"{options.url.rstrip('/')}/?vocabulary=neutral"
    with connect(address, additional_headers=headers, open_timeout=options.timeout) as channel:
        frame = json.loads(channel.recv())
        movers = frame["arm"] + frame["compact"]
        if not movers:
            raise SystemExit("no arm and no compact is here: start the service with --simulate arm")
        group, name = ("arm" if frame["arm"] else "compact"), movers[0]["device_id"]
        started = shown = time.monotonic()
        frames = deepest = hardest = 0.0
        while time.monotonic() - started < options.seconds:
            depth = options.height - frame[group][0]["state"]["cursor_position"]["z"]
            push = options.stiffness * max(depth, 0.0)
            force = {"vector": {"x": 0, "y": 0, "z": push}}
            channel.send(json.dumps({group: [{"device_id": name, "commands": {"set_cursor_force": force}}]}))
            frame = json.loads(channel.recv())
            frames += 1
            deepest = max(deepest, depth)
            hardest = max(hardest, frame[group][0]["state"]["current_cursor_force"]["z"])
            now = time.monotonic()
            if now - shown >= 1:
                print(
                    f"deepest {1000 * deepest:6.2f} mm   hardest push {hardest:5.2f} N   {frames / (now - shown):6.0f} frames/s",
                    flush=True,
                )
                shown, frames, deepest, hardest = now, 0, 0.0, 0.0


if __name__ == "__main__":
    main()
