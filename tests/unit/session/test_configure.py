"""Apply changes to a session's configuration: order, single refusals, scopes of real changes, presets and mounts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import MappingProxyType

import pytest

from actors.device.messages import Inventory
from actors.kit.errors import FirmwareTooOld
from actors.session.messages import (
    Applied,
    Change,
    ClearDamping,
    Damping,
    DeviceConfig,
    SessionConfig,
    SetBasis,
    SetDamping,
    SetForceGate,
    SetMount,
    SetPreset,
    SetWorkspace,
)
from actors.values.spatial import ORIGIN, Basis, PartialTransform, Transform
from tests.unit.session.configuration_samples import (
    ARM,
    COMPACT,
    GRIP,
    INVENTORY,
    NEW,
    PEN,
    STARTS,
    XZY,
    YZX,
    centred,
    made,
    mount_of,
    preset_of,
    with_firmware,
)

# ---------------------------------------------------------------- basis


def test_session_basis_applies_to_every_device() -> None:
    applied = made(SetBasis(None, XZY))

    assert applied.scopes == ("basis", "config.basis")
    assert [applied.config.basis_of(device_id) for device_id in (ARM, COMPACT, GRIP)] == [XZY] * 3


def test_session_basis_is_config_basis_for_hidden_devices_too() -> None:
    own = made(SetBasis(ARM, YZX), SetBasis(COMPACT, YZX), SetBasis(GRIP, YZX), SetBasis(PEN, YZX)).config

    assert made(SetBasis(None, XZY), config=own).scopes == ("basis", "config.basis")
    assert made(SetBasis(None, XZY), inventory=Inventory()).scopes == ("basis", "config.basis")


def test_device_basis_equal_to_the_session_s_is_no_change() -> None:
    session = made(SetBasis(None, XZY)).config

    assert made(SetBasis(GRIP, XZY), config=session).scopes == ()


def test_device_basis_replaces_the_session_s() -> None:
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


def test_a_mount_is_partial_over_what_the_preset_made() -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config

    applied = made(SetMount(ARM, PartialTransform(scale=(2, 2, 2))), config=before)

    assert applied.config.device(ARM).mount == replace(mount_of(before, ARM), scale=(2, 2, 2))


def test_mounts_merge_part_by_part() -> None:
    applied = made(SetMount(ARM, PartialTransform((1, 2, 3))), SetMount(ARM, PartialTransform(scale=(2, 2, 2))))

    assert applied.config.device(ARM).mount == Transform((1, 2, 3), scale=(2, 2, 2))


@pytest.mark.parametrize("preset", ["arm_front_centered", "led_front_centered"])
@pytest.mark.parametrize("device_id", [ARM, COMPACT])
def test_centred_preset_maps_its_origin_to_zero(preset: str, device_id: str) -> None:
    applied = made(SetPreset(device_id, preset))

    assert mount_of(applied.config, device_id) == centred(device_id, preset, Basis())
    assert applied.scopes == ("config.mount", "config.preset")


def test_identity_preset_keeps_the_mount() -> None:
    assert made(SetPreset(ARM, "arm_front")).scopes == ("config.preset",)


def test_built_in_preset_replaces_custom_and_its_mount() -> None:
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
def test_new_basis_turns_a_built_in_preset_s_mount(change: Change) -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config

    applied = made(change, config=before)

    assert mount_of(applied.config, ARM) == centred(ARM, "arm_front_centered", XZY)
    assert mount_of(applied.config, ARM) != mount_of(before, ARM)
    assert "config.mount" in applied.scopes


def test_session_basis_keeps_the_mount_of_a_device_with_its_own() -> None:
    before = made(SetBasis(ARM, YZX), SetPreset(ARM, "arm_front_centered")).config

    assert mount_of(made(SetBasis(None, XZY), config=before).config, ARM) == mount_of(before, ARM)


def test_new_basis_keeps_a_mount_set_by_the_client() -> None:
    before = made(SetMount(ARM, PartialTransform((1, 2, 3)))).config

    assert made(SetBasis(ARM, XZY), config=before).config.device(ARM).mount == Transform((1, 2, 3))


def test_preset_and_basis_commute() -> None:
    both: list[Change] = [SetPreset(ARM, "arm_front_centered"), SetBasis(ARM, XZY)]
    configs = [made(*changes).config for changes in itertools.permutations(both)]

    assert configs[0] == configs[1]


def test_devices_are_configured_independently() -> None:
    applied = made(SetPreset(COMPACT, "compact_zup"), SetMount(ARM, PartialTransform((1, 2, 3))))

    assert applied.config.device(COMPACT).preset == "compact_zup"
    assert mount_of(applied.config, COMPACT).position == (-0.020, 0.075, -0.080)
    assert applied.config.device(ARM).preset == "custom"


def test_disconnected_device_keeps_its_configuration() -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config
    without = Inventory(INVENTORY.devices[1:])

    applied = made(SetBasis(None, XZY), config=before, inventory=without)

    assert applied.config.device(ARM) == before.device(ARM)
    assert applied.config.basis == XZY


# ---------------------------------------------------------------- back to the start


def test_null_basis_restores_the_default() -> None:
    before = made(SetBasis(None, Basis()), SetBasis(ARM, Basis()), config=STARTS).config

    after = made(SetBasis(None, None), SetBasis(ARM, None), config=before, start=STARTS).config

    assert (after.basis, after.device(ARM).basis) == (YZX, XZY)


def test_null_device_basis_is_the_session_s_without_a_default() -> None:
    before = made(SetBasis(None, YZX), SetBasis(ARM, XZY)).config

    after = made(SetBasis(ARM, None), config=before).config

    assert after.basis_of(ARM) == YZX


def test_null_preset_restores_the_default_with_its_mount() -> None:
    before = made(SetPreset(ARM, "arm_front"), SetMount(COMPACT, PartialTransform((3, 2, 1))), config=STARTS).config

    applied = made(SetPreset(ARM, None), SetPreset(COMPACT, None), config=before, start=STARTS)

    assert (preset_of(applied.config, ARM), mount_of(applied.config, ARM)) == ("custom", Transform((1, 2, 3)))
    assert preset_of(applied.config, COMPACT) == "compact_centered"
    assert mount_of(applied.config, COMPACT) == centred(COMPACT, "compact_centered", YZX)
    assert applied.scopes == ("config.mount", "config.preset")


def test_null_damping_and_gate_restore_the_defaults() -> None:
    start = SessionConfig(devices=MappingProxyType({ARM: DeviceConfig(damping=Damping(3), force_gate=0.5)}))
    before = made(SetDamping(ARM, 0, (1, 1, 1)), SetForceGate(ARM, 1), config=start).config

    applied = made(ClearDamping(ARM), SetForceGate(ARM, None), config=before, start=start)

    assert applied.config == start
    assert applied.scopes == ("config.damping", "config.force_gate")
    assert made(ClearDamping(ARM), SetForceGate(ARM, None), config=start).config.device(ARM) == DeviceConfig()


def test_default_workspace_is_changed_part_by_part() -> None:
    first = made(SetWorkspace(ARM, PartialTransform((1, 2, 3))))
    both = made(SetWorkspace(ARM, PartialTransform(scale=(2, 2, 2))), config=first.config)

    assert both.config.device(ARM) == DeviceConfig(workspace=Transform((1, 2, 3), scale=(2, 2, 2)))
    assert mount_of(both.config, ARM) == Transform()
    assert both.config.device(COMPACT) == DeviceConfig()


def test_mount_without_a_member_leaves_preset_and_mount() -> None:
    before = made(SetPreset(ARM, "arm_front_centered")).config
    applied = made(SetMount(ARM, PartialTransform()), config=before)

    assert (applied.config, applied.scopes) == (before, ())


def test_null_preset_without_a_default_is_defaults() -> None:
    before = made(SetMount(ARM, PartialTransform((1, 2, 3)))).config

    applied = made(SetPreset(ARM, None), config=before)

    assert applied.config.device(ARM) == DeviceConfig()
    assert (preset_of(applied.config, ARM), mount_of(applied.config, ARM)) == ("defaults", Transform())


def test_mount_applies_only_under_custom() -> None:
    config = SessionConfig(
        devices=MappingProxyType({ARM: DeviceConfig(preset="arm_front", mount=Transform((1, 2, 3)))})
    )

    assert mount_of(config, ARM) == Transform()


# ---------------------------------------------------------------- damping and force gate


def test_damping_is_replaced_as_a_whole_and_its_parts_add() -> None:
    uniform = made(SetDamping(ARM, 2))
    directional = made(SetDamping(ARM, None, (0, 1, 20)), config=uniform.config)
    both = made(SetDamping(ARM, 2, (0, 1, 20)), config=directional.config)

    assert uniform.config.device(ARM).damping == Damping(2)
    assert directional.config.device(ARM).damping == Damping(0, (0, 1, 20))
    assert both.config.device(ARM).damping.per_axis == (2, 3, 22)
    assert uniform.scopes == directional.scopes == both.scopes == ("config.damping",)
    assert both.config.device(COMPACT).damping == Damping()


@pytest.mark.parametrize("zero", [SetDamping(ARM, 0), SetDamping(ARM, None, ORIGIN), SetDamping(ARM, 0, ORIGIN)])
def test_damping_of_zero_clears_number_and_vector(zero: Change) -> None:
    before = made(SetDamping(ARM, 2, (1, 1, 1))).config

    assert made(zero, config=before).config.device(ARM) == DeviceConfig()


def test_damping_and_gate_are_rounded_to_five_decimals() -> None:
    device = made(SetDamping(ARM, 0.000107305365, (19.9999999, 0, 1)), SetForceGate(ARM, 0.123456789)).config.device(
        ARM
    )

    assert (device.damping, device.force_gate) == (Damping(0.00011, (20, 0, 1)), 0.12346)


def test_damping_just_out_of_range_is_not_rounded_into_range() -> None:
    assert made(SetDamping(ARM, 20.000001)).refused != ()
    assert made(SetDamping(ARM, -1e-9)).refused != ()


@pytest.mark.parametrize("value", [0, 20])
def test_limits_of_damping_are_accepted(value: float) -> None:
    assert made(SetDamping(ARM, value, (value, value, value))).refused == ()


@pytest.mark.parametrize("parts", [(7, 5), (7, 10), (8, 0)])
def test_firmware_with_damping_accepts_it(parts: tuple[int, int]) -> None:
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
def test_older_firmware_refuses_damping_and_names_the_required_one(parts: tuple[int, int], damping: Change) -> None:
    applied = made(damping, SetForceGate(ARM, 0.5), inventory=with_firmware(*parts))

    ((refused),) = applied.refused
    assert isinstance(refused.error, FirmwareTooOld)
    assert (refused.error.feature, refused.error.required) == ("damping", "7.5")
    assert refused.error.firmware == f"{parts[0]}.{parts[1]}"
    assert (refused.path, refused.reason) == ("p", refused.error.sentence)
    assert applied.scopes == ("config.force_gate",)


@pytest.mark.parametrize("damping", [SetDamping(ARM, 0), SetDamping(ARM, None, ORIGIN), SetDamping(ARM, 0, ORIGIN)])
def test_null_damping_is_accepted_by_any_firmware(damping: Change) -> None:
    assert made(damping, inventory=with_firmware(7, 4)) == Applied(NEW, (), ())


def test_value_out_of_range_names_the_range() -> None:
    assert made(SetDamping(ARM, 21)).refused[0].reason == "damping is 0 to 20 N s/m, each part of it"
    assert made(SetForceGate(ARM, 2)).refused[0].reason == "the gain of the force gate is 0 to 1"


@pytest.mark.parametrize("gain", [0, 0.25, 1])
def test_session_gate_applies_until_cleared(gain: float) -> None:
    own = made(SetForceGate(ARM, gain))
    back = made(SetForceGate(ARM, None), config=own.config)

    assert own.config.device(ARM).force_gate == gain
    assert back.config.device(ARM).force_gate is None
    assert own.scopes == back.scopes == ("config.force_gate",)
