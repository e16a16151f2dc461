"""Client of hapticd, the haptic device service.

    import hapticd_client as haptics

    with haptics.connect() as service:             # leaving the block, however, means zero force
        arm = service.arm
        for turn in service.loop(rate=1000):
            depth = 0.12 - arm.position[2]
            arm.force = 0, 0, max(0.0, 500 * depth)

`haptics.aio.connect` is the same for asyncio; `connect("local:")` uses the service's shared memory.
"""

from __future__ import annotations

from hapticd_client import aio
from hapticd_client.core.events import Event
from hapticd_client.core.operations import Calibration, Finding, Pairing, Setting
from hapticd_client.core.pacing import LoopStatistics, Turn
from hapticd_client.core.scene import Attract, Box, Capsule, Constant, Cylinder, Damper, Plane, Sphere, Spring
from hapticd_client.core.session import ServiceState
from hapticd_client.core.state import DeviceState
from hapticd_client.core.version import INTERFACE, VERSION
from hapticd_client.device import Device
from hapticd_client.errors import (
    DeviceGone,
    Fault,
    FrameErrors,
    HapticsError,
    InvalidCommand,
    LateTurn,
    LoopTooSlow,
    NoService,
    NoSuchDevice,
    NotSupported,
    ProtocolBroken,
    Refused,
    ServiceLost,
    ServiceSilent,
    SessionClosed,
    SlowLoopWarning,
    WrongInstance,
    WrongVersion,
    WrongWords,
)
from hapticd_client.events import Events
from hapticd_client.service import Service, connect

__version__ = VERSION

__all__ = [
    "INTERFACE",
    "Attract",
    "Box",
    "Calibration",
    "Capsule",
    "Constant",
    "Cylinder",
    "Damper",
    "Device",
    "DeviceGone",
    "DeviceState",
    "Event",
    "Events",
    "Fault",
    "Finding",
    "FrameErrors",
    "HapticsError",
    "InvalidCommand",
    "LateTurn",
    "LoopStatistics",
    "LoopTooSlow",
    "NoService",
    "NoSuchDevice",
    "NotSupported",
    "Pairing",
    "Plane",
    "ProtocolBroken",
    "Refused",
    "Service",
    "ServiceLost",
    "ServiceSilent",
    "ServiceState",
    "SessionClosed",
    "Setting",
    "SlowLoopWarning",
    "Sphere",
    "Spring",
    "Turn",
    "WrongInstance",
    "WrongVersion",
    "WrongWords",
    "aio",
    "connect",
]
