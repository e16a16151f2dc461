"""Detect devices that send no new data: DeviceSilent when data become stale and when they time out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from actors.device.messages import DeviceSilent, Phase
from fastpath.layout.constants import StatusFlag
from fastpath.layout.dtypes import DEVICE_STATE

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord, Inventory
    from actors.kit.directory import Directory
    from actors.kit.published import Published
    from fastpath.arena.access import Reader
    from fastpath.arena.runtime import Runtime

# Called every 5 ms it reports stale within 25 ms of the last data and gone within 505; the interface promises 30 and 600.
STALE_NS: Final = 20_000_000
GONE_NS: Final = 500_000_000


@dataclass(slots=True)
class _Reported:
    """Last reported silence of one device since it connected."""

    reader: Reader
    stale: bool = False
    gone: bool = False


class SilenceWatch:
    """Reports each silence of a device once, when it begins. A sleeping real device may be silent. Timekeeper's thread only."""

    def __init__(self, directory: Directory, runtime: Runtime, inventory: Published[Inventory]) -> None:
        self._directory = directory
        self._runtime = runtime
        self._inventory = inventory
        self._reported: dict[tuple[str, int], _Reported] = {}
        # Reused for each device: allocating one costs ten times a snapshot.
        self._state: Any = np.empty((), dtype=DEVICE_STATE)

    def poll(self) -> None:
        """Report devices whose newest data became too old since the last call."""
        # The loop's tick first: a device's state that is read later is never older than it.
        now_ns = int(self._runtime.loop_state()["tick_ns"])
        before, self._reported = self._reported, {}
        state = self._state
        for record in self._inventory.value.devices:
            lease_key = (record.device_id, record.lease.generation)
            reported = before.get(lease_key) or _Reported(self._runtime.reader(record.lease))
            self._reported[lease_key] = reported
            reported.reader.snapshot(state)
            may_be_silent = record.phase is Phase.ASLEEP and not record.identity.simulated
            if int(state["generation"]) == record.lease.generation and not may_be_silent:
                measured = bool(int(state["flags"]) & StatusFlag.FLAG_MEASURED)
                self._check(record, reported, now_ns - int(state["time_ns"]), measured=measured)

    def _check(self, record: DeviceRecord, reported: _Reported, silent_ns: int, *, measured: bool) -> None:
        """Report a silence that begins. Without any data yet a device cannot be stale, but it can be gone."""
        stale, gone = measured and silent_ns > STALE_NS, silent_ns >= GONE_NS
        for begins, lost in ((stale and not reported.stale, False), (gone and not reported.gone, True)):
            if begins:
                message = DeviceSilent(record.lease.generation, gone=lost, silent_ns=silent_ns)
                self._directory.tell(f"device/{record.device_id}", message)
        reported.stale, reported.gone = stale, gone
