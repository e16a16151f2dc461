"""`hapticd stop`, `resume` and `reset`: the commands that somebody types in a hurry."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click

from transport.cli import completing
from transport.cli.brakes import SLOW, Brake, brake_sentences, brakes_after_request, brakes_of, speed_of
from transport.cli.client import Client, device_path, results_of, segment
from transport.cli.devices import object_of
from transport.cli.exit_codes import ExitCode
from transport.cli.options import Desk, service_options
from transport.cli.text import clean


@click.command("stop", short_help="zero force until `hapticd resume`")
@click.argument("device", required=False, shell_complete=completing.devices)
@service_options
def stop_command(desk: Desk, device: str | None) -> None:
    """Zero force at the next tick on every device, or on DEVICE, until `hapticd resume`.

    DEVICE is an id, in upper or lower case, a type such as arm, a pattern with *, or TYPE/INDEX such as arm/0.
    """
    answer = desk.client.ask("POST", "/stop" if device is None else f"{device_path(device)}/stop")
    desk.output.document(answer)
    for entry in results_of(answer):
        if device is None:
            desk.output.line(_stopped_words(entry))
        else:
            stopped = entry.get("stopped") is True
            desk.output.line(f"{clean(entry.get('device_id'))} {'is stopped' if stopped else 'may move'}")


@click.command("resume", short_help="let devices move again")
@click.argument("device", required=False, shell_complete=completing.devices)
@service_options
def resume_command(desk: Desk, device: str | None) -> int:
    """Let every stopped device move again, or DEVICE alone. Only with DEVICE it also ends an e-brake that waits (features/brake_latch).

    Forces of clients act at once: take the hand off the handle, or hold it. An e-brake ends when the device has been slower than
    300 mm/s for 1 s: move its handle slowly. DEVICE is an id, a type, a pattern with *, or TYPE/INDEX. Exit code 1 when a device is still held.
    """
    return _resume_everything(desk) if device is None else _resume(desk, device)


def _resume_everything(desk: Desk) -> int:
    answer = desk.client.ask("DELETE", "/stop")
    brakes = brakes_of(desk.client)
    desk.output.document({**object_of(answer), "brakes": brakes})
    for entry in results_of(answer):
        desk.output.line(_stopped_words(entry, brakes))
    for sentence in brake_sentences(brakes):
        desk.output.line(sentence)
    return ExitCode.FOUND if brakes else ExitCode.OK


def _resume(desk: Desk, device: str) -> int:
    path = device_path(device)
    answer = desk.client.ask("DELETE", f"{path}/stop")
    everything = object_of(desk.client.get("/stop")).get("everything") is True
    # An older service has no such route, and a device that left meanwhile nothing to resume.
    _, requested, _ = desk.client.exchange("POST", f"{path}/resume")
    resumed = {str(entry.get("device_id")) for entry in results_of(requested) if entry.get("resumed") is True}
    brakes = brakes_after_request(desk.client, resumed)
    held = False
    for entry in results_of(answer):
        name = str(entry.get("device_id"))
        entry.update(everything=everything, resumed=name in resumed, brake=brakes.get(name))
        held = held or everything or entry.get("stopped") is True or name in brakes
        desk.output.line(_resumed_words(desk.client, entry))
    desk.output.document(answer)
    return ExitCode.FOUND if held else ExitCode.OK


def _resumed_words(client: Client, entry: dict[str, Any]) -> str:
    """Return what became of one device."""
    device_id, brake = str(entry.get("device_id")), entry.get("brake")
    name = clean(device_id)
    if entry["everything"]:
        return f"{name} is stopped with everything: hapticd resume"
    if entry.get("stopped") is True:
        return f"{name} is stopped"
    if brake == Brake.WAITING:
        again = "it has tripped again, " if entry["resumed"] else ""
        return f"{name} is held by its e-brake: {again}hapticd resume {name}"
    if brake == Brake.BRAKING:
        speed = speed_of(client, device_id)
        now = "" if speed is None else f" It moves at {1000 * speed:.0f} mm/s now."
        return f"{name} brakes on, and may move once it has been {SLOW}: move its handle slowly.{now}"
    return f"{name} may move: its e-brake has ended" if entry["resumed"] else f"{name} may move"


def _stopped_words(entry: dict[str, Any], brakes: Collection[str] = ()) -> str:
    """Return what an answer of `/stop` says."""
    if entry.get("everything") is True:
        return "everything is stopped"
    still = [clean(one) for one in entry.get("devices") or ()]
    if still:
        return f"still stopped: {', '.join(still)}"
    return f"everything but {', '.join(map(clean, brakes))} may move" if brakes else "everything may move"


@click.command("reset", short_help="unblock a port")
@click.argument("port", shell_complete=completing.ports)
@service_options
def reset_command(desk: Desk, port: str) -> None:
    """Unblock PORT, or try an unusable one again at once. PORT is a name or a path that `hapticd ports` lists."""
    answer = desk.client.ask("POST", f"/ports/{segment(port)}/reset")
    desk.output.document(answer)
    for entry in results_of(answer):
        desk.output.line(f"port {clean(entry.get('port'))} is {clean(entry.get('state'))}")
