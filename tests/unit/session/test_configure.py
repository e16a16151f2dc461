"""What changes make of a session's configuration: order, refusal one by one, scopes of what really changed, presets and their mounts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.device.messages import DeviceRecord, Inventory
from actors.session import presets
from actors.session.configure import Surroundings, apply, scopes
from actors.session.messages import (
    Applied,
    Change,
    ClearProfile,
    DeclareProfile,
    DeviceConfig,
    Refused,
    RequireSdk,
    SessionConfig,
    SetBasis,
    SetMount,
    SetPreset,
)
from actors.session.profile import SessionMemory
from actors.values.spatial import Basis, PartialTransform, Transform
from tests.support.slices import inventory_of

INVENTORY = inventory_of("arm", "compact", "grip", "pen")
ARM, COMPACT, GRIP, PEN = (record.device_id for record in INVENTORY.devices)
NEW = SessionConfig()
MEMORY = SessionMemory(versions=MappingProxyType({"known": "3.4"}))
XZY, YZX = Basis.parse("XZ-Y"), Basis.parse("YZX")
BASES = [
    Basis.parse("".join(sign + axis for sign, axis in zip(signs, axes, strict=True)))
    for axes in itertools.permutations("XYZ")
    for signs in itertools.product(("", "-"), repeat=3)
]


def made(*changes: Change, config: SessionConfig = NEW, inventory: Inventory = INVENTORY) -> Applied:
    return apply(config, changes, Surroundings(inventory, MEMORY))


def centred(device_id: str, preset: str, basis: Basis) -> Transform:
    reach = INVENTORY.get(device_id).identity.reach
    assert reach is not None
    return presets.mount(preset, reach, basis)


# ---------------------------------------------------------------- basis


def test_a_sessions_basis_holds_for_every_device() -> None:
    applied = made(SetBasis(None, XZY))

    assert applied.scopes == ("basis",)
    assert [applied.config.basis_of(device_id) for device_id in (ARM, COMPACT, GRIP)] == [XZY] * 3


def test_a_devices_own_basis_replaces_the_sessions_there() -> None:
    for changes in itertools.permutations((SetBasis(None, XZY), SetBasis(ARM, YZX))):
        applied = made(*changes)

        assert applied.scopes == ("basis", "config.basis")
        assert applied.config.basis_of(ARM) == YZX
        assert applied.config.basis_of(COMPACT) == XZY


def test_a_grip_has_a_basis() -> None:
    assert made(SetBasis(GRIP, XZY)).config.basis_of(GRIP) == XZY


# ---------------------------------------------------------------- mount and preset


def test_a_mount_makes_the_preset_custom() -> None:
    applied = made(SetMount(ARM, PartialTransform((1, 2, 3))))

    assert applied.config.device(ARM) == DeviceConfig(None, "custom", Transform((1, 2, 3)))
    assert applied.scopes == ("config.mount", "config.preset")


def test_an_empty_mount_makes_the_preset_custom_and_keeps_where_it_was() -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config

    applied = made(SetMount(ARM, PartialTransform()), config=before)

    assert applied.config.device(ARM).mount == before.device(ARM).mount
    assert applied.scopes == ("config.preset",)


def test_a_mount_is_partial_over_what_the_preset_made() -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config

    applied = made(SetMount(ARM, PartialTransform(scale=(2, 2, 2))), config=before)

    assert applied.config.device(ARM).mount == replace(before.device(ARM).mount, scale=(2, 2, 2))


def test_mounts_add_up_part_by_part() -> None:
    applied = made(SetMount(ARM, PartialTransform((1, 2, 3))), SetMount(ARM, PartialTransform(scale=(2, 2, 2))))

    assert applied.config.device(ARM).mount == Transform((1, 2, 3), scale=(2, 2, 2))


@pytest.mark.parametrize("preset", ["arm_front_centered", "led_front_centered"])
@pytest.mark.parametrize("device_id", [ARM, COMPACT])
def test_a_centred_preset_mounts_its_origin_at_zero(preset: str, device_id: str) -> None:
    applied = made(SetPreset(device_id, preset))

    assert applied.config.device(device_id).mount == centred(device_id, preset, Basis())
    assert applied.scopes == ("config.mount", "config.preset")


def test_an_identity_preset_changes_its_name_alone() -> None:
    assert made(SetPreset(ARM, "arm_front")).scopes == ("config.preset",)


def test_a_built_in_preset_leaves_custom_and_its_mount() -> None:
    before = made(SetMount(ARM, PartialTransform((1, 2, 3), (0, 1, 0, 0), (2, 2, 2)))).config

    applied = made(SetPreset(ARM, "defaults"), config=before)

    assert applied.config.device(ARM) == DeviceConfig()
    assert applied.scopes == ("config.mount", "config.preset")


def test_custom_keeps_the_present_mount() -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config

    applied = made(SetPreset(ARM, "custom"), config=before)

    assert applied.config.device(ARM).mount == before.device(ARM).mount
    assert applied.scopes == ("config.preset",)


@pytest.mark.parametrize("change", [SetBasis(None, XZY), SetBasis(ARM, XZY)])
def test_a_new_basis_turns_the_mount_of_a_built_in_preset(change: Change) -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config

    applied = made(change, config=before)

    assert applied.config.device(ARM).mount == centred(ARM, "arm_front_centered", XZY)
    assert applied.config.device(ARM).mount != before.device(ARM).mount
    assert "config.mount" in applied.scopes


def test_a_sessions_basis_turns_no_mount_of_a_device_with_its_own() -> None:
    before = made(SetBasis(ARM, YZX), SetPreset(ARM, "arm_front_centered")).config

    assert made(SetBasis(None, XZY), config=before).config.device(ARM) == before.device(ARM)


def test_a_new_basis_turns_no_mount_that_the_client_set() -> None:
    before = made(SetMount(ARM, PartialTransform((1, 2, 3)))).config

    assert made(SetBasis(ARM, XZY), config=before).config.device(ARM).mount == Transform((1, 2, 3))


def test_a_preset_and_a_basis_come_to_the_same_in_either_order() -> None:
    both: list[Change] = [SetPreset(ARM, "arm_front_centered"), SetBasis(ARM, XZY)]
    configs = [made(*changes).config for changes in itertools.permutations(both)]

    assert configs[0] == configs[1]


def test_devices_are_configured_apart() -> None:
    applied = made(SetPreset(COMPACT, "compact_zup"), SetMount(ARM, PartialTransform((1, 2, 3))))

    assert applied.config.device(COMPACT).preset == "compact_zup"
    assert applied.config.device(COMPACT).mount.position == (-0.020, 0.075, -0.080)
    assert applied.config.device(ARM).preset == "custom"


def test_a_device_that_has_gone_keeps_its_configuration() -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config
    without = Inventory(INVENTORY.devices[1:])

    applied = made(SetBasis(None, XZY), config=before, inventory=without)

    assert applied.config.device(ARM) == before.device(ARM)
    assert applied.config.basis == XZY


# ---------------------------------------------------------------- profile and version


def test_a_profile_is_declared() -> None:
    applied = made(DeclareProfile("mine"))

    assert (applied.config.profile, applied.config.required_sdk_version) == ("mine", None)
    assert applied.scopes == ("profile",)


def test_a_profile_that_was_declared_before_brings_its_version_back() -> None:
    applied = made(DeclareProfile("known"))

    assert applied.config.required_sdk_version == "3.4"
    assert applied.scopes == ("profile", "required_sdk_version")


def test_a_version_beside_the_profile_wins_over_the_remembered_one() -> None:
    assert made(DeclareProfile("known"), RequireSdk("3.5")).config.required_sdk_version == "3.5"


def test_a_profile_without_a_remembered_version_keeps_what_the_session_has() -> None:
    before = made(RequireSdk("3.5")).config

    assert made(DeclareProfile("mine"), config=before).config.required_sdk_version == "3.5"


def test_a_cleared_profile_is_default_without_a_version() -> None:
    before = made(DeclareProfile("known")).config

    applied = made(ClearProfile(), config=before)

    assert applied.config == NEW
    assert applied.scopes == ("profile", "required_sdk_version")


@pytest.mark.parametrize("version", ["3.5.3", "3.5", "3", "3.5.3.0", "0", "2.99", "3.4.19"])
def test_a_version_that_we_have_is_taken(version: str) -> None:
    applied = made(RequireSdk(version))

    assert applied.config.required_sdk_version == version
    assert (applied.scopes, applied.refused) == (("required_sdk_version",), ())


@pytest.mark.parametrize("version", ["3.5.4", "3.10", "3.6", "4", "3.5.3.1", "99999999999999999999"])
def test_a_version_that_is_too_new_is_named_and_remembered(version: str) -> None:
    applied = made(RequireSdk(version, "p"))

    assert applied.config.required_sdk_version == version
    assert applied.scopes == ("required_sdk_version",)
    assert [refused.path for refused in applied.refused] == ["p"]
    assert version in applied.refused[0].reason
    assert "3.5.3" in applied.refused[0].reason


@pytest.mark.parametrize("version", ["", "three", "3.x", "3..5", "-1", "1" * 40])
def test_what_is_no_version_is_refused(version: str) -> None:
    applied = made(RequireSdk(version, "p"))

    assert applied == Applied(NEW, (), (Refused("p", 'a version is numbers and dots, such as "3.5.3"'),))


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
    ],
)
def test_a_change_that_cannot_be_made_is_refused_by_its_path_and_the_rest_is_made(change: Change) -> None:
    applied = made(SetBasis(None, XZY), change, SetPreset(ARM, "led_front"))

    assert [refused.path for refused in applied.refused] == ["p"]
    assert applied.refused[0].reason
    assert applied.config == made(SetBasis(None, XZY), SetPreset(ARM, "led_front")).config
    assert applied.scopes == ("basis", "config.preset")


def test_the_reason_says_who_has_the_area() -> None:
    assert made(SetMount(GRIP, PartialTransform())).refused[0].reason == (
        "a grip has no mount: send it to an arm or a compact"
    )
    assert made(SetPreset(PEN, "defaults")).refused[0].reason == ("a pen has no preset: send it to an arm or a compact")


def test_every_refusal_is_told() -> None:
    applied = made(SetPreset(ARM, "a", "1"), RequireSdk("4", "2"), SetBasis("nobody", XZY, "3"))

    assert [refused.path for refused in applied.refused] == ["1", "2", "3"]


def test_nothing_asked_is_nothing_done() -> None:
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
def test_what_was_so_before_is_no_change(change: Change) -> None:
    assert made(change).scopes == ()


def test_a_change_that_is_taken_back_at_once_is_none() -> None:
    assert made(SetBasis(None, XZY), SetBasis(None, Basis())).scopes == ()
    assert made(SetPreset(ARM, "arm_front_centered"), SetPreset(ARM, "defaults")).scopes == ()


def test_every_scope_has_its_name_once_in_a_fixed_order() -> None:
    applied = made(
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
    )


# ---------------------------------------------------------------- laws

device_ids = st.sampled_from([ARM, COMPACT, GRIP, "nobody"])
partials = st.builds(
    PartialTransform,
    st.none() | st.sampled_from([(0.0, 0.0, 0.0), (1.0, 2.0, 3.0)]),
    st.none() | st.sampled_from([(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)]),
    st.none() | st.sampled_from([(1.0, 1.0, 1.0), (2.0, 2.0, 2.0)]),
)
changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(DeclareProfile, st.sampled_from(["default", "known", "mine", ""])),
    st.builds(ClearProfile),
    st.builds(RequireSdk, st.sampled_from(["3.5", "3.5.0", "4", "x"])),
    st.builds(SetBasis, st.none() | device_ids, st.sampled_from(BASES)),
    st.builds(SetMount, device_ids, partials),
    st.builds(SetPreset, device_ids, st.sampled_from([*presets.names(INVENTORY.get(COMPACT).kind), "x"])),
)
many = st.lists(changes, max_size=8)


@given(many)
def test_changes_together_are_the_changes_one_by_one(asked: list[Change]) -> None:
    together = made(*asked)

    config, refused = NEW, 0
    for change in asked:
        one = made(change, config=config)
        config, refused = one.config, refused + len(one.refused)

    assert together.config == config
    assert len(together.refused) == refused
    assert together.scopes == scopes(NEW, config)


@given(many, changes)
def test_asking_twice_changes_nothing_the_second_time(asked: list[Change], change: Change) -> None:
    once = made(change, config=made(*asked).config)
    twice = made(change, config=once.config)

    assert twice.config == once.config
    assert twice.scopes == ()
    assert twice.refused == once.refused


@given(many)
def test_a_built_in_preset_always_has_its_own_mount(asked: list[Change]) -> None:
    config = made(*asked).config

    for device_id in (ARM, COMPACT):
        device = config.device(device_id)
        if device.preset != "custom":
            assert device.mount == centred(device_id, device.preset, config.basis_of(device_id))


@given(many)
def test_scopes_are_empty_exactly_when_nothing_changed(asked: list[Change]) -> None:
    applied = made(*asked)

    def values(config: SessionConfig) -> object:
        devices = [config.device(device_id) for device_id in (ARM, COMPACT, GRIP)]
        return config.profile, config.required_sdk_version, config.basis, devices

    assert (applied.scopes == ()) == (values(applied.config) == values(NEW))


@given(many, many)
def test_nobodys_configuration_is_touched_by_anothers(asked: list[Change], others: list[Change]) -> None:
    mine = made(*asked)

    made(*others, config=mine.config)

    assert mine == made(*asked)


@given(st.lists(st.builds(SetBasis, st.none() | st.just(ARM), st.sampled_from(BASES)), max_size=5))
def test_devices_without_motors_are_never_mounted(asked: list[Change]) -> None:
    config = made(*asked, SetBasis(GRIP, XZY)).config

    assert config.device(GRIP) == DeviceConfig(basis=XZY)


def test_a_record_without_a_reach_is_left_alone() -> None:
    def bare(record: DeviceRecord) -> DeviceRecord:
        return replace(record, identity=replace(record.identity, reach=None))

    inventory = Inventory(tuple(bare(record) for record in INVENTORY.devices))

    assert made(SetPreset(ARM, "arm_front_centered"), inventory=inventory).config.device(ARM).mount == Transform()
