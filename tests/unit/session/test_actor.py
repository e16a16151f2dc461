"""SessionActor as a plain object: configuration, answers, notifications."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from actors.device.messages import Inventory
from actors.event.messages import Emit
from actors.kit.published import Published
from actors.session import presets
from actors.session.actor import SessionActor, actor_name
from actors.session.messages import (
    MANAGER,
    Change,
    ConfigurationChanged,
    ConfigureSession,
    DeclareProfile,
    DeviceConfig,
    RequireSdk,
    SessionConfig,
    SessionDescribed,
    SetBasis,
    SetDamping,
    SetForceGate,
    SetMount,
    SetPreset,
    SetScene,
)
from actors.session.open_sessions import OpenSessions, SessionEntry
from actors.session.profile import Remembered, SessionMemory
from actors.session.scene import SCENES_ENABLED
from actors.session.scene_fields import checked_field
from actors.settings.messages import SettingChanged
from actors.values.identity import Firmware
from actors.values.spatial import Basis, PartialTransform, Transform
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, inventory_of, settings_view
from tests.unit.session.table_samples import entry_of

INVENTORY = inventory_of("arm", "compact", "grip")
ARM, COMPACT, GRIP = (record.device_id for record in INVENTORY.devices)
XZY = Basis.parse("XZ-Y")


class SessionActorRig(ActorRig):
    """One session's actor without a thread, and those whom it tells."""

    def __init__(self) -> None:
        super().__init__({"presets/freeform_profiles": ["*freeform*"]}, inventory=INVENTORY)
        self.manager = FakeActor(self.context, MANAGER)
        self.open_sessions = OpenSessions(Published(SessionMemory()))
        self.entry: SessionEntry = entry_of(7)
        self.actor = self.again()

    def again(self) -> SessionActor:
        """Another actor on the same entry, as after a crash."""
        return SessionActor(self.context, self.entry, self.inventory, self.open_sessions, self.settings)

    @property
    def config(self) -> SessionConfig:
        return self.entry.config.value

    @property
    def events(self) -> list[tuple[str, dict[str, object]]]:
        return [(emit.kind, dict(emit.data)) for emit in self.emitted]


@pytest.fixture
def rig() -> SessionActorRig:
    return SessionActorRig()


def test_actor_name_has_the_session_id(rig: SessionActorRig) -> None:
    assert rig.actor.name == actor_name(7) == "session/7"


def test_configuration_is_stored_answered_and_sent(rig: SessionActorRig) -> None:
    applied = rig.actor.configure(ConfigureSession((SetBasis(ARM, XZY), SetPreset(ARM, "arm_front"))))

    assert rig.config == applied.config
    assert rig.config.basis_of(ARM) == XZY
    assert rig.manager.of(SessionDescribed) == [SessionDescribed(7, applied.config)]
    assert rig.events == [("session-updated", {"session_id": 7, "scopes": ["config.basis", "config.preset"]})]
    assert rig.hub.of(Emit)[0].message == "session 7 changed config.basis, config.preset"


def test_changes_apply_on_top_of_the_configuration(rig: SessionActorRig) -> None:
    rig.actor.configure(ConfigureSession((SetMount(ARM, PartialTransform((1, 2, 3))),)))
    rig.actor.configure(ConfigureSession((SetMount(ARM, PartialTransform(scale=(2, 2, 2))),)))

    mount = rig.config.device(ARM).mount
    assert (mount.position, mount.scale) == ((1, 2, 3), (2, 2, 2))


@pytest.mark.parametrize("changes", [(), (SetBasis(None, Basis()),), (SetDamping(ARM, 0),), (SetForceGate(ARM, None),)])
def test_no_change_sends_nothing(rig: SessionActorRig, changes: tuple[Change, ...]) -> None:
    before = rig.entry.config.version

    applied = rig.actor.configure(ConfigureSession(changes))

    assert (applied.scopes, applied.refused) == ((), ())
    assert (rig.manager.told, rig.hub.told, rig.entry.config.version) == ([], [], before)


