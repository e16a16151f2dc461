"""DeviceWatch: reads device states on the timekeeper's thread and reports changes of battery charge, rest and safety monitors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from actors.device.messages import (
    DeviceDozed,
    DeviceRested,
    FodStage,
    SafetySeen,
    SafetyTripped,
)
from actors.event.messages import HUB, BatteryLevel
from actors.values.identity import Connection
from fastpath.layout.constants import SafetyBit, StatusFlag
from fastpath.layout.dtypes import DEVICE_STATE

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord, Inventory
    from actors.kit.directory import Directory
    from actors.kit.published import Published
    from actors.settings.messages import SettingsView
    from fastpath.arena.access import Reader
    from fastpath.arena.runtime import Runtime

REST_S: Final = 300.0
LEAST_CHARGE: Final = 0.001
NOTHING_YET: Final = SafetySeen()
COUNTERS: Final = ("ebrakes", "ebrake_releases", "stalls", "ceilings", "deratings", "oscillations", "grip_drops")
SCREENSAVER: Final = "features/screensaver/enabled"
SCREENSAVER_S: Final = "features/screensaver/timeout"


@dataclass(slots=True)
class _Seen:
    """What was reported last of one device since it connected."""

    reader: Reader
    level: float | None = None  # battery charge, 0 to 1
    rested: bool = False
    safety: SafetySeen = NOTHING_YET
    commanded_ns: int | None = None  # loop time of the last tick with a command
    dozes: bool = False


class DeviceWatch:
    """Reports each change of a device's state once. Timekeeper's thread only."""

    def __init__(
        self,
        directory: Directory,
        runtime: Runtime,
        inventory: Published[Inventory],
        settings: Published[SettingsView],
    ) -> None:
        self._settings = settings
        self._directory = directory
        self._runtime = runtime
        self._inventory = inventory
        self._seen: dict[tuple[str, int], _Seen] = {}
        # Reused for each device: allocating one costs ten times a snapshot.
        self._state: Any = np.empty((), dtype=DEVICE_STATE)

    def look(self) -> None:
        """Report changes since the last call; a device without a measurement is skipped."""
        before, self._seen = self._seen, {}
        for record in self._inventory.value.devices:
            life = (record.device_id, record.lease.generation)
            seen = before.get(life) or _Seen(self._runtime.reader(record.lease))
            self._seen[life] = seen
            state = seen.reader.snapshot(self._state)
            if int(state["generation"]) == record.lease.generation and int(state["flags"]) & StatusFlag.FLAG_MEASURED:
                self._charge(record, seen, state)
                self._rest(record, seen, state)
                if record.kind.has_motors:
                    self._safety(record, seen, state)
                    self._doze(record, seen, state)

    def _charge(self, record: DeviceRecord, seen: _Seen, state: Any) -> None:
        identity = record.identity
        if identity.connection is not Connection.WIRELESS or (identity.found and not identity.found.reads_battery):
            return
        level = round(float(state["battery_level"]), 6)
        if seen.level is None or abs(level - seen.level) >= LEAST_CHARGE:
            seen.level = level
            self._directory.tell(HUB, BatteryLevel(record.device_id, str(record.kind), level, wireless=True))

    def _rest(self, record: DeviceRecord, seen: _Seen, state: Any) -> None:
        rested = float(state["still"]) >= REST_S
        if rested and not seen.rested:
            self._tell(record, DeviceRested(record.lease.generation))
        seen.rested = rested

    def _safety(self, record: DeviceRecord, seen: _Seen, state: Any) -> None:
        now = safety_seen(state)
        if now != seen.safety:
            self._tell(record, SafetyTripped(record.lease.generation, seen.safety, now))
        seen.safety = now

    def _doze(self, record: DeviceRecord, seen: _Seen, state: Any) -> None:
        """Report idle sleep: no motion and no command for the screensaver's time-out. The connection counts as a command."""
        time_ns = int(state["time_ns"])
        if seen.commanded_ns is None or int(state["mode"]):
            seen.commanded_ns = time_ns
        idle_s = min(float(state["still"]), (time_ns - seen.commanded_ns) * 1e-9)
        settings = self._settings.value
        dozes = settings.flag(SCREENSAVER) and idle_s >= settings.number(SCREENSAVER_S)
        if dozes is not seen.dozes:
            self._tell(record, DeviceDozed(record.lease.generation, awake=not dozes))
        seen.dozes = dozes

    def _tell(self, record: DeviceRecord, fact: DeviceRested | SafetyTripped | DeviceDozed) -> None:
        self._directory.tell(f"device/{record.device_id}", fact)


def safety_seen(state: Any) -> SafetySeen:
    """Return the safety monitors' part of a DEVICE_STATE."""
    bits = int(state["safety"])
    stage = (
        FodStage.HARD
        if bits & SafetyBit.SAFETY_HARD
        else FodStage.GUARD
        if bits & SafetyBit.SAFETY_GUARD
        else FodStage.IDLE
    )
    return SafetySeen(**{name: int(state[name]) for name in COUNTERS}, fod_stage=stage)
