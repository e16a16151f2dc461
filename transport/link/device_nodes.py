"""Detect changed device nodes under /dev with a few `stat` calls, without listing the ports.

A folder's change time advances with every node that is created or removed in it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER: Final = "/dev"
USB_FOLDER: Final = "/dev/bus/usb"


def node_of(path: str) -> str:
    """Return a text that differs for every node that was ever at that path; "" without a node."""
    try:
        found = Path(path).stat()
    except OSError:
        return ""
    return f"{found.st_dev}.{found.st_ino}.{found.st_rdev}"


def change_token(named_paths: Iterable[str]) -> object:
    """Return a value that differs after a node came or went in FOLDER, at a USB bus, or at one of the paths."""
    return (_changed_ns(FOLDER), *_buses(), *((path, _changed_ns(path), node_of(path)) for path in named_paths))


def _buses() -> tuple[tuple[str, int], ...]:
    """Return each USB bus with the time of its last change."""
    with suppress(OSError):
        buses = sorted(str(bus) for bus in Path(USB_FOLDER).iterdir())
        return tuple((bus, _changed_ns(bus)) for bus in buses)
    return ()


def _changed_ns(path: str) -> int:
    """Return when the node (or link) at that path changed last, ns; 0 without one."""
    with suppress(OSError):
        return Path(path).lstat().st_ctime_ns
    return 0
