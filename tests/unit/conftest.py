"""Unit tests may not open sockets; tests that need one belong to tests/service."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def no_sockets() -> Iterator[None]:
    """Fail a test that creates a socket; the two ends of a socketpair, as event loops have them, are allowed.

    It ends with each test: other folders, which may open sockets, run in the same process.
    """
    original = socket.socket.__init__

    def refuse(self: socket.socket, *arguments: Any, **named: Any) -> None:
        # The ends of a socketpair and accepted connections come with their descriptor.
        if named.get("fileno", arguments[3] if len(arguments) > 3 else None) is None:
            pytest.fail("A unit test opened a socket: move it to tests/service, or hand it a socketpair.")
        original(self, *arguments, **named)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "__init__", refuse)
    yield
    patch.undo()
