"""ActorRig: base class of the fixtures that test one actor as a plain object, without its thread."""

from __future__ import annotations

from collections.abc import Mapping

from actors.device.messages import Inventory
from actors.event.messages import HUB, Emit
from actors.kit.actor import Context
from actors.kit.clock import Clock, ManualClock
from actors.kit.published import Published
from actors.settings.messages import STORE
from tests.support.actors.doubles import FakeActor, settings_view


class ActorRig:
    """A context on a manual clock, the hub and the store as listeners, published settings and a published inventory.

    A test's own rig derives from it, and adds the actor and those whom only this one tells.
    """

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        inventory: Inventory | None = None,
        start_ns: int = 0,
        clock: Clock | None = None,
    ) -> None:
        """`clock` stands behind the context in place of the manual one, which begins at `start_ns`."""
        self.clock = ManualClock(start_ns)
        self.context = Context.build(clock or self.clock)
        self.hub = FakeActor(self.context, HUB)
        self.store = FakeActor(self.context, STORE)
        self.settings = Published(settings_view(settings))
        self.inventory = Published(inventory or Inventory())

    def wait(self, seconds: float) -> None:
        """Let time pass, and fire the timers that are due then."""
        self.clock.advance(seconds)
        self.context.timers.fire_due()

    @property
    def emitted(self) -> list[Emit]:
        """Return the events sent to the hub, oldest first."""
        return self.hub.of(Emit)
