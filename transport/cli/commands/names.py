"""`hapticd name` and `identify`: which device is which."""

from __future__ import annotations

import click

from transport.cli import completing
from transport.cli.client import device_path, results_of
from transport.cli.exit_codes import WrongUsage
from transport.cli.options import Desk, service_options
from transport.cli.text import clean


@click.command("name", short_help="show, give or take away a device's name")
@click.argument("device", shell_complete=completing.devices)
@click.argument("name", required=False)
@click.option("--remove", is_flag=True, help="Take the name of DEVICE away.")
@service_options
def name_command(desk: Desk, device: str, name: str | None, *, remove: bool) -> None:
    """Show the name of DEVICE, or call it NAME, such as "left arm": every command takes it in place of the id. It stays with the device.

    DEVICE is an id, a name, a type, a pattern with *, or TYPE/INDEX.
    """
    if remove and name is not None:
        raise WrongUsage("--remove takes no name: leave it out.")
    path = f"{device_path(device)}/config/name"
    if remove:
        answer = desk.client.ask("DELETE", path)
    elif name is None:
        answer = desk.client.get(path)
    else:
        answer = desk.client.ask("POST", path, {"name": name})
    desk.output.document(answer)
    for entry in results_of(answer):
        desk.output.line(f"{clean(entry.get('device_id', device))}: {clean(entry.get('name') or 'no name')}")


@click.command("identify", short_help="make a device vibrate")
@click.argument("device", shell_complete=completing.devices)
@service_options
def identify_command(desk: Desk, device: str) -> None:
    """Make DEVICE vibrate three times, so that the hand on it knows which one it is. `hapticd monitor` shows a handle's buttons.

    DEVICE is an id, a name, a type, a pattern with *, or TYPE/INDEX.
    """
    answer = desk.client.ask("POST", f"{device_path(device)}/identify")
    desk.output.document(answer)
    for entry in results_of(answer):
        if entry.get("identified") is True:
            desk.output.line(f"{clean(entry.get('device_id'))} has vibrated three times")
