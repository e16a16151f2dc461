"""`hapticd stop`, `resume` and `reset`: the commands that somebody types in a hurry."""

from __future__ import annotations

import click

from transport.cli.client import device_path, results_of, segment
from transport.cli.options import Desk, service_options
from transport.cli.text import clean


@click.command("stop", short_help="zero force until `hapticd resume`")
@click.argument("device", required=False)
@service_options
def stop_command(desk: Desk, device: str | None) -> None:
    """Zero force at the next tick on every device, or on DEVICE, until `hapticd resume`.

    DEVICE is an id, a pattern with *, or TYPE/INDEX such as arm/0.
    """
    _latch(desk, "POST", device)


@click.command("resume", short_help="let devices move again")
@click.argument("device", required=False)
@service_options
def resume_command(desk: Desk, device: str | None) -> None:
    """Let every device move again, or DEVICE alone.

    Forces of clients act at once: take the hand off the handle, or hold it. DEVICE is an id, a pattern with *, or TYPE/INDEX.
    """
    _latch(desk, "DELETE", device)


def _latch(desk: Desk, method: str, device: str | None) -> None:
    answer = desk.client.ask(method, "/stop" if device is None else f"{device_path(device)}/stop")
    desk.output.document(answer)
    for entry in results_of(answer):
        if device is None:
            name = "everything"
            stopped = entry.get("everything") is True
            still = [clean(one) for one in entry.get("devices") or ()]
            if still and not stopped:
                desk.output.line(f"still stopped: {', '.join(still)}")
                continue
        else:
            name, stopped = clean(entry.get("device_id")), entry.get("stopped") is True
        desk.output.line(f"{name} is stopped" if stopped else f"{name} may move")


@click.command("reset", short_help="unblock a port")
@click.argument("port")
@service_options
def reset_command(desk: Desk, port: str) -> None:
    """Unblock PORT, or try an unusable one again at once. PORT is a name or a path that `hapticd ports` lists."""
    answer = desk.client.ask("POST", f"/ports/{segment(port)}/reset")
    desk.output.document(answer)
    for entry in results_of(answer):
        desk.output.line(f"port {clean(entry.get('port'))} is {clean(entry.get('state'))}")