@pytest.mark.parametrize(
    "change",
    [SetBasis(ARM, Basis()), SetForceGate(ARM, 0.3), SetPreset(ARM, "defaults"), SetMount(ARM, PartialTransform())],
)
def test_config_sent_back_as_shown_is_no_update(rig: SessionActorRig, change: Change) -> None:
    if isinstance(change, SetMount):
        rig.actor.configure(ConfigureSession((SetPreset(ARM, "custom"),)))
        rig.hub.told.clear()

    assert rig.actor.configure(ConfigureSession((change,))).scopes == ()
    assert rig.events == []


def test_refusal_is_answered_without_an_event(rig: SessionActorRig) -> None:
    applied = rig.actor.configure(ConfigureSession((SetPreset(GRIP, "defaults", "p"),)))

    assert [refused.path for refused in applied.refused] == ["p"]
    assert (rig.manager.told, rig.hub.told) == ([], [])


def test_restarted_actor_keeps_its_configuration(rig: SessionActorRig) -> None:
    rig.actor.configure(ConfigureSession((SetBasis(ARM, XZY),)))

    applied = rig.again().configure(ConfigureSession((SetPreset(ARM, "arm_front_centered"),)))

    assert applied.config.basis_of(ARM) == XZY
    assert applied.scopes == ("config.mount", "config.preset")


def test_a_remembered_version_comes_back_with_its_profile(rig: SessionActorRig) -> None:
    rig.open_sessions.memory.replace(SessionMemory().with_session(3, Remembered("mine", "3.4"), Remembered()))

    rig.actor.configure(ConfigureSession((DeclareProfile("mine"),)))

    assert (rig.config.profile, rig.config.required_sdk_version) == ("mine", "3.4")


@pytest.mark.parametrize("path", ["", "session.configure.required_sdk_version"])
def test_too_new_version_is_warned_of_and_stored(rig: SessionActorRig, path: str) -> None:
    changes = (DeclareProfile("", path), RequireSdk("9.1", path))

    applied = rig.actor.configure(ConfigureSession(changes))

    assert rig.config.required_sdk_version == "9.1"
    assert rig.events == [
        ("session-updated", {"session_id": 7, "scopes": ["required_sdk_version"]}),
        ("session-warning", {"session_id": 7, "reason": "sdk_version"}),
    ]
    assert rig.hub.of(Emit)[1].message == applied.refused[-1].reason


def test_version_from_a_profile_that_is_too_new_is_warned_of(rig: SessionActorRig) -> None:
    rig.open_sessions.memory.replace(SessionMemory().with_session(3, Remembered("mine", "9.1"), Remembered()))

    applied = rig.actor.configure(ConfigureSession((DeclareProfile("mine"),)))
    rig.actor.configure(ConfigureSession((DeclareProfile("mine"),)))

    assert applied.refused == ()
    assert rig.events == [
        ("session-updated", {"session_id": 7, "scopes": ["profile", "required_sdk_version"]}),
        ("session-warning", {"session_id": 7, "reason": "sdk_version"}),
    ]


@pytest.mark.parametrize("version", ["3.5.3", "three", ""])
def test_supported_version_is_not_warned_of(rig: SessionActorRig, version: str) -> None:
    rig.actor.configure(ConfigureSession((RequireSdk(version, "p"), DeclareProfile("", "p"))))

    assert "session-warning" not in [kind for kind, _ in rig.events]


def test_repeated_preset_counts_as_set_by_the_client_without_an_event(rig: SessionActorRig) -> None:
    rig.actor.configure(ConfigureSession((SetPreset(COMPACT, "defaults"),)))
    assert (rig.events, rig.manager.of(SessionDescribed)) == ([], [SessionDescribed(7, rig.config)])

    rig.actor.configure(ConfigureSession((DeclareProfile("freeform"),)))

    assert rig.events == [("session-updated", {"session_id": 7, "scopes": ["profile"]})]
    assert presets.preset_of(rig.config, INVENTORY.get(COMPACT)) == "defaults"


def test_freeform_profiles_follow_the_setting(rig: SessionActorRig) -> None:
    rig.settings.replace(settings_view({"presets/freeform_profiles": ["clay*"]}))

    rig.actor.configure(ConfigureSession((DeclareProfile("freeform"),)))
    assert presets.preset_of(rig.config, INVENTORY.get(COMPACT)) == "defaults"

    rig.actor.configure(ConfigureSession((DeclareProfile("Clay 1"),)))
    assert presets.preset_of(rig.config, INVENTORY.get(COMPACT)) == "compact_zup"
    assert rig.events[-1][1]["scopes"] == ["profile", "config.mount", "config.preset"]


