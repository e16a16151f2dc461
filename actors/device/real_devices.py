"""Real devices in DeviceManager: lease a slot when a link reports a device, free it when the link is closed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from actors.device.messages import DeviceIdentity, DeviceLost, DeviceRecord
from actors.device.real_identity import identity_of, own_id
from actors.device.simulated_identity import MOST_DEVICES
from actors.kit.errors import Busy
from actors.port.messages import DeviceAdmitted, DeviceFound, DeviceRefused, LinkClosed, link_name

if TYPE_CHECKING:
    from actors.device.manager_actions import ManagerActions
    from actors.device.memory import DeviceMemory
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from actors.port.messages import PortTable

# A slot that was left is free after the next tick; for room somebody has to take a device away.
LEAVING_S: Final = 0.05
FULL_S: Final = 5.0

logger = logging.getLogger(__name__)


class RealDevices:
    """Used on the manager's thread only; what it knows is in the inventory."""

    def __init__(
        self,
        inventory: Published[Inventory],
        memory: Published[DeviceMemory],
        ports: Published[PortTable],
        manager: ManagerActions,
    ) -> None:
        self._inventory = inventory
        self._memory = memory
        self._ports = ports
        self._manager = manager

    def found(self, message: DeviceFound) -> None:
        """Admit it, or say that there is no room yet; one that is here already keeps its slot, and one that moved leaves the old one."""
        port, found = message.port, message.found
        if self._ports.value.is_blocked(port):
            return
        record = self._same(message)
        if record is not None and record.identity.port != port:
            self._manager.lose(record, f"it is on port {port} now")
            record = None
        try:
            record = record or self._admit(message)
        except Busy as busy:
            full = len(self._everybody()) >= MOST_DEVICES
            if full:
                fields = {"device": found.device_id, "port": port}
                shown = found.kind, found.device_id, port, busy.sentence
                logger.warning("%s %s on %s has to wait: %s", *shown, extra=fields)
            refused = DeviceRefused(message.opening, found.device_id, FULL_S if full else LEAVING_S)
            self._manager.tell(link_name(port), refused)
            return
        admitted = DeviceAdmitted(message.opening, found.device_id, record.device_id, record.lease)
        self._manager.tell(link_name(port), admitted)

    def closed(self, message: LinkClosed) -> None:
        """Remove every device of a closed link."""
        for record in self._inventory.value.devices:
            if not record.identity.simulated and record.identity.port == message.port:
                self._manager.lose(record, message.why)

    def lost(self, message: DeviceLost) -> None:
        """Remove a device that has gone, and tell its link."""
        record = self._inventory.value.find(message.device_id)
        if record is not None and record.lease.generation == message.generation:
            self._manager.lose(record, message.why)

    def _admit(self, message: DeviceFound) -> DeviceRecord:
        here = self._everybody()
        if len(here) >= MOST_DEVICES:
            raise Busy(f"there are {MOST_DEVICES} devices, which is the most: take one away")
        found = message.found
        device_id = own_id(found, {identity.device_id for identity in here})
        if device_id != found.device_id:
            logger.warning(
                '%s "%s" on %s is called %s here: that id is taken or none',
                found.kind,
                found.device_id,
                message.port,
                device_id,
                extra={"device": device_id, "port": message.port},
            )
        number = self._memory.value.number(device_id)
        return self._manager.admit(identity_of(found, message.port, device_id, number))

    def _same(self, message: DeviceFound) -> DeviceRecord | None:
        """Return the record of the same device: same kind, uuid and id; a uuid of zeros never proves that two are the same."""
        for record in self._inventory.value.devices:
            known = record.identity.found
            told_apart = record.identity.port == message.port or message.found.uuid.strip("0")
            if (
                known is not None
                and told_apart
                and (known.kind, known.uuid, known.device_id)
                == (
                    message.found.kind,
                    message.found.uuid,
                    message.found.device_id,
                )
            ):
                return record
        return None

    def _everybody(self) -> list[DeviceIdentity]:
        inventory = self._inventory.value
        return [*(record.identity for record in (*inventory.devices, *inventory.unplugged)), *inventory.withheld]
