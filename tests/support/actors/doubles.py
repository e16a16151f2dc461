"""Test doubles of actors, and settings, device records and inventories for unit tests of actors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import pykka

from actors.device.messages import Bond, DeviceRecord, Inventory, Phase
from actors.device.simulated_identity import identities, parse
from actors.kit.actor import Context
from actors.kit.children import Factory
from actors.kit.message import ChildFailed, Message
from actors.settings.effective import load_settings
from actors.settings.messages import Frozen, SettingsView
from fastpath.arena.runtime import Runtime
from transport.settings_catalog import SETTINGS_CATALOG

M = TypeVar("M")


def settings_view(raw: Mapping[str, object] | None = None) -> SettingsView:
    """The catalogue's settings with some stored values."""
    book, faults = load_settings(SETTINGS_CATALOG, dict(raw or {}), {})
    assert faults == ()
    return book.view()


def simulated_records(runtime: Runtime, *words: str, phase: Phase = Phase.READY) -> tuple[DeviceRecord, ...]:
    """Return records of simulated devices, leased from the runtime."""
    return tuple(
        DeviceRecord(
            identity, runtime.lease_device(identity.device_id), phase, bond=Bond.at_first(simulated=identity.simulated)
        )
        for identity in identities(parse(word) for word in words)
    )


def inventory_of(*words: str, phase: Phase = Phase.READY) -> Inventory:
    """Return an inventory of simulated devices on a new stepping runtime."""
    return Inventory(simulated_records(Runtime(stepping=True, realtime=False), *words, phase=phase))


class FakeActor:
    """Test double of an actor: registered under `names`, keeps the messages told to it; `hears` runs after each."""

    def __init__(self, context: Context, *names: str) -> None:
        self.told: list[Message] = []
        self.hears: Callable[[], object] = lambda: None
        for name in names:
            context.directory.register(name, cast("pykka.ActorRef[Any]", self))

    def tell(self, message: Message) -> None:
        self.told.append(message)
        self.hears()

    def is_alive(self) -> bool:
        return True

    def of(self, kind: type[M]) -> list[M]:
        """Return the messages of one type, oldest first."""
        return [message for message in self.told if isinstance(message, kind)]


class FakeChildren:
    """Test double of an owner's children: starts no actor, records spawns, stops and failures."""

    def __init__(self) -> None:
        self.spawned: list[str] = []
        self.stopped: list[str] = []
        self.failures: list[ChildFailed] = []

    def spawn(self, name: str, _factory: Factory) -> None:
        self.spawned.append(name)

    def failed(self, message: ChildFailed) -> None:
        self.failures.append(message)

    def stop(self, name: str) -> None:
        self.stopped.append(name)

    def stop_all(self) -> None:
        self.stopped += [name for name in reversed(self.spawned) if name not in self.stopped]


class FakeLedger(dict[str, Frozen]):
    """Test double of the ledger: a dictionary of its sections."""

    def section(self, name: str) -> Frozen:
        return self.get(name)
