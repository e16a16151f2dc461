"""Run emulated devices on pseudo-terminals: `python -m tests.emulators hapi`, or `arm grip` (open link protocol)."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.emulators import boards_command_line
from tests.emulators.hapi import WIRINGS, HapiBoard
from tests.emulators.pty_port import Device, PtyPort

DEVICES: Final[Mapping[str, Callable[[str], Device]]] = MappingProxyType({"hapi": HapiBoard})


def main() -> int:
    """Print the path of the port and answer there."""
    words = sys.argv[1:]
    if words and boards_command_line.named(words[0]):
        return boards_command_line.run(words)
    parser = argparse.ArgumentParser(
        prog="python -m tests.emulators",
        description=__doc__,
        epilog=boards_command_line.HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("device", choices=list(DEVICES))
    parser.add_argument(
        "--mechanism", choices=list(WIRINGS), default="2diy-plastic", help="what is wired to a hAPI board"
    )
    parser.add_argument("--link", type=Path, help="a name for the port, such as /tmp/ttyACM0")
    given = parser.parse_args()
    with PtyPort(DEVICES[given.device](given.mechanism), link=given.link) as port, suppress(KeyboardInterrupt):
        sys.stdout.write(f"{port.path}\n")
        sys.stdout.flush()
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
