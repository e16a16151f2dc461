"""`hapticd trips`: what filter and monitors did to each device, newest last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from transport.cli import completing
from transport.cli.client import device_path, results_of
from transport.cli.devices import entries, part
from transport.cli.options import Desk, service_options
from transport.cli.text import clean


@click.command("trips", short_help="show what tripped")
@click.argument("device", required=False, shell_complete=completing.devices)
@service_options
def trips_command(desk: Desk, device: str | None) -> None:
    """Show what tripped on every device with motors, or on DEVICE: an e-brake's cause, an oscillation, a stall, heat.

    Below stands how much force was taken and added since the device connected, in N·s. With --json and one DEVICE the motion before each trip.
    """
    answer = desk.client.get(f"{device_path(device or '*')}/trips")
    desk.output.document(answer)
    found = results_of(answer)
    rows = [
        (trip.get("time"), entry.get("device_id"), str(trip.get("cause")).replace("_", " "), *_values(trip))
        for entry in found
        for trip in entries(entry, "trips")
    ]
    desk.output.table(
        ("TIME", "DEVICE", "CAUSE", "VALUE", "LIMIT"), rows, "nothing tripped since the devices connected"
    )
    if found:
        desk.output.line("Force since the device connected, taken by filter, monitors and limits, and added by them:")
    for entry in found:
        desk.output.line(f"  {clean(entry.get('device_id'))}: {_changes(part(entry, 'changes'))}")


def _values(trip: Mapping[str, Any]) -> tuple[str, str]:
    unit = str(trip.get("unit") or "")
    return tuple(
        f"{value:.3g} {unit}" if isinstance(value, int | float) else "-"
        for value in (trip.get("value"), trip.get("limit"))
    )  # type: ignore[return-value]


def _changes(changes: Mapping[str, Any]) -> str:
    """Return what each took from the force and added to it."""
    told = []
    for by in changes:
        amounts = part(changes, by)
        taken, added = (amounts.get(name) for name in ("taken_n_s", "added_n_s"))
        if isinstance(taken, int | float) and isinstance(added, int | float):
            told.append(f"{clean(by)} took {taken:.2f} and added {added:.2f} N·s")
    return "; ".join(told) or "the service does not tell what was taken"
