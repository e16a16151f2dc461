"""Convert a board's IDENTITY to the FoundDevice that actors use."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.values.identity import Connection, Firmware, Kind
from actors.values.mechanism_kind import MechanismKind
from fastpath.codecs.openlink_messages import Capability, CommandMode, DeviceKind, Identity
from transport.link.protocols.openlink.identity import command_mode, found_device, why_not_driven

ARM = Identity(
    DeviceKind.ARM,
    firmware_major=7,
    firmware_minor=10,
    hardware=2,
    mechanism=1,
    settle_ms=5000,
    device_id="A1B2",
    uuid=bytes(range(16)),
    shoulder=(0.0, 0.0625, 0.125),
    link=(0.25, 0.25),
    counts_per_turn=262144.0,
    torque_limit=6000.0,
    peak_force=10.0,
    reach_low=(-0.25, -0.25, -0.125),
    reach_high=(0.25, 0.0, 0.375),
)


def test_arm_has_its_mechanism_and_reach() -> None:
    found = found_device(ARM, calibrated=True)

    assert (found.device_id, found.kind, found.connection) == ("A1B2", Kind.ARM, Connection.SERIAL)
    assert (found.firmware, found.hardware_version, found.uuid) == (Firmware(7, 10), 2, bytes(range(16)).hex())
    assert (found.driver, found.calibrated, found.settle_s) == ("openlink", True, 5.0)
    assert found.reach is not None
    assert (found.reach.low, found.reach.high) == (ARM.reach_low, ARM.reach_high)
    assert found.reach.zone_low == pytest.approx((0.025, 0.0125, 0.025))
    assert found.mechanism is not None
    assert found.mechanism.kind is MechanismKind.SERIAL
    assert found.mechanism.step == pytest.approx(1.2e-5, rel=0.01)
    assert found.mechanism.geometry == {
        "shoulder": (0.0, 0.0625, 0.125),
        "link": (0.25, 0.25),
        "counts_per_turn": 262144.0,
    }


@pytest.mark.parametrize(
    ("kind", "wireless", "connection"),
    [
        (DeviceKind.ARM, False, Connection.SERIAL),
        (DeviceKind.COMPACT, False, Connection.SERIAL),
        (DeviceKind.PEN, True, Connection.SERIAL),
        (DeviceKind.GRIP, False, Connection.WIRED),
        (DeviceKind.GRIP, True, Connection.WIRELESS),
    ],
)
def test_only_a_grip_reports_its_connection(kind: DeviceKind, wireless: bool, connection: Connection) -> None:
    assert found_device(replace(ARM, kind=kind, wireless=wireless)).connection is connection


def test_box_equal_to_the_kind_s_keeps_its_zones() -> None:
    usual = replace(ARM, reach_low=(-0.23000000417, -0.285, -0.12), reach_high=(0.23000000417, -0.005, 0.39))

    assert found_device(usual).reach is None


@pytest.mark.parametrize("low", [(0.0, 0.0, 0.0), (0.3, -0.25, -0.125)])
def test_box_without_a_size_is_ignored(low: tuple[float, float, float]) -> None:
    assert found_device(replace(ARM, reach_low=low, reach_high=(0.0, 0.0, 0.0))).reach is None


def test_missing_links_are_the_kind_s_with_the_board_s_limits() -> None:
    mechanism = found_device(replace(ARM, link=(0.0, 0.0), peak_force=3.0, torque_limit=500.0)).mechanism

    assert mechanism is not None
    assert (mechanism.kind, mechanism.peak_force, mechanism.torque_limit) == (MechanismKind.SERIAL, 3.0, 500.0)
    assert mechanism.geometry == {"shoulder": (0.0, 0.08, 0.135), "link": (0.26, 0.26), "counts_per_turn": 2.0**18}


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("unsaid", [0.0, -1.0])
def test_missing_limits_are_the_kind_s_with_the_board_s_mechanism(number: int, unsaid: float) -> None:
    mechanism = found_device(replace(ARM, mechanism=number, peak_force=unsaid, torque_limit=unsaid)).mechanism

    assert mechanism is not None
    assert (mechanism.peak_force, mechanism.torque_limit) == (10.0, 6000.0)
    assert mechanism.kind is (MechanismKind.SERIAL if number else MechanismKind.DIRECT)
    assert mechanism.geometry.get("link", (0.25, 0.25)) == (0.25, 0.25)


@pytest.mark.parametrize("number", [2, 3, 9])
def test_mechanism_without_kinematics_uses_the_board_s_cursor(number: int) -> None:
    told = replace(ARM, mechanism=number, capabilities=Capability.TORQUE | Capability.FORCE | Capability.CURSOR)

    mechanism = found_device(told).mechanism

    assert why_not_driven(told) == ""
    assert mechanism is not None
    assert mechanism.kind is MechanismKind.DIRECT
    assert command_mode(told) is CommandMode.FORCE


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"mechanism": 2, "capabilities": Capability.FORCE}, "its mechanism (2) has no kinematics here"),
        ({"mechanism": 9, "capabilities": Capability.TORQUE}, "its mechanism (9) has no kinematics here"),
        ({"mechanism": 3, "capabilities": Capability.TORQUE | Capability.CURSOR}, "it takes torques only"),
        ({"mechanism": 0, "capabilities": Capability.TORQUE | Capability.CURSOR}, "it takes torques only"),
        ({"mechanism": 0, "capabilities": Capability.FORCE}, "its mechanism is 0, and its capabilities lack CURSOR"),
        (
            {"capabilities": Capability.TORQUE | Capability.CURSOR},
            "its mechanism is 1, and its capabilities lack JOINTS",
        ),
        ({"link": (0.25, 0.0)}, "its links are 0.25 and 0 m"),
        ({"link": (0.25, -0.25)}, "its links are 0.25 and -0.25 m"),
        ({"rate_hz": 99}, "it offers 99 states a second"),
        ({"peak_force": 1000.0}, "it says 1000 N for peak_force, and 100 N is the most"),
        ({"torque_limit": 3.4e38}, "it says 3.4e+38 N mm for torque_limit"),
        ({"link": (0.25, 11.0)}, "it says 11 m for link"),
        ({"shoulder": (0.0, -20.0, 1.0)}, "it says -20 m for shoulder"),
        ({"reach_low": (-3e38, 0.0, 0.0)}, "m for reach"),
    ],
)
def test_unsupported_board_is_refused_with_its_reason(changed: dict[str, object], says: str) -> None:
    told = replace(ARM, **{"capabilities": Capability.FORCE | Capability.JOINTS, **changed})  # type: ignore[arg-type]

    assert says in why_not_driven(told)


@pytest.mark.parametrize("kind", [DeviceKind.GRIP, DeviceKind.PEN, DeviceKind.RECEIVER])
def test_device_without_motors_may_have_any_mechanism(kind: DeviceKind) -> None:
    assert why_not_driven(replace(ARM, kind=kind, mechanism=9, peak_force=1e9)) == ""


def test_board_that_sends_its_cursor_needs_no_links() -> None:
    mechanism = found_device(replace(ARM, mechanism=0, link=(0.0, 0.0), counts_per_turn=0.0)).mechanism

    assert mechanism is not None
    assert (mechanism.kind, mechanism.step) == (MechanismKind.DIRECT, 0.0)


def test_a_handle_has_neither_reach_nor_mechanism() -> None:
    found = found_device(replace(ARM, kind=DeviceKind.GRIP))

    assert found.reach is None
    assert found.mechanism is None


@pytest.mark.parametrize("capabilities", [Capability(0), Capability.BATTERY])
def test_battery_needs_its_capability(capabilities: Capability) -> None:
    found = found_device(replace(ARM, kind=DeviceKind.GRIP, wireless=True, capabilities=capabilities))

    assert found.reads_battery is (Capability.BATTERY in capabilities)


@pytest.mark.parametrize("capabilities", [Capability(0), Capability.CALIBRATE, Capability.HALL | Capability.CALIBRATE])
def test_calibration_capability_is_reported(capabilities: Capability) -> None:
    found = found_device(replace(ARM, kind=DeviceKind.PEN, capabilities=capabilities))

    assert found.calibrates is (Capability.CALIBRATE in capabilities)


@pytest.mark.parametrize(
    ("capabilities", "mode"),
    [
        (Capability.TORQUE | Capability.FORCE, CommandMode.TORQUE),
        (Capability.FORCE, CommandMode.FORCE),
        (Capability.POSITION, CommandMode.RELEASE),
    ],
)
def test_torques_are_preferred_to_forces(capabilities: Capability, mode: CommandMode) -> None:
    assert command_mode(replace(ARM, capabilities=capabilities)) is mode
