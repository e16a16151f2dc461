"""Settings rows of the detection of real devices: which ports are opened, how long, and when one is blocked."""

from __future__ import annotations

from collections.abc import Iterator

from actors.settings.builders import VENDOR_ID, flag, real, texts, whole
from actors.settings.messages import Constraint
from actors.settings.schema import Setting


def detection() -> Iterator[Setting]:
    """Yield the rows `devices/detection/…`; those of single drivers are in `transport/link/protocols`."""
    yield whole(
        "devices/detection/period",
        1000,
        Constraint(100, 10000),
        "Time between two looks for devices.",
        unit="ms",
    )
    yield whole(
        "devices/detection/timeout",
        2000,
        Constraint(100, 30000),
        "How long somebody behind a port has to answer before the port is closed and tried again.",
        unit="ms",
    )
    yield whole(
        "devices/detection/max_number_retry",
        3,
        Constraint(1, 10),
        "How often a device that has answered is told again to wake up before it counts as none.",
    )
    yield flag("devices/detection/block_on_loop", "Block a port that connects and drops in a loop.", default=True)
    yield whole(
        "devices/detection/loop_threshold",
        5,
        Constraint(1, 100),
        "Drops and reconnections within devices/detection/loop_window that make a loop.",
    )
    yield real(
        "devices/detection/loop_window",
        10,
        1,
        600,
        "Time in which reconnections are counted for devices/detection/loop_threshold.",
        unit="s",
    )
    yield texts("devices/detection/blocked_ports", (), "Ports that are never opened, by base name or path.")
    yield texts(
        "devices/detection/serial_ports",
        (),
        "Serial ports to open although nothing on USB says that a device is there, by path, such as those of emulators.",
    )
    yield texts(
        "devices/detection/advanced/allowed_vendor_id_filter",
        (),
        "USB vendor ids to look at; an empty list: those of every known device.",
        rule=VENDOR_ID,
        advanced=True,
    )
    yield texts(
        "devices/detection/advanced/port_name_substring_filter",
        (),
        "Open only ports whose name contains one of these; an empty list: every port.",
        advanced=True,
    )
