"""Base classes of messages, and the messages that every slice uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

R = TypeVar("R")


class Message:
    """Base of all messages; subclasses are `@dataclass(frozen=True, slots=True)`."""

    __slots__ = ()

    repeatable: ClassVar[bool] = False
    """True: a later message has the same content, so a full mailbox may drop this one."""


class Request(Message, Generic[R]):
    """Base of messages with a reply of type R."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Announce(Message):
    """The actor `name` was restarted: actors that keep facts for it send them again."""

    name: str


@dataclass(frozen=True, slots=True)
class ChildFailed(Message):
    """Told to the owner of a child: the actor `name` crashed with `error`."""

    name: str
    error: Exception
