"""Links to emulated boards for a service inside a test: ports at given paths, and the real driver."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from actors.port.link_interface import NoDeviceAnswers
from actors.values.hardware import Candidate, Transport
from transport.link.device_nodes import node_of
from transport.link.protocols.openlink.driver import open_board

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.kit.published import Published
    from actors.port.link_interface import Link, OpenLimits
    from actors.settings.messages import SettingsView
    from fastpath.arena.runtime import Runtime


class BoardLinks:
    """Driver of emulated boards: port `board0` is the first path while it exists, and so on."""

    setting_keys = frozenset[str]()

    def __init__(self, runtime: Runtime, paths: Sequence[str]) -> None:
        self._runtime = runtime
        self._paths = tuple(paths)

    def scan(self) -> tuple[Candidate, ...]:
        """The paths that exist."""
        return tuple(
            Candidate(f"board{number}", path, Transport.SERIAL, node=node_of(path))
            for number, path in enumerate(self._paths)
            if Path(path).exists()
        )

    def change_token(self) -> object:
        """Return a value that changes when a path appears, disappears or is replaced."""
        return tuple(node_of(path) for path in self._paths)

    def taker(self, candidate: Candidate) -> str:
        """Return "": nothing takes a port away."""
        del candidate
        return ""

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Link:
        """Open the link to the board at the candidate's path."""
        try:
            return open_board(candidate, self._runtime, limits, stop)
        except OSError as error:
            raise NoDeviceAnswers(str(error)) from error


class BoardsAt:
    """Factory of BoardLinks for a system: `links=BoardsAt(paths)`."""

    def __init__(self, *paths: str) -> None:
        self._paths = paths

    def __call__(self, runtime: Runtime, settings: Published[SettingsView]) -> BoardLinks:
        del settings
        return BoardLinks(runtime, self._paths)
