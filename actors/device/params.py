"""Build the loop's parameters of one device from its kind, configuration and phase."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from actors.device import simulation
from actors.device.messages import DeviceRecord, Phase
from actors.values.identity import Connection
from actors.values.kinds.base import MEDIUM_HAND, STOP_DAMPING, STOP_STIFFNESS, KindSpec
from actors.values.mechanism_kind import MechanismKind
from fastpath.layout.constants import Capability, DeviceSource, Mechanism, StatusFlag
from fastpath.layout.dtypes import DEVICE_PARAMS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from actors.settings.messages import SettingsView
    from actors.values.hardware import FoundMechanism
    from actors.values.spatial import Reach

SLEW_N_S: Final = 3000.0
SLOW_SLEW_N_S: Final = 500.0
FORCE_SCALE: Final = "filters/force_scale/gain"

CIRCLE_RADIUS_M: Final = 0.030
CIRCLE_PERIOD_S: Final = 4.0

AT_A_PORT: Final = DeviceSource.SOURCE_PORT
MECHANISMS: Final = MappingProxyType(
    {
        MechanismKind.SERIAL: Mechanism.MECHANISM_SERIAL,
        MechanismKind.FIVE_BAR: Mechanism.MECHANISM_FIVE_BAR,
        MechanismKind.DELTA: Mechanism.MECHANISM_DELTA,
        MechanismKind.DIRECT: Mechanism.MECHANISM_CURSOR,
        MechanismKind.HINGE: Mechanism.MECHANISM_HINGE,
    }
)
# s without a packet after which a port's device is silent: movers send at hundreds of hertz, handles at 50.
SILENCE_S: Final = 0.020
HANDLE_SILENCE_S: Final = 0.060
# USB devices are served by Python: packets are late while the interpreter is busy.
USB_SILENCE_S: Final = 0.100

BATTERY_START: Final = 0.9
BATTERY_LIFE_S: Final = 6 * 3600.0


def status_flags(record: DeviceRecord) -> int:
    """Return the `status` bits that the loop does not set itself."""
    flags = StatusFlag.FLAG_STARTED | StatusFlag.FLAG_CONNECTED
    if record.bond.attached:
        flags |= StatusFlag.FLAG_ATTACHED
    if record.bond.calibrated:
        flags |= StatusFlag.FLAG_CALIBRATED
    if record.kind.has_motors:
        flags |= StatusFlag.FLAG_POWER_SUPPLY
    if record.phase is not Phase.ASLEEP:
        flags |= StatusFlag.FLAG_AWAKE
    if record.ready:
        flags |= StatusFlag.FLAG_READY
    return flags


@dataclass(frozen=True, slots=True)
class SafetyLimits:
    """Safety limits of a device; 0: no limit."""

    safe_speed: float = 0.0  # m/s, largest speed of a held position's set-point
    grip_timeout: float = 0.0  # s, for which a paired grip may be let go
    kinetic_energy: float = 0.0  # J
    power: float = 0.0  # W that the motors put out
    contact_energy: float = 0.0  # J that the motors put out in one contact
    stiffness_warning: bool = False
    brake_latch: bool = False
    stop_brake: bool = False
    enable_buttons: int = 0  # bits of buttons, one of which has to be held


UNLIMITED: Final = SafetyLimits()


def capabilities_of(spec: KindSpec) -> int:
    """Return the Capability bits of a kind."""
    return (
        Capability.HAS_MOTORS * spec.has_motors
        | Capability.HAS_CURSOR * spec.has_cursor
        | Capability.IS_HANDLE * spec.is_handle
    )


def force_scale(record: DeviceRecord, settings: SettingsView) -> float:
    """Return the factor on every force of a device."""
    gain = settings.device(record.device_id, record.kind, FORCE_SCALE)
    return float(gain) if isinstance(gain, int | float) else 1.0


def device_params(
    record: DeviceRecord, seed: int, force_scale: float = 1.0, limits: SafetyLimits = UNLIMITED
) -> NDArray[np.void]:
    """Return a 0-d array of dtype DEVICE_PARAMS; `force_scale` multiplies every force, `seed` and device id select the noise."""
    spec = record.kind.spec
    params = np.zeros((), dtype=DEVICE_PARAMS)
    params["capabilities"] = capabilities_of(spec)
    if not record.identity.simulated:
        params["source"] = AT_A_PORT
        params["silence"] = _silence_s(record)
    params["flags"] = status_flags(record)
    params["accepts_commands"] = record.accepts
    params["torque_scaling"] = record.wide.torque_scaling
    params["gravity_scale"] = record.wide.gravity_scale if record.wide.gravity_compensation else 0.0
    params["force_scale"] = force_scale
    params["left_handed"] = record.wide.handedness == "left"
    params["home_return"] = record.wide.home_return
    params["seed"] = zlib.crc32(f"{seed}/{record.device_id}".encode()) + 1
    params["grip_slot"] = record.bond.partner_slot
    params["safe_speed"] = limits.safe_speed
    params["grip_timeout"] = limits.grip_timeout
    optional = params["optional"]
    optional["kinetic_energy"] = limits.kinetic_energy
    optional["power"] = limits.power
    optional["contact_energy"] = limits.contact_energy
    optional["stiffness_warning"] = limits.stiffness_warning
    optional["brake_latch"] = limits.brake_latch
    optional["stop_brake"] = limits.stop_brake
    optional["enable_button"] = limits.enable_buttons
    if record.identity.connection == "wireless":
        params["battery_start"] = BATTERY_START
        params["battery_life"] = BATTERY_LIFE_S
    if spec.has_motors:
        _fill_mechanism(params, spec, record.identity.reach)
        if record.identity.found is not None and record.identity.found.mechanism is not None:
            _fill_found(params, record.identity.found.mechanism)
    simulation.fill(params, record)
    return params


def _silence_s(record: DeviceRecord) -> float:
    if record.identity.connection is Connection.USB:
        return USB_SILENCE_S
    return SILENCE_S if record.kind.has_motors else HANDLE_SILENCE_S


def _fill_found(params: NDArray[np.void], found: FoundMechanism) -> None:
    """Replace the kind's mechanism by the real one; what its driver does not report is 0."""
    params["peak_force"] = found.peak_force
    params["torque_limit"] = found.torque_limit
    params["encoder_step"] = found.step
    params["mechanism"] = np.zeros((), dtype=DEVICE_PARAMS["mechanism"])
    params["mechanism"]["kind"] = MECHANISMS[found.kind]
    for name, value in found.geometry.items():
        params["mechanism"][name] = value


