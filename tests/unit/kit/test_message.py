"""Base classes of messages and requests."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from actors.kit.message import Announce, ChildFailed, Message, Request
from tests.unit.kit.sample_actors import Divide, Fact, Note


def test_messages_are_frozen_and_small() -> None:
    message = Announce("settings")
    with pytest.raises(FrozenInstanceError):
        message.name = "other"  # type: ignore[misc]
    assert not hasattr(message, "__dict__")
    assert not hasattr(Divide(1, 2), "__dict__")


def test_message_is_not_droppable_by_default() -> None:
    assert not Message.repeatable
    assert not Note(1).repeatable
    assert Fact(1).repeatable


def test_a_request_is_a_message() -> None:
    assert issubclass(Request, Message)
    assert issubclass(ChildFailed, Message)
