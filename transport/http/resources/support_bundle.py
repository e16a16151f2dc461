"""Route of `/support-bundle`: log, settings, doctor, versions, devices, events and metrics as one download, without secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import orjson

from actors.control.api import interruption_data
from actors.event.api import HUB, RecentEvents
from actors.kit.errors import HapticError
from actors.settings.api import value_as_json
from transport.bundle_archive import MEDIA, archive, bundle_name, versions
from transport.http.call import Call, Text
from transport.http.resources.devices import list_devices
from transport.http.resources.health import obstacle
from transport.http.resources.metrics import read_metrics
from transport.http.resources.ports import list_ports
from transport.http.resources.stop import read_stop
from transport.http.route import Route
from transport.http.schema.route_schema import RouteSchema
from transport.http.support import Support, on_thread
from transport.security import audit
from transport.wire.envelope import Data, Encoded
from transport.wire.vocabulary import NEUTRAL

if TYPE_CHECKING:
    from actors.device.api import Trip
    from actors.settings.api import SettingView
    from transport.bridge import Bridge
    from transport.kept_log import LogLine

MOST_EVENTS: Final = 1_000
# Trips of a device that are shown with the motion before them.
WHOLE_TRIPS: Final = 2
BUNDLE: Final = RouteSchema(media=MEDIA)


def routes() -> Iterator[Route]:
    """Yield the route."""
    told = "Log, settings, doctor, versions, devices, events and metrics as one ZIP without secrets; one at a time."
    yield Route("GET", "/support-bundle", read_bundle, told, schema=BUNDLE)


async def read_bundle(call: Call) -> Text:
    """Return the bundle; Busy while another one is made. Snapshots are taken here, everything slow runs on a thread."""
    support = call.edge.support
    support.begin()
    try:
        audit(call.peer, "-", "support bundle made")
        snapshots = await _snapshots(replace(call, vocabulary=NEUTRAL, query={}, headers={}))
        lines = support.kept_log.lines
        content = await on_thread(partial(_made, support, lines, call.edge.build, snapshots))
    finally:
        support.end()
    disposition = f'attachment; filename="{bundle_name()}"'
    return Text(content, MEDIA, headers={"Content-Disposition": disposition}, binary=True)


async def _snapshots(call: Call) -> dict[str, object]:
    """Return what the files are made of; encoded JSON stays bytes."""
    bridge = call.bridge
    stopped = (await read_stop(call)).data
    return {
        "settings.json": bridge.settings.listed(advanced=True),
        "devices.json": _raw((await list_devices(call)).data),
        "ports.json": _raw((await list_ports(call)).data),
        "sessions.json": _sessions(bridge),
        "problems.json": {
            "not_ready": obstacle(bridge),
            "interruptions": [
                {"device_id": one.device_id, **interruption_data(one)}
                for one in bridge.system.loop_watch.value.interruptions
            ],
            "stop": stopped,
            "ports": [
                {"port": one.port, "state": str(one.state), "reason": one.reason}
                for one in bridge.ports.ports
                if one.state != "active"
            ],
        },
        "trips.json": bridge.system.trips.value.trips,
        "events.jsonl": await _events(bridge),
        "metrics.txt": (await read_metrics(call)).content,
    }


def _sessions(bridge: Bridge) -> dict[str, object]:
    channels = {one.session_id: bridge.channels.get(one.session_id) for one in bridge.sessions.sessions}
    return {
        "session_count": len(channels),
        "sessions": [
            {
                "session_id": number,
                "frames_sent": 0 if channel is None else channel.frames_sent,
                "commands_received": 0 if channel is None else channel.commands_received,
            }
            for number, channel in channels.items()
        ],
    }


async def _events(bridge: Bridge) -> tuple[bytes, ...] | str:
    """Return the newest events, or the sentence that says why there are none: a bundle is made all the more then."""
    try:
        return await bridge.ask(HUB, RecentEvents(MOST_EVENTS))
    except HapticError as error:
        return error.sentence


def _made(
    support: Support, lines: tuple[LogLine, ...], build: Mapping[str, str], snapshots: Mapping[str, Any]
) -> bytes:
    """Return the archive; runs on a thread of its own."""
    events = snapshots["events.jsonl"]
    files: dict[str, object] = {
        "log.jsonl": [orjson.loads(line.encoded) for line in lines],
        "settings.json": {one.key: _setting(one) for one in snapshots["settings.json"]},
        "doctor.txt": support.doctor(support),
        "versions.json": versions(build),
        "devices.json": orjson.loads(snapshots["devices.json"]),
        "ports.json": orjson.loads(snapshots["ports.json"]),
        "sessions.json": snapshots["sessions.json"],
        "problems.json": snapshots["problems.json"],
        "trips.json": {device_id: _trips(trips) for device_id, trips in snapshots["trips.json"].items()},
        "events.jsonl": [{"error": events}] if isinstance(events, str) else [orjson.loads(one) for one in events],
        "metrics.txt": snapshots["metrics.txt"].decode(),
    }
    return archive(files, support.redaction, "by the running service")


def _setting(record: SettingView) -> dict[str, object]:
    shown: dict[str, object] = {
        "value": value_as_json(record.value),
        "effective": value_as_json(record.effective),
        "default": value_as_json(record.default),
    }
    if record.overridden_by is not None:
        shown["overridden_by"] = record.overridden_by
    if record.restart_required:
        shown["restart_required"] = True
    return shown


def _trips(trips: tuple[Trip, ...]) -> list[object]:
    whole = len(trips) - WHOLE_TRIPS
    return [orjson.loads(trip.whole if at >= whole else trip.brief) for at, trip in enumerate(trips)]


def _raw(data: Data) -> bytes:
    return data.text if isinstance(data, Encoded) else orjson.dumps(data)
