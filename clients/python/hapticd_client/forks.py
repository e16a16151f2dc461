"""What a fork does to connections: the child closes its copies, so that the parent's end releases every force."""

from __future__ import annotations

import os
import weakref
from typing import Protocol

from hapticd_client.errors import SessionClosed


class Inherited(Protocol):
    """What a child process has a copy of."""

    def abandon(self) -> None:
        """Close the copy in the child, without a word to the service."""
        ...


_open: weakref.WeakSet[Inherited] = weakref.WeakSet()


def watch(connection: Inherited) -> None:
    """Abandon the connection in a child process that is forked from now on."""
    _open.add(connection)


def forked() -> SessionClosed:
    """Return the error of a child that uses its parent's session."""
    return SessionClosed(
        "this session belongs to the process that forked this one: connect here to get a session of your own"
    )


def _abandon_all() -> None:
    for connection in list(_open):
        connection.abandon()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
