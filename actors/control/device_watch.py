"""DeviceWatch: reads device states on the timekeeper's thread; reports battery charge, rest and safety monitors, and logs trips."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from actors.device.messages import (
    DeviceRested,
    FodStage,
    IdleSleepChanged,
    SafetyState,
    SafetyTripped,
)
from actors.event.messages import HUB, BatteryLevel
from fastpath.layout.constants import SafetyBit, StatusFlag
from fastpath.layout.dtypes import DEVICE_STATE

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord, Inventory
    from actors.kit.directory import Directory
    from actors.kit.published import Published
    from actors.settings.messages import SettingsView
    from fastpath.arena.access import Reader
    from fastpath.arena.runtime import Runtime

# Device id, TRIP_HISTORY, number of its trips that are logged already, ns since 1970 at which the loop clock was 0.
LogTrips: TypeAlias = Callable[[str, Any, int, int], None]

REST_S: Final = 300.0
LEAST_CHARGE: Final = 0.001
NOTHING_SEEN: Final = SafetyState()
COUNTERS: Final = (
    "ebrakes",
    "ebrake_releases",
    "stalls",
    "ceilings",
    "deratings",
    "oscillations",
    "grip_drops",
    "kinetic_trips",
    "power_trips",
    "contact_trips",
    "stiffness_warnings",
    "ebrake_waits",
    "stop_brakes",
    "enable_drops",
)
SCREENSAVER: Final = "features/screensaver/enabled"
SCREENSAVER_S: Final = "features/screensaver/timeout"


@dataclass(slots=True)
class _Reported:
    """Last reported state of one device since it connected."""

    reader: Reader
    level: float | None = None  # battery charge, 0 to 1
    rested: bool = False
    safety: SafetyState = NOTHING_SEEN
    trips: int = 0  # logged ones
    commanded_ns: int | None = None  # loop time of the last tick with a command
    idle: bool = False


class DeviceWatch:
    """Reports each change of a device's state once. Timekeeper's thread only."""

    def __init__(
        self,
        directory: Directory,
        runtime: Runtime,
        inventory: Published[Inventory],
        settings: Published[SettingsView],
        log_trips: LogTrips,
        wall_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """`log_trips` takes the new trips of a device; `wall_ns`: ns since 1970."""
        self._append_trips = log_trips
        self._wall_ns = wall_ns
        self._settings = settings
        self._directory = directory
        self._runtime = runtime
        self._inventory = inventory
        self._reported: dict[tuple[str, int], _Reported] = {}
        # Reused for each device: allocating one costs ten times a snapshot.
        self._state: Any = np.empty((), dtype=DEVICE_STATE)

    def poll(self) -> None:
        """Report changes since the last call; a device without a measurement is skipped."""
        before, self._reported = self._reported, {}
        for record in self._inventory.value.devices:
            lease_key = (record.device_id, record.lease.generation)
            reported = before.get(lease_key) or _Reported(self._runtime.reader(record.lease))
            self._reported[lease_key] = reported
            state = reported.reader.snapshot(self._state)
            if int(state["generation"]) == record.lease.generation and int(state["flags"]) & StatusFlag.FLAG_MEASURED:
                self._charge(record, reported, state)
                self._rest(record, reported, state)
                if record.kind.has_motors:
                    self._safety(record, reported, state)
                    if int(state["trips"]) > reported.trips:
                        self._log_trips(lease_key, reported)
                    self._idle_sleep(record, reported, state)
        for lease_key in before.keys() - self._reported.keys():
            # It may have tripped just before it went.
            self._log_trips(lease_key, before[lease_key])

    def _charge(self, record: DeviceRecord, reported: _Reported, state: Any) -> None:
        if not record.shows_battery:
            return
        level = round(float(state["battery_level"]), 6)
        if reported.level is None or abs(level - reported.level) >= LEAST_CHARGE:
            reported.level = level
            self._directory.tell(HUB, BatteryLevel(record.device_id, str(record.kind), level, wireless=True))

    def _rest(self, record: DeviceRecord, reported: _Reported, state: Any) -> None:
        rested = float(state["still"]) >= REST_S
        if rested and not reported.rested:
            self._tell(record, DeviceRested(record.lease.generation))
        reported.rested = rested

    def _safety(self, record: DeviceRecord, reported: _Reported, state: Any) -> None:
        now = read_safety(state)
        if now != reported.safety:
            self._tell(record, SafetyTripped(record.lease.generation, reported.safety, now))
        reported.safety = now

    def _log_trips(self, lease_key: tuple[str, int], reported: _Reported) -> None:
        """Append the new trips of a lease to the log, unless its slot belongs to a later one."""
        device_id, generation = lease_key
        history = reported.reader.history()
        if int(history["generation"]) == generation and int(history["trips"]) > reported.trips:
            epoch_ns = self._wall_ns() - self._runtime.now_ns()
            self._append_trips(device_id, history, reported.trips, epoch_ns)
            reported.trips = int(history["trips"])

    def _idle_sleep(self, record: DeviceRecord, reported: _Reported, state: Any) -> None:
        """Report idle sleep: no motion and no command for the screensaver's time-out. The connection counts as a command."""
        time_ns = int(state["time_ns"])
        if reported.commanded_ns is None or int(state["mode"]):
            reported.commanded_ns = time_ns
        idle_s = min(float(state["still"]), (time_ns - reported.commanded_ns) * 1e-9)
        settings = self._settings.value
        idle = settings.flag(SCREENSAVER) and idle_s >= settings.number(SCREENSAVER_S)
        if idle is not reported.idle:
            self._tell(record, IdleSleepChanged(record.lease.generation, awake=not idle))
        reported.idle = idle

    def _tell(self, record: DeviceRecord, fact: DeviceRested | SafetyTripped | IdleSleepChanged) -> None:
        self._directory.tell(f"device/{record.device_id}", fact)


def read_safety(state: Any) -> SafetyState:
    """Return the safety monitors' part of a DEVICE_STATE."""
    bits = int(state["safety"])
    stage = (
        FodStage.HARD
        if bits & SafetyBit.SAFETY_HARD
        else FodStage.GUARD
        if bits & SafetyBit.SAFETY_GUARD
        else FodStage.IDLE
    )
    return SafetyState(**{name: int(state[name]) for name in COUNTERS}, fod_stage=stage)
