"""Apply a simulation request to a device's Simulation, and convert Simulation to the loop's parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from actors.kit.errors import InvalidInput
from actors.values.identity import Connection
from actors.values.kinds.base import MEDIUM_HAND
from actors.values.kinds.nouns import any_of, names_of
from actors.values.simulation import BUTTONS, Fault, HandPath, Simulation, SimulationChange
from fastpath.layout.constants import HandMotion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from actors.device.messages import DeviceRecord

STIFFNESS: Final = (10.0, 1_000.0)
"""Range of the arm behind the hand, N/m."""
ONCE: Final = ("buttons", "free", "centred", "awake")
OF_MOTORS: Final = frozenset(
    {Fault.STALL, Fault.FOREIGN_OBJECT, Fault.THROW, Fault.OSCILLATING_HALL, Fault.CALIBRATION_BLOCKED}
)
AWAY: Final = frozenset({Fault.UNPLUG, Fault.HANG, Fault.CONNECTION_LOOP})
"""Faults that keep a device absent until they are cleared."""

LOCK_STIFFNESS: Final = 20_000.0
FOREIGN_FORCE: Final = (5.0, 0.0, 0.0)
THROW_SPEED: Final = (3.5, 0.0, 0.0)
PATHS: Final = {
    HandPath.CIRCLE: HandMotion.HAND_CIRCLE,
    HandPath.REST: HandMotion.HAND_REST,
    HandPath.HOLD: HandMotion.HAND_HOLD,
}


def changed(record: DeviceRecord, change: SimulationChange) -> Simulation:
    """Return the simulation after the change, all of it or none; InvalidInput names what the device lacks."""
    _check(record, change)
    before = record.simulation
    kept = {name: value for name, value in change.sent().items() if name not in ONCE}
    if change.position is not None and change.path is None:
        kept["path"] = HandPath.REST
    after = replace(before, **kept)
    if after.path is HandPath.HOLD and change.path is HandPath.HOLD:
        after = replace(after, position=change.position, hand_revision=before.hand_revision + 1)
    for name, pressed in change.buttons or ():
        bit = 1 << BUTTONS.index(name)
        after = replace(after, buttons=after.buttons | bit if pressed else after.buttons & ~bit)
    if change.centred:
        after = replace(after, position=None)
    if change.free:
        after = replace(after, orientation=None)
    if change.battery_level is not None:
        after = replace(after, battery_revision=before.battery_revision + 1)
    if change.fault is Fault.THROW:
        after = replace(after, push_revision=before.push_revision + 1)
    return after


def fill(params: NDArray[np.void], record: DeviceRecord) -> None:
    """Write the simulation into a device's parameters, over its kind's defaults."""
    wanted, hand, orders = record.simulation, params["hand"], params["simulation"]
    params["buttons"] = wanted.buttons
    params["plant_revision"] = wanted.hand_revision
    # A hold at a given place is the same law as a rest there.
    still = wanted.path is HandPath.HOLD and wanted.position is not None
    hand["path"] = PATHS[HandPath.REST if still else wanted.path]
    if wanted.position is not None:
        hand["centre"] = wanted.position
    firmness = wanted.stiffness / MEDIUM_HAND.arm_stiffness
    for name in ("grip_stiffness", "arm_stiffness"):
        hand[name] *= firmness
    for name in ("grip_damping", "arm_damping"):
        hand[name] *= firmness**0.5
    if wanted.orientation is not None:
        orders["orientation"] = wanted.orientation
    if wanted.battery_level is not None:
        params["battery_start"] = wanted.battery_level
    orders["battery_revision"] = wanted.battery_revision
    orders["push_revision"] = wanted.push_revision
    _fill_fault(params, wanted.fault)
    if wanted.fault is Fault.FOREIGN_OBJECT and record.paired_with is not None and not record.bond.attached:
        # The grip is let go: only the object pushes.
        hand["path"] = HandMotion.HAND_NONE


def _fill_fault(params: NDArray[np.void], fault: Fault) -> None:
    orders = params["simulation"]
    if fault is Fault.THROW:
        params["hand"]["path"] = HandMotion.HAND_NONE
        orders["push"] = THROW_SPEED
    elif fault is Fault.STALL:
        orders["lock_stiffness"] = LOCK_STIFFNESS
    elif fault is Fault.FOREIGN_OBJECT:
        orders["external"] = FOREIGN_FORCE
    elif fault is Fault.HANG:
        orders["frozen"] = 1


def _check(record: DeviceRecord, change: SimulationChange) -> None:
    sent = change.sent()
    kind = record.kind
    if not kind.has_motors and sent.keys() & {"position", "centred", "stiffness"}:
        raise InvalidInput(
            f"{kind.with_article} has no motors: its hand has a path, and no position or stiffness", "hand"
        )
    for name in ("buttons", "attached"):
        if not kind.is_handle and name in sent:
            handles = any_of(lambda spec: spec.is_handle)
            raise InvalidInput(f"{kind.with_article} has no {name}: send it to {handles}", name)
    if "battery_level" in sent and record.identity.connection is not Connection.WIRELESS:
        whose = f"a wired {kind}" if kind.spec.wireless else kind.with_article
        wireless = names_of(lambda spec: spec.wireless)
        raise InvalidInput(f"{whose} has no battery: send it to a wireless {wireless}", "battery_level")
    if change.fault in OF_MOTORS and not kind.has_motors:
        movers = any_of(lambda spec: spec.has_motors)
        raise InvalidInput(f"{kind.with_article} cannot have the fault {change.fault}: send it to {movers}", "fault")
    _check_numbers(record, sent)


def _check_numbers(record: DeviceRecord, sent: dict[str, Any]) -> None:
    low, high = STIFFNESS
    if "stiffness" in sent and not low <= sent["stiffness"] <= high:
        raise InvalidInput(f"the stiffness of a hand is {low:g} to {high:g} N/m", "hand.stiffness")
    if "battery_level" in sent and not 0 <= sent["battery_level"] <= 1:
        raise InvalidInput("a battery level is 0 to 1", "battery_level")
    reach = record.identity.reach
    if "position" in sent and reach is not None:
        for axis, value, least, most in zip("xyz", sent["position"], reach.low, reach.high, strict=True):
            if not least <= value <= most:
                raise InvalidInput(
                    f"out of reach: {axis} of the device frame is {least:g} to {most:g} m", f"hand.position.{axis}"
                )
