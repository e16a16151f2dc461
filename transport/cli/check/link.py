"""Count what a device's port receives and sends, between two metrics pages.

A page may be a second old. So time is that of the loop's own ticks on the two pages, and the second page is asked for until it is late enough.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from transport.cli.check.measured import Link
from transport.cli.devices import metrics_of
from transport.cli.exit_codes import CommandError

if TYPE_CHECKING:
    from transport.cli.client import Client
    from transport.cli.devices import ShownDevice

COUNTERS: Final = {
    "received": "hapticd_port_frames_received_total",
    "sent": "hapticd_port_frames_sent_total",
    "bad": "hapticd_port_frames_bad_total",
    "late": "hapticd_port_orders_late_total",
    "errors": "hapticd_port_errors_total",
}
COUNTED_S: Final = 1.0  # of the loop's time, at least
PATIENCE_S: Final = 6.0  # for a page that is late enough
PAUSE_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class Counted:
    """The counters of a port, by name, on one metrics page."""

    loop_s: float = 0.0  # the loop's time, in periods of its target rate
    counters: Mapping[str, float] = field(
        default_factory=dict
    )  # none for a simulated device, or when they are not told


def counted(page: str, port: str) -> Counted:
    """Read the counters of a port from a metrics page."""
    metrics = metrics_of(page)

    def number(name: str) -> float:
        return metrics.get((name, ""), 0.0)

    rate = number("hapticd_loop_target_frequency_hertz")
    ticks = number("hapticd_loop_ticks_total") + number("hapticd_loop_ticks_missed_total")
    found = {name: metrics[metric, port] for name, metric in COUNTERS.items() if (metric, port) in metrics}
    return Counted(ticks / rate if rate > 0 else 0.0, found)


def read(client: Client, device: ShownDevice) -> Counted:
    """Read the counters of the device's port; none when the page cannot be read."""
    try:
        return counted(client.text("/metrics"), str(device.config.get("port", "")))
    except CommandError:
        return Counted()


def between(before: Counted, after: Counted) -> Link:
    """Return what was counted between two pages."""
    seconds = max(after.loop_s - before.loop_s, 0.0)
    if "received" not in before.counters or "received" not in after.counters:
        return Link(seconds)
    changes = {name: max(after.counters.get(name, 0.0) - before.counters.get(name, 0.0), 0.0) for name in COUNTERS}
    return Link(seconds, **changes)


async def count_since(before: Counted, client: Client, device: ShownDevice) -> Link:
    """Return what was counted since, over COUNTED_S or more; nothing is known when no page is so late."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        link = between(before, read(client, device))
        if link.seconds >= COUNTED_S or not before.counters:
            return link
        if time.monotonic() > deadline:
            return Link(link.seconds)
        await asyncio.sleep(PAUSE_S)
