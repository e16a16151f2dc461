"""`hapticd status`, `devices`, `ports` and `sessions`: what a service shows of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from transport.cli.brakes import Brake, brake_sentences, brakes_of
from transport.cli.client import Client
from transport.cli.devices import ShownDevice, devices_of, entries, metrics_of, object_of
from transport.cli.exit_codes import ExitCode, Refused, ServiceFailed
from transport.cli.options import Desk, service_options
from transport.cli.output import tone_of
from transport.cli.text import clean


@click.command("status", short_help="say whether the service works")
@service_options
def status_command(desk: Desk) -> int:
    """Say whether the service works: its loop, devices, ports, sessions, stops and e-brakes.

    Exit code 1 when it is not ready, a device is not ready, stopped or held by its e-brake, or a port is blocked.
    """
    found = read_status(desk.client)
    desk.output.document(found)
    for name, text in status_lines(found):
        desk.output.line(f"{name:<9} {text}", tone_of(name))
    return ExitCode.FOUND if found["problems"] else ExitCode.OK


def read_status(client: Client) -> dict[str, Any]:
    """Return the document of `status --json`; NoService, Refused, ServiceFailed."""
    version = client.get("/version")
    _, readiness, obstacle = client.exchange("GET", "/readyz")
    found: dict[str, Any] = {
        "url": client.address.url,
        "version": version.get("project_version") if isinstance(version, dict) else None,
        "ready": obstacle is None,
        "reason": obstacle or "",
        "loop": {},
        "devices": [],
        "ports": [],
        "sessions": 0,
        "stop": {"stopped": False, "everything": False, "devices": []},
        "brakes": {},
    }
    try:
        found["devices"] = [
            {
                "device_id": one.device_id,
                "type": one.kind,
                "name": one.name or None,
                "ready": one.ready,
                "connection": one.config.get("connection"),
            }
            for one in devices_of(client.get("/devices"))
        ]
        found["ports"] = [
            {name: port.get(name) for name in ("port", "state", "reason", "device_id")}
            for port in entries(client.get("/ports"), "ports")
        ]
        found["sessions"] = object_of(client.get("/sessions")).get("session_count", 0)
        found["stop"] = {**found["stop"], **object_of(client.get("/stop"))}
        found["brakes"] = brakes_of(client)
        found["loop"] = _loop(metrics_of(client.text("/metrics")))
    except (Refused, ServiceFailed) as error:
        # While it starts or stops a service answers little else than why.
        found["ready"] = False
        found["reason"] = found["reason"] or error.sentence
    found["interruptions"] = entries(readiness, "interruptions")
    found["problems"] = list(problems_of(found))
    return found


def problems_of(found: dict[str, Any]) -> list[str]:
    """Return one sentence for each thing in a status that is not as it should be."""
    problems = [] if found["ready"] else [f"not ready: {clean(found['reason'])}"]
    if found["stop"].get("everything"):
        problems.append("everything is stopped: hapticd resume")
    else:
        problems += [
            f"{clean(one)} is stopped: hapticd resume {clean(one)}" for one in found["stop"].get("devices") or ()
        ]
    problems += brake_sentences(found["brakes"])
    problems += [f"{clean(one['device_id'])} is not ready" for one in found["devices"] if not one["ready"]]
    for one in found["ports"]:
        if one["state"] == "blocked":
            problems.append(
                f"port {clean(one['port'])} is blocked ({clean(one['reason'])}): hapticd reset {clean(one['port'])}"
            )
    for one in found["interruptions"]:
        problems.append(
            f"{clean(one.get('device_id'))} lost force in the last minute ({clean(one.get('cause'))}): hapticd doctor"
        )
    return problems


def status_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines of `status` for people, each with its name."""
    ready = "not ready"
    if found["ready"]:
        count = len(found["problems"])
        ready = "ready" if not count else f"ready, but for {count} problem{'s' if count > 1 else ''}"
    devices = [
        " ".join(clean(one[key]) for key in ("type", "device_id", "name") if one[key]) for one in found["devices"]
    ]
    states = Counter(port_words(one) for one in found["ports"])
    lines = [
        ("service", f"hapticd {clean(found['version'])} at {found['url']}: {ready}"),
        ("loop", _loop_words(found["loop"])),
        ("devices", ", ".join(devices) or "none"),
        ("ports", ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"),
        ("sessions", clean(found["sessions"])),
    ]
    return lines + [("problem", problem) for problem in found["problems"]]


@click.command("version", short_help="print the versions")
@service_options
def version_command(desk: Desk) -> None:
    """Print the versions of this program and of the service. `hapticd --version` prints the program's alone."""
    from transport.build_info import project_version

    told = object_of(desk.client.get("/version"))
    own = project_version()
    desk.output.document({"program": own, "service": told})
    desk.output.line(f"program  hapticd {own}")
    version, interface, commit = (clean(told.get(key)) for key in ("project_version", "interface", "git_describe"))
    desk.output.line(f"service  hapticd {version} at {desk.client.address.url}, interface {interface}, commit {commit}")


@click.command("devices", short_help="list the devices")
@service_options
def devices_command(desk: Desk) -> None:
    """List the devices with their connection, port, firmware, state and pair, and what ends an e-brake that holds one."""
    answer = desk.client.get("/devices")
    stopped = desk.client.get("/stop")
    brakes = brakes_of(desk.client)
    desk.output.document(answer)
    rows = [
        (
            one.device_id,
            one.kind,
            one.config.get("connection"),
            one.config.get("port"),
            one.firmware,
            state_words(one, stopped, brakes),
            one.config.get("paired_with"),
            one.name or None,
        )
        for one in devices_of(answer)
    ]
    desk.output.table(
        ("DEVICE", "TYPE", "CONNECTION", "PORT", "FIRMWARE", "STATE", "PAIR", "NAME"),
        rows,
        "no device: plug one in, or start the service with --simulate arm,grip",
    )
    for sentence in brake_sentences(brakes):
        desk.output.line(sentence)


def state_words(device: ShownDevice, stopped: Any, brakes: Mapping[str, str]) -> str:
    """Return the words of a device's state: ready, not ready, stopped, held by its e-brake, braking, in use, asleep."""
    words = ["ready" if device.ready else "not ready"]
    latched = isinstance(stopped, dict) and (
        stopped.get("everything") or device.device_id in (stopped.get("devices") or ())
    )
    if device.moves and latched:
        words.append("stopped")
    if device.device_id in brakes:
        words.append("held by its e-brake" if brakes[device.device_id] == Brake.WAITING else "braking")
    if device.status.get("in_use") is True:
        words.append("in use")
    if device.status.get("awake") is False:
        words.append("asleep")
    if device.status.get("calibrated") is False:
        words.append("not calibrated")
    return ", ".join(words)


@click.command("ports", short_help="list the ports")
@service_options
def ports_command(desk: Desk) -> None:
    """List the ports that were seen, with those that are blocked or unusable and why."""
    answer = desk.client.get("/ports")
    desk.output.document(answer)
    rows = [
        [
            port.get("port"),
            port.get("path"),
            port_words(port),
            *(port.get(name) for name in ("device_id", "reason", "loops", "blocked_since")),
        ]
        for port in entries(answer, "ports")
    ]
    desk.output.table(("PORT", "PATH", "STATE", "DEVICE", "REASON", "LOOPS", "BLOCKED SINCE"), rows, "no port was seen")


def port_words(port: Mapping[str, Any]) -> str:
    """Return a port's state for people: an active one has a device, or is without one."""
    state = clean(port.get("state"))
    return "no device" if state == "active" and port.get("device_id") is None else state


@click.command("sessions", short_help="list the connected clients")
@service_options
def sessions_command(desk: Desk) -> None:
    """List the sessions: the clients that are connected, and what they command."""
    answer = desk.client.get("/sessions")
    desk.output.document(answer)
    rows: list[list[object]] = []
    for session in entries(answer, "sessions"):
        profile, driven = session.get("profile"), session.get("devices")
        name = profile.get("name") if isinstance(profile, dict) else profile
        devices = ", ".join(map(clean, driven)) if isinstance(driven, list) else ""
        shown = [session.get(key) for key in ("remote_address", "connected_at", "frames_sent", "commands_received")]
        rows.append([session.get("session_id"), name, *shown, devices or "none"])
    desk.output.table(
        ("SESSION", "PROFILE", "ADDRESS", "SINCE", "FRAMES", "COMMANDS", "DEVICES"), rows, "no session is open"
    )


def _loop(metrics: dict[tuple[str, str], float]) -> dict[str, Any]:
    """Return rate, target and permission of the control loop."""
    realtime = metrics.get(("hapticd_loop_realtime", ""))
    return {
        "frequency_hz": metrics.get(("hapticd_loop_frequency_hertz", "")),
        "target_hz": metrics.get(("hapticd_loop_target_frequency_hertz", "")),
        "realtime": None if realtime is None else bool(realtime),
    }


def _loop_words(loop: dict[str, Any]) -> str:
    if loop.get("frequency_hz") is None:
        return "unknown"
    priority = "realtime priority" if loop["realtime"] else "no realtime priority: hapticd doctor"
    return f"{loop['frequency_hz']:.0f} of {loop['target_hz'] or 0:.0f} Hz, {priority}"
