"""What SessionManager stores: closed sessions, and defaults of new ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.device.messages import Inventory
from actors.event.messages import HUB, Emit
from actors.kit.message import Announce
from actors.session import presets
from actors.session.messages import (
    NO_PROFILE,
    ConfigureDefaults,
    DeviceConfig,
    OpenSession,
    SessionConfig,
    SessionDescribed,
    SetBasis,
    SetDamping,
    SetForceGate,
    SetMount,
    SetPreset,
    SetScene,
)
from actors.session.profile import Remembered
from actors.session.scene import SCENES_ENABLED
from actors.session.scene_fields import checked_field
from actors.settings.messages import STORE, SaveLedger
from actors.values.identity import Firmware
from actors.values.spatial import Basis, PartialTransform, Transform
from tests.support.actors.doubles import inventory_of, settings_view
from tests.unit.session.manager_rig import CLIENT, SessionManagerRig

# ---------------------------------------------------------------- what is remembered


def test_declared_values_are_published_and_stored_at_once() -> None:
    rig = SessionManagerRig()
    handle = rig.open()

    rig.declare(handle, "mine", "3.5")

    assert rig.shown == [(handle.session_id, "mine")]
    assert rig.saved is not None
    assert rig.saved.sessions[handle.session_id] == Remembered("mine", "3.5")
    assert rig.saved.versions == {"mine": "3.5"}


def test_session_only_values_are_not_stored() -> None:
    rig = SessionManagerRig()
    handle = rig.open()
    rig.fire(1)
    saves = len(rig.store.of(SaveLedger))

    rig.manager.on_described(SessionDescribed(handle.session_id, rig.entry(handle).config.value))
    rig.fire(1)

    assert len(rig.store.of(SaveLedger)) == saves


def test_consecutive_changes_are_both_stored() -> None:
    rig = SessionManagerRig()
    handle = rig.open()
    entry = rig.entry(handle)
    first = replace(entry.config.value, profile="mine", required_sdk_version="3.5")
    second = replace(first, profile="default", required_sdk_version=None)

    entry.config.replace(first)
    rig.manager.on_described(SessionDescribed(handle.session_id, first))
    entry.config.replace(second)
    rig.manager.on_described(SessionDescribed(handle.session_id, second))

    assert rig.saved is not None
    assert rig.saved.sessions[handle.session_id] == Remembered()
    assert rig.saved.versions == {}


def test_late_profile_change_is_stored() -> None:
    rig = SessionManagerRig()
    handle = rig.open()
    entry = rig.entry(handle)
    before = entry.config.value
    after = replace(before, profile="mine")

    entry.config.replace(after)
    rig.manager.on_described(SessionDescribed(handle.session_id, before))
    rig.manager.on_described(SessionDescribed(handle.session_id, after))

    assert rig.saved is not None
    assert rig.saved.sessions[handle.session_id].profile == "mine"


def test_late_message_of_a_closed_session_changes_nothing() -> None:
    rig = SessionManagerRig()
    handle = rig.open()
    rig.close(handle)

    rig.manager.on_described(SessionDescribed(handle.session_id, SessionConfig("late")))

    assert rig.shown == []
    assert rig.open_sessions.memory.value.sessions[handle.session_id] == Remembered()


def test_deleted_profile_forgets_nothing_that_another_open_session_declared() -> None:
    rig = SessionManagerRig()
    older, newer, third = rig.open(), rig.open(), rig.open()
    rig.declare(older, "app", "3.4")
    rig.declare(third, "app", "3.5", from_profile=True)
    rig.declare(newer, "app", "3.5")

    rig.declare(newer, NO_PROFILE)

    assert rig.open_sessions.memory.value.versions == {"app": "3.4"}
    assert rig.open_sessions.memory.value.sessions[older.session_id] == Remembered("app", "3.4")


def test_deleted_profile_forgets_a_version_that_only_closed_sessions_declared() -> None:
    rig = SessionManagerRig()
    closed, other = rig.open(), rig.open()
    rig.declare(closed, "app", "3.5")
    rig.close(closed)
    rig.declare(other, "app", "3.5", from_profile=True)

    rig.declare(other, NO_PROFILE)

    assert rig.open_sessions.memory.value.versions == {}


@pytest.mark.parametrize("from_profile", [False, True])
def test_resumed_session_knows_whether_its_version_is_its_own(from_profile: bool) -> None:
    rig = SessionManagerRig()
    first = rig.open()
    rig.declare(first, "app", "3.5", from_profile=from_profile)
    rig.close(first)

    config = rig.open(str(first.session_id)).config

    assert config == SessionConfig("app", "3.5", sdk_from_profile=from_profile)


@pytest.mark.parametrize(("version", "warned"), [("9.1", True), ("3.5.3", False), (None, False)])
def test_resumed_session_with_a_too_new_version_is_warned(version: str | None, warned: bool) -> None:
    rig = SessionManagerRig()
    first = rig.open()
    rig.declare(first, "app", version)
    rig.close(first)
    rig.hub.told.clear()

    rig.open(str(first.session_id))

    warning = [("session-warning", first.session_id, "sdk_version")]
    assert rig.events == [("session-opened", first.session_id, "app"), *(warning if warned else [])]


def test_session_that_is_renamed_to_default_with_its_own_version_forgets_nothing() -> None:
    rig = SessionManagerRig()
    handle = rig.open()
    rig.declare(handle, "app", "3.5")

    rig.declare(handle, NO_PROFILE, "3.5")

    assert rig.open_sessions.memory.value.versions == {"app": "3.5"}


def test_several_closes_are_stored_together_later() -> None:
    rig = SessionManagerRig()
    handles = [rig.open() for _ in range(20)]
    rig.fire(1)
    saves = len(rig.store.of(SaveLedger))

    for handle in handles:
        rig.close(handle)
    assert len(rig.store.of(SaveLedger)) == saves

    rig.fire(1)
    assert len(rig.store.of(SaveLedger)) == saves + 1
    assert rig.saved is not None
    assert set(rig.saved.sessions) == {handle.session_id for handle in handles}


def test_stopping_manager_stores_and_stops_its_sessions() -> None:
    rig = SessionManagerRig()
    rig.open()
    rig.open()

    rig.manager.stopped()

    assert rig.children.stopped == ["session/2", "session/1"]
    assert rig.saved is not None
    assert set(rig.saved.sessions) == {1, 2}


def test_restarted_store_alone_is_sent_the_memory() -> None:
    rig = SessionManagerRig()
    rig.declare(rig.open(), "mine")
    rig.store.told.clear()

    rig.manager.on_announce(Announce(HUB))
    assert rig.store.told == []

    rig.manager.on_announce(Announce(STORE))
    assert rig.saved is not None
    assert rig.saved.sessions[1].profile == "mine"


# ---------------------------------------------------------------- what new sessions start with

DEVICES = inventory_of("arm", "compact")
ARM, COMPACT = (record.device_id for record in DEVICES.devices)
XZY = Basis.parse("XZ-Y")


@pytest.fixture
def ready() -> SessionManagerRig:
    """A manager that knows an arm and a compact."""
    rig = SessionManagerRig()
    rig.inventory.replace(DEVICES)
    return rig


def test_new_sessions_start_with_the_defaults_and_open_ones_keep_what_they_have(ready: SessionManagerRig) -> None:
    old = ready.open()
    changes = (SetBasis(None, XZY), SetMount(ARM, PartialTransform((1, 2, 3))), SetForceGate(COMPACT, 0.5))

    applied = ready.manager.configure_defaults(ConfigureDefaults(changes))

    assert (applied.scopes, applied.refused) == (
        ("basis", "config.basis", "config.mount", "config.preset", "config.force_gate"),
        (),
    )
    assert ready.open().config == applied.config
    assert applied.config.device(ARM) == DeviceConfig(preset="custom", mount=Transform((1, 2, 3)))
    assert ready.entry(old).config.value == SessionConfig()
    assert ready.table.value.defaults == applied.config


def test_defaults_survive_restarts_of_manager_and_service(ready: SessionManagerRig) -> None:
    applied = ready.manager.configure_defaults(ConfigureDefaults((SetBasis(ARM, XZY), SetDamping(ARM, 2))))
    assert ready.kept == applied.config

    manager, _ = ready.again()
    manager.started()
    assert ready.table.value.defaults == applied.config
    assert manager.open_session(OpenSession(CLIENT, lambda: None)).config == applied.config


def test_resumed_profile_applies_over_the_defaults(ready: SessionManagerRig) -> None:
    first = ready.open()
    ready.declare(first, "mine", "3.5")
    ready.close(first)
    ready.manager.configure_defaults(ConfigureDefaults((SetBasis(None, XZY),)))

    assert ready.open(str(first.session_id)).config == SessionConfig("mine", "3.5", basis=XZY)


def test_sessions_start_with_a_scene_only_while_scenes_are_on(ready: SessionManagerRig) -> None:
    air = checked_field("damper", {"damping": 2.0})
    ready.manager.configure_defaults(ConfigureDefaults((SetScene(ARM, (("air", air),)), SetPreset(ARM, "arm_front"))))
    assert ready.open().config.device(ARM) == DeviceConfig(preset="arm_front")

    ready.settings.replace(settings_view({SCENES_ENABLED: True}))
    assert ready.open().config.device(ARM) == DeviceConfig(preset="arm_front", scene={"air": air})


def test_null_default_restores_the_shipped_value(ready: SessionManagerRig) -> None:
    ready.manager.configure_defaults(ConfigureDefaults((SetBasis(None, XZY), SetPreset(ARM, "arm_front"))))

    ready.manager.configure_defaults(ConfigureDefaults((SetBasis(None, None), SetPreset(ARM, None))))

    start = ready.open().config
    assert (start.basis, start.device(ARM)) == (Basis(), DeviceConfig())
    assert ready.kept == start


def test_unchanged_defaults_are_not_stored_again(ready: SessionManagerRig) -> None:
    ready.manager.configure_defaults(ConfigureDefaults((SetPreset(ARM, "arm_front"),)))
    ready.store.told.clear()

    applied = ready.manager.configure_defaults(
        ConfigureDefaults((SetPreset(ARM, "arm_front"), SetPreset(ARM, "nonsense", "p")))
    )

    assert [refused.path for refused in applied.refused] == ["p"]
    assert ready.store.told == []


def test_default_unsupported_by_the_firmware_raises_an_event(ready: SessionManagerRig) -> None:
    old = tuple(replace(one, identity=replace(one.identity, firmware=Firmware(7, 4))) for one in DEVICES.devices)
    ready.inventory.replace(Inventory(old))

    applied = ready.manager.configure_defaults(ConfigureDefaults((SetDamping(ARM, 1),)))

    assert [(emit.kind, emit.data["device_id"]) for emit in ready.hub.of(Emit)] == [
        ("device-protocol-unsupported", ARM)
    ]
    assert (len(applied.refused), ready.kept) == (1, None)


def test_resumed_freeform_profile_gets_its_preset(ready: SessionManagerRig) -> None:
    first = ready.open()
    ready.declare(first, "My Freeform")
    ready.close(first)

    config = ready.open(str(first.session_id)).config

    assert presets.preset_of(config, DEVICES.get(COMPACT)) == "compact_zup"
    assert presets.preset_of(ready.open().config, DEVICES.get(COMPACT)) == "defaults"


def test_default_preset_precedes_the_profile_s(ready: SessionManagerRig) -> None:
    ready.manager.configure_defaults(ConfigureDefaults((SetPreset(COMPACT, "defaults"),)))
    first = ready.open()
    ready.declare(first, "freeform")
    ready.close(first)

    config = ready.open(str(first.session_id)).config

    assert presets.preset_of(config, DEVICES.get(COMPACT)) == "defaults"