def _fill_mechanism(params: NDArray[np.void], spec: KindSpec, reach: Reach | None) -> None:
    if spec.mechanism is None or spec.dynamics is None or reach is None:
        raise TypeError(f"a {spec.name} with motors needs mechanism, dynamics and reach")
    params["peak_force"] = spec.mechanism.peak_force
    params["torque_limit"] = spec.mechanism.torque_limit
    mechanism, plant, hand = params["mechanism"], params["plant"], params["hand"]
    mechanism["kind"] = MECHANISMS[spec.mechanism.kind]
    mechanism["shoulder"] = spec.mechanism.shoulder
    mechanism["link"] = spec.mechanism.links
    mechanism["counts_per_turn"] = spec.mechanism.counts_per_turn
    plant["mass"] = spec.dynamics.mass
    plant["viscous"] = spec.dynamics.viscous
    plant["coulomb"] = spec.dynamics.coulomb
    plant["gravity_mass"] = spec.dynamics.gravity_mass
    plant["stop_stiffness"] = STOP_STIFFNESS
    plant["stop_damping"] = STOP_DAMPING
    plant["low"] = reach.low
    plant["high"] = reach.high
    hand["mass"] = MEDIUM_HAND.mass
    hand["grip_stiffness"] = MEDIUM_HAND.grip_stiffness
    hand["grip_damping"] = MEDIUM_HAND.grip_damping
    hand["arm_stiffness"] = MEDIUM_HAND.arm_stiffness
    hand["arm_damping"] = MEDIUM_HAND.arm_damping
    params["home"] = reach.centre
    params["slew"] = SLEW_N_S
    params["slow_slew"] = SLOW_SLEW_N_S
    params["zone_low"] = reach.zone_low
    params["zone_high"] = reach.zone_high
    # One count at the shoulder moves a stretched arm's cursor the farthest.
    params["encoder_step"] = 2 * math.pi / spec.mechanism.counts_per_turn * sum(spec.mechanism.links)
    thermal = params["thermal"]
    thermal["rise"] = spec.thermal.rise
    thermal["ratio"] = spec.thermal.ratio
    thermal["winding"] = spec.thermal.winding
    thermal["housing"] = spec.thermal.housing
    thermal["ambient"] = spec.thermal.ambient
    hand["centre"] = reach.centre
    hand["radius"] = CIRCLE_RADIUS_M
    hand["period"] = CIRCLE_PERIOD_S
