"""Convert a board's IDENTITY into a FoundDevice, or the reason why it is not driven. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.values.hardware import FoundDevice, FoundMechanism, MechanismKind
from actors.values.identity import Connection, Firmware, Kind
from actors.values.spatial import Reach
from fastpath.codecs.openlink_messages import Capability, CommandMode, Configure, ConfigureField, DeviceKind

if TYPE_CHECKING:
    from actors.device.api import DeviceWide
    from fastpath.codecs.openlink_messages import Identity

DRIVER: Final = "openlink"
KINDS: Final = MappingProxyType(
    {
        DeviceKind.ARM: Kind.ARM,
        DeviceKind.COMPACT: Kind.COMPACT,
        DeviceKind.GRIP: Kind.GRIP,
        DeviceKind.PEN: Kind.PEN,
    }
)
CURSOR_IN_STATE: Final = 0
YAW_PITCH_PITCH: Final = 1
# Limits of reported values that are driven.
MOST_FORCE_N: Final = 100.0
MOST_TORQUE_NMM: Final = 100_000.0
MOST_LENGTH_M: Final = 10.0
LEAST_HZ: Final = 100
TURN: Final = 6.283185307179586
# Share of the reach that the safety springs take on each side of each axis.
ZONE: Final = 0.05
MICROMETRE: Final = 6


def found_device(identity: Identity, *, calibrated: bool = False) -> FoundDevice:
    """Return the FoundDevice of an identity; KeyError for a receiver."""
    kind = KINDS[identity.kind]
    return FoundDevice(
        device_id=identity.device_id,
        kind=kind,
        connection=_connection(kind, wireless=identity.wireless),
        firmware=Firmware(identity.firmware_major, identity.firmware_minor),
        hardware_version=identity.hardware,
        uuid=identity.uuid.hex(),
        driver=DRIVER,
        reach=_reach(identity) if kind.has_motors else None,
        mechanism=_mechanism(identity) if kind.has_motors else None,
        calibrated=calibrated,
        settle_s=identity.settle_ms / 1000,
        calibrates=Capability.CALIBRATE in identity.capabilities,
        reads_battery=Capability.BATTERY in identity.capabilities,
    )


def command_mode(identity: Identity) -> CommandMode:
    """Return the mode of its commands: torques if it supports them and the loop knows its joints, else forces, else none."""
    if identity.mechanism == YAW_PITCH_PITCH and Capability.TORQUE in identity.capabilities:
        return CommandMode.TORQUE
    return CommandMode.FORCE if Capability.FORCE in identity.capabilities else CommandMode.RELEASE


def why_not_driven(identity: Identity) -> str:
    """Return why the board cannot be driven, "" if it can; a wrong geometry would produce wrong forces."""
    has = identity.capabilities
    if (
        identity.kind is DeviceKind.RECEIVER
        or not KINDS[identity.kind].has_motors
        or not has & (Capability.FORCE | Capability.TORQUE)
    ):
        return ""
    known = identity.mechanism in (CURSOR_IN_STATE, YAW_PITCH_PITCH)
    if not known and Capability.CURSOR not in has:
        return f"its mechanism ({identity.mechanism}) has no kinematics here: have it send its cursor (mechanism 0) and take forces"
    needs = Capability.JOINTS if identity.mechanism == YAW_PITCH_PITCH else Capability.CURSOR
    if needs not in has:
        return f"its mechanism is {identity.mechanism}, and its capabilities lack {needs.name}"
    if command_mode(identity) is CommandMode.RELEASE:
        return f"it takes torques only, and its mechanism ({identity.mechanism}) has no kinematics here: have it take forces"
    if any(identity.link) and not min(identity.link) > 0:
        return f"its links are {identity.link[0]:g} and {identity.link[1]:g} m: both need a length, or both 0 for those of its kind"
    if identity.rate_hz < LEAST_HZ:
        return f"it offers {identity.rate_hz} states a second: what has motors needs {LEAST_HZ}"
    for name, values, most, unit in (
        ("peak_force", (identity.peak_force,), MOST_FORCE_N, "N"),
        ("torque_limit", (identity.torque_limit,), MOST_TORQUE_NMM, "N mm"),
        ("shoulder", identity.shoulder, MOST_LENGTH_M, "m"),
        ("link", identity.link, MOST_LENGTH_M, "m"),
        ("reach", (*identity.reach_low, *identity.reach_high), MOST_LENGTH_M, "m"),
    ):
        worst = max(values, key=abs)
        if abs(worst) > most:
            return f"it says {worst:g} {unit} for {name}, and {most:g} {unit} is the most that is driven: correct its firmware"
    return ""


def configure_message(identity: Identity, wide: DeviceWide, *, save: bool) -> Configure:
    """Return the values that the device supports; an unsupported one would make it refuse all."""
    has = identity.capabilities
    fields = ConfigureField(0)
    for capability, field in (
        (Capability.HANDEDNESS, ConfigureField.LEFT_HANDED),
        (Capability.TORQUE_SCALING, ConfigureField.TORQUE_SCALING),
        (Capability.GRAVITY, ConfigureField.GRAVITY_ENABLED | ConfigureField.GRAVITY_SCALE),
        (Capability.HOME_RETURN, ConfigureField.HOME_RETURN),
    ):
        if capability in has and (capability is not Capability.HOME_RETURN or _returns_home(identity)):
            fields |= field
    if save and fields and Capability.SAVE in has:
        fields |= ConfigureField.SAVE
    return Configure(
        fields,
        left_handed=wide.handedness == "left",
        torque_scaling=wide.torque_scaling,
        gravity_enabled=wide.gravity_compensation,
        home_return=wide.home_return,
        gravity_scale=wide.gravity_scale,
    )


def _returns_home(identity: Identity) -> bool:
    return (identity.firmware_major, identity.firmware_minor) >= (7, 4)


def _connection(kind: Kind, *, wireless: bool) -> Connection:
    if kind.spec.wireless:
        return Connection.WIRELESS if wireless else Connection.WIRED
    return Connection.SERIAL


def _reach(identity: Identity) -> Reach | None:
    """Return the reported reach; None (the kind's) if it is the same or has no size along an axis."""
    x, y, z = (round(number, MICROMETRE) for number in identity.reach_low)
    low = (x, y, z)
    x, y, z = (round(number, MICROMETRE) for number in identity.reach_high)
    high = (x, y, z)
    usual = KINDS[identity.kind].spec.reach
    if not all(a < b for a, b in zip(low, high, strict=True)) or (usual and (low, high) == (usual.low, usual.high)):
        return None
    x, y, z = (ZONE * (b - a) for a, b in zip(low, high, strict=True))
    return Reach(low, high, (x, y, z), (x, y, z))


def _mechanism(identity: Identity) -> FoundMechanism:
    """Return the reported mechanism; missing values are the kind's."""
    usual = KINDS[identity.kind].spec.mechanism
    if usual is None:
        raise TypeError(f"a {KINDS[identity.kind]} with motors needs a mechanism")
    peak_force = identity.peak_force if identity.peak_force > 0 else usual.peak_force
    torque_limit = identity.torque_limit if identity.torque_limit > 0 else usual.torque_limit
    if identity.mechanism != YAW_PITCH_PITCH:
        return FoundMechanism(MechanismKind.DIRECT, peak_force, torque_limit, step=0.0)
    shoulder, link, counts = usual.shoulder, usual.links, usual.counts_per_turn
    if min(identity.link) > 0:
        shoulder, link, counts = identity.shoulder, identity.link, identity.counts_per_turn
    return FoundMechanism(
        MechanismKind.SERIAL,
        peak_force,
        torque_limit,
        step=TURN / counts * sum(link) if counts > 0 else 0.0,
        geometry={"shoulder": shoulder, "link": link, "counts_per_turn": counts},
    )
