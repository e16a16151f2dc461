"""The stop switch: set and release the stop latch on the caller's own thread, without any actor, then notify the actors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from actors.device.messages import MANAGER, Inventory, StopStatus, StopSwitched
from actors.device.stop_latch import StopLatch
from actors.event.messages import HUB, Emit
from actors.kit.published import Published
from actors.settings.messages import STORE, SaveLedger

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord
    from actors.kit.message import Message
    from fastpath.arena.runtime import Lease, Runtime

STOP_SECTION: Final = "stop"


class StopSwitch:
    """Any thread. The only writer of the latch, of the devices' stop words and of the latch's ledger section.

    The latch is set before the inventory is read, and DeviceManager publishes an inventory before it calls `apply`: so one of the two
    always stops a device that connects meanwhile.
    """

    def __init__(
        self,
        runtime: Runtime,
        inventory: Published[Inventory],
        latch: StopLatch,
        tell: Callable[[str, Message], object],
    ) -> None:
        """`latch` is the initial state; `tell` sends to a name and never waits."""
        self._runtime = runtime
        self._inventory = inventory
        self._tell = tell
        self._lock = threading.Lock()
        self.latch = Published(latch)

    def stop(self, device_ids: tuple[str, ...] | None = None, peer: str = "") -> StopStatus:
        """Zero output of these devices (None = all) from the next tick until released; NoSuchDevice, then none is stopped."""
        self._check(device_ids)
        with self._lock:
            self._switch(self.latch.value.stop(device_ids), "stopped", peer)
        return self._shown()

    def release(self, device_ids: tuple[str, ...] | None = None, peer: str = "") -> StopStatus:
        """Release these devices (None = all); NoSuchDevice, then none is released."""
        self._check(device_ids)
        with self._lock:
            self._switch(self.latch.value.release(device_ids), "released", peer)
        return self._shown()

    @property
    def status(self) -> StopStatus:
        """The stopped devices: connected ones with motors, then absent ones that were stopped by name."""
        latch, here = self.latch.value, self._inventory.value.devices
        movers = (record.device_id for record in here if record.kind.has_motors)
        away = latch.device_ids.difference(record.device_id for record in here)
        return StopStatus(latch.everything, (*filter(latch.holds, movers), *sorted(away)))

    def hold(self, lease: Lease, device_id: str) -> bool:
        """Set the stop word of a device that is not in the inventory yet. Return whether it is stopped."""
        with self._lock:
            stopped = self.latch.value.holds(device_id)
            self._runtime.stop_device(lease, stopped)
            return stopped

    def apply(self) -> StopLatch:
        """Set the stop word of every device in the inventory. Return the latch that they follow."""
        with self._lock:
            return self._apply()

    def save(self) -> None:
        """Send the newest latch to the ledger."""
        with self._lock:
            self._save()

    def _switch(self, latch: StopLatch, what: str, peer: str) -> None:
        before = self.latch.value
        self.latch.replace(latch)
        self._apply()
        self._save()
        for record in self._inventory.value.devices:
            if record.kind.has_motors and before.holds(record.device_id) != latch.holds(record.device_id):
                self._tell(HUB, _event(record, what, peer))

    def _shown(self) -> StopStatus:
        self._tell(MANAGER, StopSwitched())
        return self.status

    def _apply(self) -> StopLatch:
        latch = self.latch.value
        for record in self._inventory.value.devices:
            self._runtime.stop_device(record.lease, latch.holds(record.device_id))
        return latch

    def _save(self) -> None:
        self._tell(STORE, SaveLedger(STOP_SECTION, self.latch.value.as_json()))

    def _check(self, device_ids: tuple[str, ...] | None) -> None:
        for device_id in device_ids or ():
            self._inventory.value.get(device_id)


def _event(record: DeviceRecord, what: str, peer: str) -> Emit:
    return Emit(
        "device-safety-triggered",
        {
            "device_id": record.device_id,
            "device_family": str(record.kind),
            "safety_type": what,
        },
        f"{record.kind} {record.device_id} was {what} by {peer or 'an operator'}",
    )
