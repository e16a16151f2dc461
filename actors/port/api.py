"""Public interface of the port slice (serial and USB ports, their links, connection loops): transport imports only this module of it."""

from __future__ import annotations

from actors.port.link_interface import (
    CalibrationResult,
    DeviceFacts,
    Link,
    LinkCounters,
    LinkFacts,
    NoDeviceAnswers,
    OpenLimits,
    PortUnusable,
)
from actors.port.messages import PORTS, PortState, PortStatus, PortTable, ResetPort
from actors.port.port_filter import ENABLED

__all__ = [
    "ENABLED",
    "PORTS",
    "CalibrationResult",
    "DeviceFacts",
    "Link",
    "LinkCounters",
    "LinkFacts",
    "NoDeviceAnswers",
    "OpenLimits",
    "PortState",
    "PortStatus",
    "PortTable",
    "PortUnusable",
    "ResetPort",
]
