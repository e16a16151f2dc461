"""Fixtures of the actor kit's tests: clock, context, start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pykka
import pytest

from actors.kit.actor import Context
from actors.kit.clock import ManualClock
from tests.unit.kit.sample_actors import TIMEOUT_S, Keeper, wait_started

Start = Callable[..., pykka.ActorRef[Any]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def context(clock: ManualClock) -> Context:
    return Context.build(clock)


@pytest.fixture
def start(context: Context) -> Iterator[Start]:
    """Start actors of any class under a name, and stop them after the test, the last one first."""
    refs: list[pykka.ActorRef[Any]] = []

    def begin(name: str = "keeper", actor: type[Any] = Keeper, *arguments: object) -> pykka.ActorRef[Any]:
        ref: pykka.ActorRef[Any] = actor.start(name, context, *arguments)
        refs.append(ref)
        wait_started(ref)
        return ref

    yield begin
    for ref in reversed(refs):
        ref.stop(timeout=TIMEOUT_S)
