"""`hapticd calibrate` and `pair`."""

from __future__ import annotations

import time
from typing import Any, Final

import click

from transport.cli import completing
from transport.cli.client import device_path, results_of
from transport.cli.exit_codes import ExitCode, WrongUsage
from transport.cli.options import Desk, seconds_option, service_options
from transport.cli.text import clean

POLL_S: Final = 0.1
RUNNING: Final = "running"


@click.command("calibrate", short_help="calibrate a device with its handle")
@click.argument("device", shell_complete=completing.devices)
@click.option("--no-wait", is_flag=True, help="Return when the calibration has begun.")
@seconds_option("--wait", "60", "How long the calibration may take.")
@service_options
def calibrate_command(desk: Desk, device: str, *, no_wait: bool, wait: float) -> int:
    """Calibrate DEVICE together with its handle, and wait for the end. Forces are zero meanwhile.

    DEVICE is an id or TYPE/INDEX such as arm/0. Exit code 1 when the calibration failed or did not end in time.
    """
    path = f"{device_path(device)}/calibration"
    answer = desk.client.ask("POST", path)
    deadline = time.monotonic() + wait
    while not no_wait and time.monotonic() < deadline and _any(answer, RUNNING):
        time.sleep(POLL_S)
        answer = desk.client.get(path)
    desk.output.document(answer)
    entries = results_of(answer)
    for entry in entries:
        reason = f" ({clean(entry['reason'])})" if entry.get("reason") else ""
        desk.output.line(f"{clean(entry.get('device_id', device))}: {clean(entry.get('state'))}{reason}")
    good = {"calibrated", RUNNING} if no_wait else {"calibrated"}
    return ExitCode.OK if entries and all(entry.get("state") in good for entry in entries) else ExitCode.FOUND


def _any(answer: Any, state: str) -> bool:
    return any(entry.get("state") == state for entry in results_of(answer))


@click.command("pair", short_help="show, make or dissolve a pair")
@click.argument("device", shell_complete=completing.devices)
@click.argument("other", required=False, shell_complete=completing.devices)
@click.option("--dissolve", is_flag=True, help="Dissolve the pair of DEVICE.")
@service_options
def pair_command(desk: Desk, device: str, other: str | None, *, dissolve: bool) -> None:
    """Show the pair of DEVICE, or pair it with OTHER by hand; both are an id or TYPE/INDEX such as arm/0. A pair made by hand stays until --dissolve."""
    path = f"{device_path(device)}/config/paired_with"
    if dissolve and other is not None:
        raise WrongUsage("--dissolve takes one device: leave the other one out.")
    if dissolve:
        answer = desk.client.ask("DELETE", path)
    elif other is not None:
        from transport.cli.check.measuring import find_device

        # The service takes an id alone.
        wanted, _ = find_device(desk.client, other)
        answer = desk.client.ask("POST", path, {"device_id": wanted.device_id})
    else:
        answer = desk.client.get(path)
    desk.output.document(answer)
    for entry in results_of(answer):
        partner, origin = entry.get("paired_with"), entry.get("origin")
        name = clean(entry.get("device_id", device))
        desk.output.line(
            f"{name} is paired with {clean(partner)} ({clean(origin)})" if partner else f"{name} has no pair"
        )
