"""The session's actor as a plain object: what it remembers, what it answers, and whom it tells."""

from __future__ import annotations

import pytest

from actors.event.messages import HUB, Emit
from actors.kit.actor import Context
from actors.kit.clock import ManualClock
from actors.kit.published import Published
from actors.session.actor import SessionActor, actor_name
from actors.session.book import SessionEntry
from actors.session.messages import (
    MANAGER,
    Change,
    ConfigureSession,
    DeclareProfile,
    RequireSdk,
    SessionConfig,
    SessionDescribed,
    SetBasis,
    SetMount,
    SetPreset,
)
from actors.session.profile import Remembered, SessionMemory
from actors.values.spatial import Basis, PartialTransform
from tests.support.slices import Listener, inventory_of
from tests.unit.session.parts import entry_of

INVENTORY = inventory_of("arm", "grip")
ARM, GRIP = (record.device_id for record in INVENTORY.devices)
XZY = Basis.parse("XZ-Y")


class Rig:
    """One session's actor without a thread, and those whom it tells."""

    def __init__(self) -> None:
        self.context = Context.build(ManualClock())
        self.hub = Listener(self.context, HUB)
        self.manager = Listener(self.context, MANAGER)
        self.memory = Published(SessionMemory())
        self.entry: SessionEntry = entry_of(7)
        self.actor = self.again()

    def again(self) -> SessionActor:
        """Another actor on the same entry, as after a crash."""
        return SessionActor(self.context, self.entry, Published(INVENTORY), self.memory)

    @property
    def config(self) -> SessionConfig:
        return self.entry.config.value

    @property
    def events(self) -> list[tuple[str, dict[str, object]]]:
        return [(emit.kind, dict(emit.data)) for emit in self.hub.of(Emit)]


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_its_name_carries_the_id(rig: Rig) -> None:
    assert rig.actor.name == actor_name(7) == "session/7"


def test_what_is_configured_is_remembered_answered_and_told(rig: Rig) -> None:
    applied = rig.actor.configure(ConfigureSession((SetBasis(ARM, XZY), SetPreset(ARM, "arm_front"))))

    assert rig.config == applied.config
    assert rig.config.basis_of(ARM) == XZY
    assert rig.manager.of(SessionDescribed) == [SessionDescribed(7, applied.config)]
    assert rig.events == [("session-updated", {"session_id": 7, "scopes": ["config.basis", "config.preset"]})]
    assert rig.hub.of(Emit)[0].message == "session 7 changed config.basis, config.preset"


def test_changes_come_on_top_of_what_was_configured(rig: Rig) -> None:
    rig.actor.configure(ConfigureSession((SetMount(ARM, PartialTransform((1, 2, 3))),)))
    rig.actor.configure(ConfigureSession((SetMount(ARM, PartialTransform(scale=(2, 2, 2))),)))

    mount = rig.config.device(ARM).mount
    assert (mount.position, mount.scale) == ((1, 2, 3), (2, 2, 2))


@pytest.mark.parametrize("changes", [(), (SetPreset(ARM, "defaults"),), (SetBasis(None, Basis()),)])
def test_nothing_is_told_when_nothing_changed(rig: Rig, changes: tuple[Change, ...]) -> None:
    before = rig.entry.config.version

    applied = rig.actor.configure(ConfigureSession(changes))

    assert (applied.scopes, applied.refused) == ((), ())
    assert (rig.manager.told, rig.hub.told, rig.entry.config.version) == ([], [], before)


def test_what_is_refused_is_answered_and_no_event(rig: Rig) -> None:
    applied = rig.actor.configure(ConfigureSession((SetPreset(GRIP, "defaults", "p"),)))

    assert [refused.path for refused in applied.refused] == ["p"]
    assert (rig.manager.told, rig.hub.told) == ([], [])


def test_an_actor_that_is_started_again_has_what_was_configured(rig: Rig) -> None:
    rig.actor.configure(ConfigureSession((SetBasis(ARM, XZY),)))

    applied = rig.again().configure(ConfigureSession((SetPreset(ARM, "arm_front_centered"),)))

    assert applied.config.basis_of(ARM) == XZY
    assert applied.scopes == ("config.mount", "config.preset")


def test_a_remembered_version_comes_back_with_its_profile(rig: Rig) -> None:
    rig.memory.replace(SessionMemory().noting(3, Remembered("mine", "3.4"), Remembered()))

    rig.actor.configure(ConfigureSession((DeclareProfile("mine"),)))

    assert (rig.config.profile, rig.config.required_sdk_version) == ("mine", "3.4")


@pytest.mark.parametrize("path", ["", "session.configure.required_sdk_version"])
def test_a_version_that_is_too_new_is_warned_of_and_remembered(rig: Rig, path: str) -> None:
    changes = (DeclareProfile("", path), RequireSdk("9.1", path))

    applied = rig.actor.configure(ConfigureSession(changes))

    assert rig.config.required_sdk_version == "9.1"
    assert rig.events == [
        ("session-updated", {"session_id": 7, "scopes": ["required_sdk_version"]}),
        ("session-warning", {"session_id": 7, "reason": "sdk_version"}),
    ]
    assert rig.hub.of(Emit)[1].message == applied.refused[-1].reason


@pytest.mark.parametrize("version", ["3.5.3", "three", ""])
def test_no_other_version_is_warned_of(rig: Rig, version: str) -> None:
    rig.actor.configure(ConfigureSession((RequireSdk(version, "p"), DeclareProfile("", "p"))))

    assert "session-warning" not in [kind for kind, _ in rig.events]
