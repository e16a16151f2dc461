"""Base classes of all messages: Message, Request, and the messages that every slice uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

R = TypeVar("R")


class Message:
    """A wish or a fact; subclasses are `@dataclass(frozen=True, slots=True)`."""

    __slots__ = ()

    repeatable: ClassVar[bool] = False
    """True: a later one says the same again, so a full mailbox may drop this one."""


class Request(Message, Generic[R]):
    """A message whose handler returns a reply of type R."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Announce(Message):
    """The actor `name` is new: whoever holds facts for it tells them again."""

    name: str


@dataclass(frozen=True, slots=True)
class ChildFailed(Message):
    """Told to the owner of a child: the actor `name` died of `error`."""

    name: str
    error: Exception
