"""Fixtures of the event tests: manual clock, context, time of day."""

from __future__ import annotations

import pytest

from actors.event.hub import EventHub
from actors.event.hub_state import HubState
from actors.event.messages import HUB
from actors.kit.actor import Context
from actors.kit.clock import ManualClock
from tests.unit.event.event_helpers import Wall, encode


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def context(clock: ManualClock) -> Context:
    return Context.build(clock)


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def hub_state() -> HubState:
    return HubState()


@pytest.fixture
def hub(context: Context, hub_state: HubState, wall: Wall) -> EventHub:
    """A hub without a thread, known by its name."""
    actor = EventHub(context, encode, hub_state, wall)
    context.directory.register(HUB, actor.actor_ref)
    return actor