def test_setting_that_makes_a_session_freeform_applies_at_once(rig: SessionActorRig) -> None:
    rig.actor.configure(ConfigureSession((DeclareProfile("clay 1"),)))
    rig.settings.replace(settings_view({"presets/freeform_profiles": ["clay*"]}))

    rig.actor.on_setting(SettingChanged("presets/freeform_profiles", ("clay*",)))

    assert presets.preset_of(rig.config, INVENTORY.get(COMPACT)) == "compact_zup"
    assert rig.events[-1] == ("session-updated", {"session_id": 7, "scopes": ["config.mount", "config.preset"]})
    assert rig.manager.of(SessionDescribed)[-1] == SessionDescribed(7, rig.config)


def test_setting_without_effect_changes_nothing(rig: SessionActorRig) -> None:
    rig.settings.replace(settings_view({"presets/freeform_profiles": ["clay*"]}))

    rig.actor.on_setting(SettingChanged("presets/freeform_profiles", ("clay*",)))
    rig.actor.on_setting(SettingChanged("control/frequency", 1000))

    assert (rig.events, rig.manager.told) == ([], [])


def test_scenes_are_dropped_when_they_are_switched_off(rig: SessionActorRig) -> None:
    wind = checked_field("constant", {"force": (0.0, 0.0, 1.0)})
    rig.actor.configure(ConfigureSession((SetScene(ARM, (("wind", wind),)), SetForceGate(ARM, 0.5))))
    told = len(rig.manager.told)

    rig.actor.on_setting(SettingChanged(SCENES_ENABLED, True))
    assert rig.config.device(ARM).scene == {"wind": wind}
    rig.actor.on_setting(SettingChanged(SCENES_ENABLED, False))
    rig.actor.on_setting(SettingChanged(SCENES_ENABLED, False))

    assert rig.config.device(ARM) == DeviceConfig(force_gate=0.5)
    assert rig.events[1:] == [("session-updated", {"session_id": 7, "scopes": ["config.scene"]})]
    assert rig.manager.told[told:] == [SessionDescribed(7, rig.config)]


def test_too_old_firmware_raises_an_event(rig: SessionActorRig) -> None:
    old = tuple(
        replace(record, identity=replace(record.identity, firmware=Firmware(7, 4))) for record in INVENTORY.devices
    )
    rig.inventory.replace(Inventory(old))

    applied = rig.actor.configure(ConfigureSession((SetDamping(ARM, 1, path="p"), SetForceGate(ARM, 0.5))))

    assert [refused.path for refused in applied.refused] == ["p"]
    about = {"device_id": ARM, "device_family": "arm", "feature": "damping", "firmware": "7.4", "required": "7.5"}
    assert rig.events == [
        ("session-updated", {"session_id": 7, "scopes": ["config.force_gate"]}),
        ("device-protocol-unsupported", about),
    ]
    assert rig.hub.of(Emit)[1].message == applied.refused[0].reason


def test_damping_out_of_range_raises_no_firmware_event(rig: SessionActorRig) -> None:
    applied = rig.actor.configure(ConfigureSession((SetDamping(ARM, 21), SetDamping(GRIP, 1))))

    assert len(applied.refused) == 2
    assert rig.events == []


def test_null_restores_the_value_of_new_sessions(rig: SessionActorRig) -> None:
    start = DeviceConfig(basis=XZY, preset="custom", mount=Transform((1, 2, 3)))
    rig.open_sessions.defaults.replace(SessionConfig(basis=XZY, devices=MappingProxyType({ARM: start})))

    rig.actor.configure(ConfigureSession((SetBasis(None, None), SetBasis(ARM, None), SetPreset(ARM, None))))

    assert rig.config.basis == XZY
    assert rig.config.device(ARM) == start


def test_change_by_the_edge_is_sent_and_not_stored(rig: SessionActorRig) -> None:
    before = rig.entry.config.version

    rig.actor.on_changed(ConfigurationChanged(("config.transform",), (ARM,)))

    assert rig.events == [("session-updated", {"session_id": 7, "scopes": ["config.transform"]})]
    assert (rig.manager.told, rig.entry.config.version) == ([], before)
