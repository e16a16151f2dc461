"""Device-wide configuration: values are independent, a request is atomic, firmware and motors are checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.device.configuration import changed
from actors.device.messages import ConfigureDevice, DeviceWide
from actors.kit.errors import FirmwareTooOld, InvalidInput
from actors.values.identity import Firmware
from tests.support.actors.doubles import inventory_of

ARM, COMPACT, GRIP = inventory_of("arm", "compact", "grip").devices
ODD = DeviceWide("left", torque_scaling=False, gravity_compensation=False, gravity_scale=0.5, home_return=True)


@pytest.mark.parametrize(
    ("change", "wide"),
    [
        (ConfigureDevice(), DeviceWide()),
        (ConfigureDevice(handedness="left"), DeviceWide(handedness="left")),
        (ConfigureDevice(torque_scaling=False), DeviceWide(torque_scaling=False)),
        (ConfigureDevice(gravity_compensation=False), DeviceWide(gravity_compensation=False)),
        (ConfigureDevice(gravity_scale=0), DeviceWide(gravity_scale=0)),
        (ConfigureDevice(gravity_scale=1.5), DeviceWide(gravity_scale=1.5)),
        (ConfigureDevice(home_return=True), DeviceWide(home_return=True)),
    ],
)
def test_sent_values_replace_and_others_are_kept(change: ConfigureDevice, wide: DeviceWide) -> None:
    assert changed(ARM, change) == wide
    assert changed(replace(ARM, wide=ODD), change) == replace(ODD, **change.sent())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (ConfigureDevice(handedness="Left"), "left or right"),
        (ConfigureDevice(handedness="", torque_scaling=False), "left or right"),
        (ConfigureDevice(gravity_scale=-0.001), "0 to 1.5"),
        (ConfigureDevice(gravity_scale=1.501), "0 to 1.5"),
        (ConfigureDevice(gravity_scale=float("nan")), "0 to 1.5"),
    ],
)
def test_value_out_of_range_is_refused(change: ConfigureDevice, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        changed(COMPACT, change)


def test_grip_has_no_device_wide_values() -> None:
    with pytest.raises(InvalidInput, match="a grip has no home_return"):
        changed(GRIP, ConfigureDevice(home_return=True))
    assert changed(GRIP, ConfigureDevice()) == DeviceWide()


@pytest.mark.parametrize(
    ("firmware", "works"),
    [(Firmware(7, 3), False), (Firmware(6, 9), False), (Firmware(7, 4), True), (Firmware(7, 10), True)],
)
@pytest.mark.parametrize("wanted", [True, False])
def test_home_return_needs_its_firmware_even_to_be_disabled(firmware: Firmware, works: bool, wanted: bool) -> None:
    arm = replace(ARM, identity=replace(ARM.identity, firmware=firmware))

    assert changed(arm, ConfigureDevice(handedness="left")).handedness == "left"
    if works:
        assert changed(arm, ConfigureDevice(home_return=wanted)).home_return == wanted
    else:
        with pytest.raises(FirmwareTooOld, match=r"home_return needs firmware 7\.4"):
            changed(arm, ConfigureDevice(home_return=wanted))
