"""Print every device of a running hapticd, then follow those that move, ten times a second.

    .venv/bin/python docs/examples/print_devices.py [--seconds 0.5] [--url ws://localhost:10001]

The address may also stand alone: .venv/bin/python docs/examples/print_devices.py ws://localhost:10001
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
    parser.add_argument("--seconds", type=float, default=0.5)
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
    """Connect, print the first frame, which the service sends unasked, and then one frame for each message sent."""
    headers = {"Authorization": f"Bearer {options.token}"} if options.token else {}
    address = f"{options.url.rstrip('/')}/?vocabulary=neutral"
    with connect(address, additional_headers=headers, open_timeout=options.timeout) as channel:
        first = json.loads(channel.recv())
        print(f"session {first['session_id']}")
        for kind in ("arm", "compact", "grip", "pen"):
            for device in first[kind]:
                config = device["config"]
                ready = "ready" if device["status"]["ready"] else "not ready yet"
                print(f"{kind} {device['device_id']}: {config['connection']} on {config['port']}, {ready}")
        for _ in range(round(10 * options.seconds)):
            channel.send("{}")
            frame = json.loads(channel.recv())
            for device in frame["arm"] + frame["compact"]:
                x, y, z = device["state"]["cursor_position"].values()
                print(f"{device['device_id']} is at x {x:+.4f}  y {y:+.4f}  z {z:+.4f} m", flush=True)
            time.sleep(0.1)


if __name__ == "__main__":
    main()
