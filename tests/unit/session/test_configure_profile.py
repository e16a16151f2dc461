"""Effect of a session's profile and SDK version on its configuration; refusals, scopes, invariants."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.device.messages import DeviceRecord, Inventory
from actors.kit.errors import InvalidInput, NoSuchDevice
from actors.session import presets
from actors.session.configure import ValidationContext, scopes
from actors.session.messages import (
    Applied,
    Change,
    ClearDamping,
    ClearProfile,
    DeclareProfile,
    DeviceConfig,
    Refused,
    RequireSdk,
    SessionConfig,
    SetBasis,
    SetDamping,
    SetForceGate,
    SetMount,
    SetPreset,
    SetWorkspace,
)
from actors.values.spatial import Basis, PartialTransform, Transform
from tests.unit.session.configuration_samples import (
    ARM,
    BASES,
    COMPACT,
    GRIP,
    INVENTORY,
    MEMORY,
    NEW,
    NO_VERSION,
    PEN,
    STARTS,
    XZY,
    centred,
    made,
    mount_of,
    preset_of,
    told,
)

# ---------------------------------------------------------------- freeform profiles

FREEFORM = ("*freeform*", "clay?")


@pytest.mark.parametrize("profile", ["freeform", "My FreeForm 3", "clay1"])
def test_compacts_of_a_freeform_profile_get_its_preset(profile: str) -> None:
    applied = made(DeclareProfile(profile), freeform=FREEFORM)

    assert (preset_of(applied.config, COMPACT), preset_of(applied.config, ARM)) == ("compact_zup", "defaults")
    assert mount_of(applied.config, COMPACT) == centred(COMPACT, "compact_zup", Basis())
    assert applied.scopes == ("profile", "config.mount", "config.preset")


@pytest.mark.parametrize("profile", ["form", "clay", "clay12", "default"])
def test_another_profile_is_not_freeform(profile: str) -> None:
    assert preset_of(made(DeclareProfile(profile), freeform=FREEFORM).config, COMPACT) == "defaults"


def test_cleared_profile_removes_its_preset() -> None:
    before = made(DeclareProfile("freeform"), freeform=FREEFORM).config

    applied = made(ClearProfile(), config=before, freeform=FREEFORM)

    assert preset_of(applied.config, COMPACT) == "defaults"
    assert applied.scopes == ("profile", "config.mount", "config.preset")


@pytest.mark.parametrize(
    ("change", "preset"),
    [
        (SetPreset(COMPACT, "defaults"), "defaults"),
        (SetPreset(COMPACT, "compact_centered"), "compact_centered"),
        (SetMount(COMPACT, PartialTransform(scale=(1, 1, 1))), "custom"),
    ],
)
def test_preset_or_mount_set_by_the_client_survives_a_profile_change(change: Change, preset: str) -> None:
    for asked in itertools.permutations((change, DeclareProfile("freeform"))):
        config = NEW
        for one in asked:
            config = made(one, config=config, freeform=FREEFORM).config

        assert preset_of(config, COMPACT) == preset


def test_default_preset_precedes_the_profile_s() -> None:
    config = made(DeclareProfile("freeform"), config=STARTS, start=STARTS, freeform=FREEFORM).config

    assert preset_of(config, COMPACT) == "compact_centered"


# ---------------------------------------------------------------- profile and version


def test_a_profile_is_declared() -> None:
    applied = made(DeclareProfile("mine"))

    assert (applied.config.profile, applied.config.required_sdk_version) == ("mine", None)
    assert applied.scopes == ("profile",)


def test_known_profile_restores_its_version() -> None:
    applied = made(DeclareProfile("known"))

    assert applied.config.required_sdk_version == "3.4"
    assert applied.scopes == ("profile", "required_sdk_version")


@pytest.mark.parametrize("order", [*itertools.permutations((DeclareProfile("known"), RequireSdk("3.5")))])
def test_declared_version_wins_over_the_profiles_remembered_one_in_any_order(order: tuple[Change, ...]) -> None:
    config = NEW
    for change in order:
        config = made(change, config=config).config

    assert (config.profile, config.required_sdk_version) == ("known", "3.5")
    assert made(DeclareProfile("known"), config=config).config == config


def test_version_of_a_profile_is_dropped_with_it() -> None:
    before = made(DeclareProfile("known")).config

    applied = made(DeclareProfile("mine"), config=before)

    assert (applied.config.profile, applied.config.required_sdk_version) == ("mine", None)
    assert applied.scopes == ("profile", "required_sdk_version")


def test_version_from_a_profile_becomes_the_sessions_own_when_it_is_declared() -> None:
    before = made(DeclareProfile("known")).config

    applied = made(RequireSdk("3.4"), DeclareProfile("mine"), config=before)

    assert applied.config.required_sdk_version == "3.4"
    assert applied.scopes == ("profile",)


def test_profile_without_a_stored_version_keeps_the_session_s() -> None:
    before = made(RequireSdk("3.5")).config

    assert made(DeclareProfile("mine"), config=before).config.required_sdk_version == "3.5"


def test_a_cleared_profile_is_default_without_a_version() -> None:
    before = made(DeclareProfile("known")).config

    applied = made(ClearProfile(), config=before)

    assert applied.config == NEW
    assert applied.scopes == ("profile", "required_sdk_version")


@pytest.mark.parametrize("version", ["3.5.3", "3.5", "3", "3.5.3.0", "0", "2.99", "3.4.19"])
def test_supported_version_is_accepted(version: str) -> None:
    applied = made(RequireSdk(version))

    assert applied.config.required_sdk_version == version
    assert (applied.scopes, applied.refused) == (("required_sdk_version",), ())


@pytest.mark.parametrize("version", ["3.5.4", "3.10", "3.6", "4", "3.5.3.1", "99999999999999999999"])
def test_too_new_version_is_named_and_stored(version: str) -> None:
    applied = made(RequireSdk(version, "p"))

    assert applied.config.required_sdk_version == version
    assert applied.scopes == ("required_sdk_version",)
    assert [refused.path for refused in applied.refused] == ["p"]
    assert version in applied.refused[0].reason
    assert "3.5.3" in applied.refused[0].reason


@pytest.mark.parametrize("version", ["", "three", "3.x", "3..5", "-1", "1" * 40])
def test_invalid_version_is_refused(version: str) -> None:
    applied = made(RequireSdk(version, "p"))

    assert (applied.config, applied.scopes) == (NEW, ())
    assert applied.refused == (Refused(RequireSdk(version, "p"), NO_VERSION, applied.refused[0].error),)
    assert isinstance(applied.refused[0].error, InvalidInput)


# ---------------------------------------------------------------- refusal


@pytest.mark.parametrize(
    "change",
    [
        DeclareProfile("", "p"),
        DeclareProfile("a\n", "p"),
        DeclareProfile("x" * 101, "p"),
        SetBasis("nobody", XZY, "p"),
        SetMount("nobody", PartialTransform((1, 2, 3)), "p"),
        SetMount(GRIP, PartialTransform((1, 2, 3)), "p"),
        SetMount(PEN, PartialTransform((1, 2, 3)), "p"),
        SetPreset("nobody", "arm_front", "p"),
        SetPreset(GRIP, "arm_front", "p"),
        SetPreset(ARM, "compact_zup", "p"),
        SetPreset(ARM, "compact_centered", "p"),
        SetPreset(ARM, "nonsense", "p"),
        SetPreset(ARM, "", "p"),
        SetPreset(COMPACT, "Defaults", "p"),
        SetPreset(GRIP, None, "p"),
        SetBasis("nobody", None, "p"),
        SetDamping("nobody", 1, path="p"),
        SetDamping(GRIP, 1, path="p"),
        SetDamping(ARM, -0.001, path="p"),
        SetDamping(ARM, 20.001, path="p"),
        SetDamping(ARM, None, (0, 20.001, 0), "p"),
        SetDamping(ARM, None, (0, 0, -1), "p"),
        ClearDamping("nobody", "p"),
        ClearDamping(GRIP, "p"),
        SetWorkspace("nobody", PartialTransform((1, 2, 3)), "p"),
        SetWorkspace(PEN, PartialTransform((1, 2, 3)), "p"),
        SetForceGate("nobody", 0.5, "p"),
        SetForceGate(PEN, 0.5, "p"),
        SetForceGate(ARM, -0.001, "p"),
        SetForceGate(ARM, 1.001, "p"),
    ],
)
def test_invalid_change_is_refused_by_path_and_the_rest_applied(change: Change) -> None:
    applied = made(SetBasis(None, XZY), change, SetPreset(ARM, "led_front"))

    assert [refused.path for refused in applied.refused] == ["p"]
    assert applied.refused[0].reason
    assert applied.config == made(SetBasis(None, XZY), SetPreset(ARM, "led_front")).config
    assert applied.scopes == ("basis", "config.basis", "config.preset")


def test_refusal_names_the_kinds_that_have_the_area() -> None:
    assert made(SetMount(GRIP, PartialTransform())).refused[0].reason == (
        "a grip has no mount: send it to an arm or a compact"
    )
    assert made(SetPreset(PEN, "defaults")).refused[0].reason == ("a pen has no preset: send it to an arm or a compact")
    assert made(SetDamping(PEN, 1)).refused[0].reason == ("a pen has no damping: send it to an arm or a compact")
    assert made(SetForceGate(GRIP, 1)).refused[0].reason == ("a grip has no force_gate: send it to an arm or a compact")


def test_refusal_error_has_path_and_reason() -> None:
    kinds = [NoSuchDevice, InvalidInput]

    applied = made(SetBasis("nobody", XZY), SetPreset(ARM, "x"))

    assert [type(refused.error) for refused in applied.refused] == kinds


def test_every_refusal_is_returned() -> None:
    applied = made(SetPreset(ARM, "a", "1"), RequireSdk("4", "2"), SetBasis("nobody", XZY, "3"))

    assert [refused.path for refused in applied.refused] == ["1", "2", "3"]


def test_empty_request_changes_nothing() -> None:
    assert made() == Applied(NEW, (), ())


# ---------------------------------------------------------------- scopes


@pytest.mark.parametrize(
    "change",
    [
        SetBasis(None, Basis()),
        SetPreset(ARM, "defaults"),
        ClearProfile(),
        DeclareProfile("default"),
    ],
)
def test_present_value_is_no_change(change: Change) -> None:
    assert made(change).scopes == ()


def test_change_undone_in_one_request_is_none() -> None:
    assert made(SetBasis(None, XZY), SetBasis(None, Basis())).scopes == ()
    assert made(SetPreset(ARM, "arm_front_centered"), SetPreset(ARM, "defaults")).scopes == ()


def test_every_scope_has_its_name_once_in_a_fixed_order() -> None:
    applied = made(
        SetForceGate(ARM, 1),
        SetDamping(ARM, 1),
        SetPreset(COMPACT, "compact_zup"),
        SetPreset(ARM, "arm_front_centered"),
        SetBasis(ARM, XZY),
        SetBasis(COMPACT, XZY),
        RequireSdk("3"),
        SetBasis(None, XZY),
        DeclareProfile("mine"),
    )

    assert applied.scopes == (
        "profile",
        "basis",
        "required_sdk_version",
        "config.basis",
        "config.mount",
        "config.preset",
        "config.damping",
        "config.force_gate",
    )


# ---------------------------------------------------------------- laws

device_ids = st.sampled_from([ARM, COMPACT, GRIP, "nobody"])
partials = st.builds(
    PartialTransform,
    st.none() | st.sampled_from([(0.0, 0.0, 0.0), (1.0, 2.0, 3.0)]),
    st.none() | st.sampled_from([(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)]),
    st.none() | st.sampled_from([(1.0, 1.0, 1.0), (2.0, 2.0, 2.0)]),
)
dampings = st.sampled_from([0.0, 0.5, 20.0, -1.0, 20.5])
changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(DeclareProfile, st.sampled_from(["default", "known", "mine", ""])),
    st.builds(ClearProfile),
    st.builds(RequireSdk, st.sampled_from(["3.5", "3.5.0", "4", "x"])),
    st.builds(SetBasis, st.none() | device_ids, st.none() | st.sampled_from(BASES)),
    st.builds(SetMount, device_ids, partials),
    st.builds(
        SetPreset, device_ids, st.none() | st.sampled_from([*presets.preset_names(INVENTORY.get(COMPACT).kind), "x"])
    ),
    st.builds(SetDamping, device_ids, st.none() | dampings, st.none() | st.tuples(dampings, dampings, dampings)),
    st.builds(SetForceGate, device_ids, st.none() | st.sampled_from([0.0, 0.5, 1.0, 1.5])),
)
many = st.lists(changes, max_size=8)


@given(many)
def test_combined_changes_equal_single_ones(asked: list[Change]) -> None:
    together = made(*asked)

    config, refused = NEW, 0
    for change in asked:
        one = made(change, config=config)
        config, refused = one.config, refused + len(one.refused)

    assert together.config == config
    assert len(together.refused) == refused
    assert together.scopes == scopes(NEW, config, ValidationContext(INVENTORY, MEMORY))


@given(many, changes)
def test_repeated_request_changes_nothing(asked: list[Change], change: Change) -> None:
    once = made(change, config=made(*asked).config)
    twice = made(change, config=once.config)

    assert twice.config == once.config
    assert twice.scopes == ()
    assert told(twice) == told(once)


@given(many)
def test_a_built_in_preset_always_has_its_own_mount(asked: list[Change]) -> None:
    config = made(*asked).config

    for device_id in (ARM, COMPACT):
        preset = preset_of(config, device_id)
        if preset != "custom":
            assert mount_of(config, device_id) == centred(device_id, preset, config.basis_of(device_id))


@given(many)
def test_scopes_are_empty_exactly_when_nothing_changed(asked: list[Change]) -> None:
    applied = made(*asked)

    def values(config: SessionConfig) -> object:
        devices = [
            (
                config.basis_of(device_id),
                device.damping,
                device.force_gate,
                preset_of(config, device_id),
                mount_of(config, device_id),
            )
            for device_id in (ARM, COMPACT, GRIP)
            for device in [config.device(device_id)]
        ]
        return config.profile, config.required_sdk_version, devices

    assert (applied.scopes == ()) == (values(applied.config) == values(NEW))


@given(many, many)
def test_other_sessions_configuration_is_unchanged(asked: list[Change], others: list[Change]) -> None:
    mine = made(*asked)

    made(*others, config=mine.config)

    again = made(*asked)
    assert (mine.config, mine.scopes, told(mine)) == (again.config, again.scopes, told(again))


@given(st.lists(st.builds(SetBasis, st.none() | st.just(ARM), st.sampled_from(BASES)), max_size=5))
def test_devices_without_motors_are_never_mounted(asked: list[Change]) -> None:
    config = made(*asked, SetBasis(GRIP, XZY)).config

    assert config.device(GRIP) == DeviceConfig(basis=XZY)


def test_record_without_a_reach_is_unchanged() -> None:
    def bare(record: DeviceRecord) -> DeviceRecord:
        return replace(record, identity=replace(record.identity, reach=None))

    inventory = Inventory(tuple(bare(record) for record in INVENTORY.devices))

    config = made(SetPreset(ARM, "arm_front_centered"), inventory=inventory).config
    assert presets.mount_of(config, inventory.get(ARM)) == Transform()
