"""What changes make of a session's configuration: order, refusal one by one, scopes of what really changed, presets and their mounts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.device.messages import DeviceRecord, Inventory
from actors.kit.errors import FirmwareTooOld, InvalidInput, NoSuchDevice
from actors.session import presets
from actors.session.configure import Surroundings, apply, scopes
from actors.session.messages import (
    Applied,
    Change,
    ClearDamping,
    ClearProfile,
    Damping,
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
from actors.session.profile import SessionMemory
from actors.values.identity import Firmware
from actors.values.spatial import ORIGIN, Basis, PartialTransform, Transform
from tests.support.slices import inventory_of

INVENTORY = inventory_of("arm", "compact", "grip", "pen")
ARM, COMPACT, GRIP, PEN = (record.device_id for record in INVENTORY.devices)
NEW = SessionConfig()
NO_VERSION = 'a version is numbers and dots, such as "3.5.3"'
MEMORY = SessionMemory(versions=MappingProxyType({"known": "3.4"}))
XZY, YZX = Basis.parse("XZ-Y"), Basis.parse("YZX")
BASES = [
    Basis.parse("".join(sign + axis for sign, axis in zip(signs, axes, strict=True)))
    for axes in itertools.permutations("XYZ")
    for signs in itertools.product(("", "-"), repeat=3)
]


def made(
    *changes: Change,
    config: SessionConfig = NEW,
    inventory: Inventory = INVENTORY,
    start: SessionConfig = NEW,
    freeform: tuple[str, ...] = (),
) -> Applied:
    return apply(config, changes, Surroundings(inventory, MEMORY, start, freeform))


def mount_of(config: SessionConfig, device_id: str) -> Transform:
    return presets.mount_of(config, INVENTORY.get(device_id))


def preset_of(config: SessionConfig, device_id: str) -> str:
    return presets.preset_of(config, INVENTORY.get(device_id))


def told(applied: Applied) -> list[tuple[Change, str]]:
    return [(refused.change, refused.reason) for refused in applied.refused]


def with_firmware(*parts: int) -> Inventory:
    """The same devices with another firmware."""
    firmware = Firmware(*parts)
    return Inventory(
        tuple(replace(record, identity=replace(record.identity, firmware=firmware)) for record in INVENTORY.devices)
    )


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

    assert applied.config.device(ARM).mount == mount_of(applied.config, ARM) == mount_of(before, ARM)
    assert applied.config.device(ARM).preset == "custom"
    assert applied.scopes == ("config.preset",)


def test_a_mount_is_partial_over_what_the_preset_made() -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config

    applied = made(SetMount(ARM, PartialTransform(scale=(2, 2, 2))), config=before)

    assert applied.config.device(ARM).mount == replace(mount_of(before, ARM), scale=(2, 2, 2))


def test_mounts_add_up_part_by_part() -> None:
    applied = made(SetMount(ARM, PartialTransform((1, 2, 3))), SetMount(ARM, PartialTransform(scale=(2, 2, 2))))

    assert applied.config.device(ARM).mount == Transform((1, 2, 3), scale=(2, 2, 2))


@pytest.mark.parametrize("preset", ["arm_front_centered", "led_front_centered"])
@pytest.mark.parametrize("device_id", [ARM, COMPACT])
def test_a_centred_preset_mounts_its_origin_at_zero(preset: str, device_id: str) -> None:
    applied = made(SetPreset(device_id, preset))

    assert mount_of(applied.config, device_id) == centred(device_id, preset, Basis())
    assert applied.scopes == ("config.mount", "config.preset")


def test_an_identity_preset_changes_its_name_alone() -> None:
    assert made(SetPreset(ARM, "arm_front")).scopes == ("config.preset",)


def test_a_built_in_preset_leaves_custom_and_its_mount() -> None:
    before = made(SetMount(ARM, PartialTransform((1, 2, 3), (0, 1, 0, 0), (2, 2, 2)))).config

    applied = made(SetPreset(ARM, "defaults"), config=before)

    assert (preset_of(applied.config, ARM), mount_of(applied.config, ARM)) == ("defaults", Transform())
    assert applied.scopes == ("config.mount", "config.preset")


def test_custom_keeps_the_present_mount() -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config

    applied = made(SetPreset(ARM, "custom"), config=before)

    assert applied.config.device(ARM).mount == mount_of(applied.config, ARM) == mount_of(before, ARM)
    assert applied.config.device(ARM).preset == "custom"
    assert applied.scopes == ("config.preset",)


@pytest.mark.parametrize("change", [SetBasis(None, XZY), SetBasis(ARM, XZY)])
def test_a_new_basis_turns_the_mount_of_a_built_in_preset(change: Change) -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config

    applied = made(change, config=before)

    assert mount_of(applied.config, ARM) == centred(ARM, "arm_front_centered", XZY)
    assert mount_of(applied.config, ARM) != mount_of(before, ARM)
    assert "config.mount" in applied.scopes


def test_a_sessions_basis_turns_no_mount_of_a_device_with_its_own() -> None:
    before = made(SetBasis(ARM, YZX), SetPreset(ARM, "arm_front_centered")).config

    assert mount_of(made(SetBasis(None, XZY), config=before).config, ARM) == mount_of(before, ARM)


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
    assert mount_of(applied.config, COMPACT).position == (-0.020, 0.075, -0.080)
    assert applied.config.device(ARM).preset == "custom"


def test_a_device_that_has_gone_keeps_its_configuration() -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config
    without = Inventory(INVENTORY.devices[1:])

    applied = made(SetBasis(None, XZY), config=before, inventory=without)

    assert applied.config.device(ARM) == before.device(ARM)
    assert applied.config.basis == XZY


# ---------------------------------------------------------------- back to the start

STARTS = SessionConfig(
    basis=YZX,
    devices=MappingProxyType(
        {
            ARM: DeviceConfig(basis=XZY, preset="custom", mount=Transform((1, 2, 3)), force_gate=0.5),
            COMPACT: DeviceConfig(preset="compact_centered"),
        }
    ),
)


def test_no_basis_is_that_of_the_start() -> None:
    before = made(SetBasis(None, Basis()), SetBasis(ARM, Basis()), config=STARTS).config

    after = made(SetBasis(None, None), SetBasis(ARM, None), config=before, start=STARTS).config

    assert (after.basis, after.device(ARM).basis) == (YZX, XZY)


def test_no_basis_of_a_device_is_the_sessions_when_the_start_has_none() -> None:
    before = made(SetBasis(None, YZX), SetBasis(ARM, XZY)).config

    after = made(SetBasis(ARM, None), config=before).config

    assert after.basis_of(ARM) == YZX


def test_no_preset_is_that_of_the_start_with_its_mount() -> None:
    before = made(SetPreset(ARM, "arm_front"), SetMount(COMPACT, PartialTransform((3, 2, 1))), config=STARTS).config

    applied = made(SetPreset(ARM, None), SetPreset(COMPACT, None), config=before, start=STARTS)

    assert (preset_of(applied.config, ARM), mount_of(applied.config, ARM)) == ("custom", Transform((1, 2, 3)))
    assert preset_of(applied.config, COMPACT) == "compact_centered"
    assert mount_of(applied.config, COMPACT) == centred(COMPACT, "compact_centered", YZX)
    assert applied.scopes == ("config.mount", "config.preset")


def test_no_damping_and_no_gate_are_those_of_the_start() -> None:
    start = SessionConfig(devices=MappingProxyType({ARM: DeviceConfig(damping=Damping(3), force_gate=0.5)}))
    before = made(SetDamping(ARM, 0, (1, 1, 1)), SetForceGate(ARM, 1), config=start).config

    applied = made(ClearDamping(ARM), SetForceGate(ARM, None), config=before, start=start)

    assert applied.config == start
    assert applied.scopes == ("config.damping", "config.force_gate")
    assert made(ClearDamping(ARM), SetForceGate(ARM, None), config=start).config.device(ARM) == DeviceConfig()


def test_a_workspace_of_the_start_is_changed_part_by_part() -> None:
    first = made(SetWorkspace(ARM, PartialTransform((1, 2, 3))))
    both = made(SetWorkspace(ARM, PartialTransform(scale=(2, 2, 2))), config=first.config)

    assert both.config.device(ARM) == DeviceConfig(workspace=Transform((1, 2, 3), scale=(2, 2, 2)))
    assert mount_of(both.config, ARM) == Transform()
    assert both.config.device(COMPACT) == DeviceConfig()


def test_no_preset_without_a_start_is_defaults() -> None:
    before = made(SetMount(ARM, PartialTransform((1, 2, 3)))).config

    applied = made(SetPreset(ARM, None), config=before)

    assert applied.config.device(ARM) == DeviceConfig()
    assert (preset_of(applied.config, ARM), mount_of(applied.config, ARM)) == ("defaults", Transform())


def test_a_mount_counts_only_under_custom() -> None:
    config = SessionConfig(
        devices=MappingProxyType({ARM: DeviceConfig(preset="arm_front", mount=Transform((1, 2, 3)))})
    )

    assert mount_of(config, ARM) == Transform()


# ---------------------------------------------------------------- damping and force gate


def test_damping_is_changed_part_by_part_and_the_parts_add() -> None:
    first = made(SetDamping(ARM, 2))
    both = made(SetDamping(ARM, None, (0, 1, 20)), config=first.config)

    assert first.config.device(ARM).damping == Damping(2)
    assert first.config.device(ARM).damping.per_axis == (2, 2, 2)
    assert both.config.device(ARM).damping == Damping(2, (0, 1, 20))
    assert both.config.device(ARM).damping.per_axis == (2, 3, 22)
    assert first.scopes == both.scopes == ("config.damping",)
    assert both.config.device(COMPACT).damping == Damping()


def test_damping_is_taken_back_by_nothing_but_zero() -> None:
    before = made(SetDamping(ARM, 2, (1, 1, 1))).config

    assert made(SetDamping(ARM), config=before).config == before
    assert made(SetDamping(ARM, 0, ORIGIN), config=before).config.device(ARM) == DeviceConfig()


@pytest.mark.parametrize("value", [0, 20])
def test_the_ends_of_damping_are_taken(value: float) -> None:
    assert made(SetDamping(ARM, value, (value, value, value))).refused == ()


@pytest.mark.parametrize("parts", [(7, 5), (7, 10), (8, 0)])
def test_a_firmware_that_has_damping_takes_it(parts: tuple[int, int]) -> None:
    assert made(SetDamping(ARM, 1), inventory=with_firmware(*parts)).refused == ()


@pytest.mark.parametrize("parts", [(7, 4), (6, 9), (1, 99)])
@pytest.mark.parametrize(
    "damping",
    [
        SetDamping(ARM, 1, path="p"),
        SetDamping(ARM, 21, path="p"),
        SetDamping(ARM, None, (0, 0, 0.1), "p"),
        ClearDamping(ARM, "p"),
    ],
)
def test_an_older_firmware_refuses_damping_and_says_which_it_needs(parts: tuple[int, int], damping: Change) -> None:
    applied = made(damping, SetForceGate(ARM, 0.5), inventory=with_firmware(*parts))

    ((refused),) = applied.refused
    assert isinstance(refused.error, FirmwareTooOld)
    assert (refused.error.feature, refused.error.required) == ("damping", "7.5")
    assert refused.error.firmware == f"{parts[0]}.{parts[1]}"
    assert (refused.path, refused.reason) == ("p", refused.error.sentence)
    assert applied.scopes == ("config.force_gate",)


@pytest.mark.parametrize("damping", [SetDamping(ARM, 0), SetDamping(ARM, None, ORIGIN), SetDamping(ARM, 0, ORIGIN)])
def test_no_damping_is_taken_by_a_firmware_that_has_none(damping: Change) -> None:
    assert made(damping, inventory=with_firmware(7, 4)) == Applied(NEW, (), ())


def test_what_is_out_of_range_names_the_range() -> None:
    assert made(SetDamping(ARM, 21)).refused[0].reason == "damping is 0 to 20 N s/m, each part of it"
    assert made(SetForceGate(ARM, 2)).refused[0].reason == "the gain of the force gate is 0 to 1"


@pytest.mark.parametrize("gain", [0, 0.25, 1])
def test_a_gate_is_the_sessions_own_until_it_is_given_back(gain: float) -> None:
    own = made(SetForceGate(ARM, gain))
    back = made(SetForceGate(ARM, None), config=own.config)

    assert own.config.device(ARM).force_gate == gain
    assert back.config.device(ARM).force_gate is None
    assert own.scopes == back.scopes == ("config.force_gate",)


# ---------------------------------------------------------------- freeform profiles

FREEFORM = ("*freeform*", "clay?")


@pytest.mark.parametrize("profile", ["freeform", "My FreeForm 3", "clay1"])
def test_the_compacts_of_a_freeform_profile_start_with_their_own_preset(profile: str) -> None:
    applied = made(DeclareProfile(profile), freeform=FREEFORM)

    assert (preset_of(applied.config, COMPACT), preset_of(applied.config, ARM)) == ("compact_zup", "defaults")
    assert mount_of(applied.config, COMPACT) == centred(COMPACT, "compact_zup", Basis())
    assert applied.scopes == ("profile", "config.mount", "config.preset")


@pytest.mark.parametrize("profile", ["form", "clay", "clay12", "default"])
def test_another_profile_is_not_freeform(profile: str) -> None:
    assert preset_of(made(DeclareProfile(profile), freeform=FREEFORM).config, COMPACT) == "defaults"


def test_a_profile_that_is_cleared_takes_its_preset_along() -> None:
    before = made(DeclareProfile("freeform"), freeform=FREEFORM).config

    applied = made(ClearProfile(), config=before, freeform=FREEFORM)

    assert preset_of(applied.config, COMPACT) == "defaults"
    assert applied.scopes == ("profile", "config.mount", "config.preset")


@pytest.mark.parametrize(
    ("change", "preset"),
    [
        (SetPreset(COMPACT, "defaults"), "defaults"),
        (SetPreset(COMPACT, "compact_centered"), "compact_centered"),
        (SetMount(COMPACT, PartialTransform()), "custom"),
    ],
)
def test_a_preset_or_mount_that_the_client_set_stays_whatever_the_profile(change: Change, preset: str) -> None:
    for asked in itertools.permutations((change, DeclareProfile("freeform"))):
        config = NEW
        for one in asked:
            config = made(one, config=config, freeform=FREEFORM).config

        assert preset_of(config, COMPACT) == preset


def test_the_preset_of_the_start_wins_over_the_profiles() -> None:
    config = made(DeclareProfile("freeform"), config=STARTS, start=STARTS, freeform=FREEFORM).config

    assert preset_of(config, COMPACT) == "compact_centered"


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
    assert made(SetDamping(PEN, 1)).refused[0].reason == ("a pen has no damping: send it to an arm or a compact")
    assert made(SetForceGate(GRIP, 1)).refused[0].reason == ("a grip has no force_gate: send it to an arm or a compact")


def test_the_error_says_what_it_is() -> None:
    kinds = [NoSuchDevice, InvalidInput]

    applied = made(SetBasis("nobody", XZY), SetPreset(ARM, "x"))

    assert [type(refused.error) for refused in applied.refused] == kinds


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
    st.builds(SetPreset, device_ids, st.none() | st.sampled_from([*presets.names(INVENTORY.get(COMPACT).kind), "x"])),
    st.builds(SetDamping, device_ids, st.none() | dampings, st.none() | st.tuples(dampings, dampings, dampings)),
    st.builds(SetForceGate, device_ids, st.none() | st.sampled_from([0.0, 0.5, 1.0, 1.5])),
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
    assert together.scopes == scopes(NEW, config, Surroundings(INVENTORY, MEMORY))


@given(many, changes)
def test_asking_twice_changes_nothing_the_second_time(asked: list[Change], change: Change) -> None:
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
            (device.basis, device.damping, device.force_gate, preset_of(config, device_id), mount_of(config, device_id))
            for device_id in (ARM, COMPACT, GRIP)
            for device in [config.device(device_id)]
        ]
        return config.profile, config.required_sdk_version, config.basis, devices

    assert (applied.scopes == ()) == (values(applied.config) == values(NEW))


@given(many, many)
def test_nobodys_configuration_is_touched_by_anothers(asked: list[Change], others: list[Change]) -> None:
    mine = made(*asked)

    made(*others, config=mine.config)

    again = made(*asked)
    assert (mine.config, mine.scopes, told(mine)) == (again.config, again.scopes, told(again))


@given(st.lists(st.builds(SetBasis, st.none() | st.just(ARM), st.sampled_from(BASES)), max_size=5))
def test_devices_without_motors_are_never_mounted(asked: list[Change]) -> None:
    config = made(*asked, SetBasis(GRIP, XZY)).config

    assert config.device(GRIP) == DeviceConfig(basis=XZY)


def test_a_record_without_a_reach_is_left_alone() -> None:
    def bare(record: DeviceRecord) -> DeviceRecord:
        return replace(record, identity=replace(record.identity, reach=None))

    inventory = Inventory(tuple(bare(record) for record in INVENTORY.devices))

    config = made(SetPreset(ARM, "arm_front_centered"), inventory=inventory).config
    assert presets.mount_of(config, inventory.get(ARM)) == Transform()
