"""Public interface of the device slice (inventory, device-wide configuration, stop): transport imports only this module of it."""

from __future__ import annotations

from actors.device.configuration import MOST_GRAVITY
from actors.device.events import sent_nothing
from actors.device.inventory import sort_devices
from actors.device.messages import (
    MANAGER,
    AddSimulated,
    ConfigureDevice,
    ConfirmInventory,
    DeviceRecord,
    DeviceWide,
    Inventory,
    NameDevice,
    Phase,
    RemoveSimulated,
    ResumeDevice,
    SaveConfiguration,
    Simulate,
    SimulatedSpec,
    StopStatus,
    actor_name,
    unsupported_event,
)
from actors.device.names import LONGEST_DEVICE_NAME
from actors.device.params import force_scale
from actors.device.trips import Trip

__all__ = [
    "LONGEST_DEVICE_NAME",
    "MANAGER",
    "MOST_GRAVITY",
    "AddSimulated",
    "ConfigureDevice",
    "ConfirmInventory",
    "DeviceRecord",
    "DeviceWide",
    "Inventory",
    "NameDevice",
    "Phase",
    "RemoveSimulated",
    "ResumeDevice",
    "SaveConfiguration",
    "Simulate",
    "SimulatedSpec",
    "StopStatus",
    "Trip",
    "actor_name",
    "force_scale",
    "sent_nothing",
    "sort_devices",
    "unsupported_event",
]
