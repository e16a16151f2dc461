"""ManagerActions: the methods of DeviceManager that SimulatedDevices and RealDevices call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from actors.device.inventory import Move, remove_device

if TYPE_CHECKING:
    from actors.device.messages import DeviceIdentity, DeviceRecord, PlugDue, SimulationChanged
    from actors.kit.message import Message
    from actors.values.simulation import Simulation


class ManagerActions(Protocol):
    """Methods of DeviceManager; called on its thread only."""

    def admit(self, identity: DeviceIdentity) -> DeviceRecord:
        """Add the device to the inventory and start its actor; Busy while its slot is not free."""
        ...

    def plug(self, identity: DeviceIdentity, wanted: Simulation) -> None:
        """Add a simulated device to the inventory and start its actor, unless its port is blocked; Busy while its slot is not free."""
        ...

    def lose(self, record: DeviceRecord, why: str, *, moves: Move = remove_device) -> DeviceRecord:
        """Set its force to zero, stop its actor and apply `moves` to the inventory."""
        ...

    def simulated(self, record: DeviceRecord, told: SimulationChanged) -> None:
        """Show the record's simulation in the inventory and tell the device's actor."""
        ...

    def later(self, seconds: float, due: PlugDue) -> None:
        """Send `due` to the manager after some seconds; a later call for the same device replaces it."""
        ...

    def tell(self, name: str, message: Message) -> None:
        """Send a message to the actor `name`."""
        ...
