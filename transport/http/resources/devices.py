"""Routes of `/devices` (the groups of a full frame, in device space or in a session's space) and `/{device}/{id}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from actors.control.api import gap_data, read_gaps
from actors.device.api import MANAGER, ConfigureDevice, DeviceRecord, SaveConfiguration, actor_name
from actors.kit.errors import InvalidInput, NoSuchDevice, NoSuchSession, UnsupportedArea
from actors.session.api import parse_selector, select
from actors.settings.api import STORE, ConfirmLedger
from fastpath.text.encoder import encode_json
from transport.http.call import Answer, Call
from transport.http.device_selector import find, quoted
from transport.http.results import Act, values_of
from transport.http.route import Route
from transport.http.schema.devices import GROUPS, RECORD
from transport.http.schema.json_schema import TEXT, FromService, obj
from transport.http.schema.route_schema import SEVERAL_DEVICES, Query, RouteSchema
from transport.wire.envelope import Encoded, joined

NS_PER_S: Final = 1_000_000_000

AS_SEEN_BY: Final = Query(
    "session",
    FromService("sessions", (":0", ":-1", "*", "default")),
    "Coordinates in that session's application space, of several in `results`; without it device space.",
)
LISTED: Final = RouteSchema(GROUPS, query=(AS_SEEN_BY,), results=("session_id",), fails=(404,))
READ: Final = RouteSchema(RECORD, path=SEVERAL_DEVICES, results=("device_id",))
SAVED: Final = RouteSchema(
    obj({"device_id": TEXT}), obj({"device_id": FromService("movers")}), fails=(404, 422), example={"device_id": "049D"}
)


def routes() -> Iterator[Route]:
    """Yield the routes of all devices, of one, and of saving its configuration."""
    one, save = "/{device}/{id}", "/save_configuration"
    yield Route("GET", "/devices", list_devices, "Every device, as in a full frame.", schema=LISTED)
    yield Route(
        "GET", one, read_device, "One device, who holds its position, and what it reports as wrong.", schema=READ
    )
    yield Route("POST", save, save_configuration, "Keep it in the device.", reads_body=True, schema=SAVED)


async def list_devices(call: Call) -> Answer:
    """Return every device; `?session=` in that session's application space, `default` in a new session's."""
    text = call.query.get("session")
    selector = None if text is None else parse_selector(text)
    if selector is None or selector.is_default:
        bridge, system = call.bridge, call.bridge.system
        start = None if selector is None else bridge.sessions.defaults
        whole = bridge.device_texts.devices_json(
            bridge.inventory,
            system.runtime,
            call.vocabulary,
            bridge.settings,
            call.version,
            start,
            _interruptions(call),
        )
        return Answer(Encoded(whole))
    first, *others = select(selector, call.bridge.sessions).some()
    lost = _interruptions(call)
    if not others:
        return Answer(_as_seen_by(call, first.session_id, lost))
    return await values_of(call.vocabulary, [_seen(call, one.session_id, lost) for one in (first, *others)])


def _seen(call: Call, session_id: int, lost: Mapping[str, bytes]) -> Act:
    async def run() -> Encoded:
        return _as_seen_by(call, session_id, lost)

    return Act({"session_id": session_id}, run)


def _interruptions(call: Call) -> dict[str, bytes]:
    """Return the member `interruptions` of each device with motors, which frames do not have, by device id."""
    movers = (record for record in call.bridge.inventory.devices if record.kind.has_motors)
    return {record.device_id: b',"interruptions":' + encode_json(_lost(call, record)) for record in movers}


def _lost(call: Call, record: DeviceRecord) -> dict[str, object]:
    """Return what gaps of the loop took from a device since it connected."""
    return gap_data(read_gaps(call.bridge.system.runtime, record.lease))


def _as_seen_by(call: Call, session_id: int, lost: Mapping[str, bytes]) -> Encoded:
    channel = call.bridge.channels.get(session_id)
    devices = None if channel is None else channel.devices
    if devices is None:
        raise NoSuchSession(session_id)
    return Encoded(devices.devices_json(call.vocabulary, call.version, lost))


async def read_device(call: Call) -> Answer:
    """Return each device in device space, with its id, the session that holds its position, and its reported fault."""
    found = find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary)
    first, *others = found.some()
    if not others:
        return Answer(entry_of(call, first))
    return await values_of(call.vocabulary, [_read(call, record) for record in (first, *others)])


def _read(call: Call, record: DeviceRecord) -> Act:
    async def run() -> Encoded:
        return _members_of(call, record)

    return Act({"device_id": record.device_id}, run)


def entry_of(call: Call, record: DeviceRecord) -> Encoded:
    """Return the record of one device as answers show it."""
    return Encoded(joined(encode_json({"device_id": record.device_id}), _members_of(call, record).text))


def _members_of(call: Call, record: DeviceRecord) -> Encoded:
    """Return the record without the device's id."""
    bridge, system = call.bridge, call.bridge.system
    members = bridge.device_texts.members(record, system.runtime, call.vocabulary, bridge.settings, call.version)
    timeout_ns = int(bridge.settings.number("sessions/command_timeout") * NS_PER_S)
    held_by = bridge.holders.holder(record.device_id, system.runtime.now_ns(), timeout_ns)
    reports = system.links.fault(record.identity.port, record.identity.link_id)
    lost = {"interruptions": _lost(call, record)} if record.kind.has_motors else {}
    return Encoded(joined(b"{%b}" % members, encode_json({"held_by": held_by, "reports": reports, **lost})))


async def save_configuration(call: Call) -> Answer:
    """Store the device-wide configuration on the disk before answering, so that it is restored after a reconnect."""
    device_id = call.fields("device_id").get("device_id")
    if not isinstance(device_id, str):
        raise InvalidInput('name the device, such as {"device_id": "049D"}.', "device_id")
    record = call.bridge.inventory.find(device_id)
    if record is None:
        raise NoSuchDevice(quoted(device_id))
    if not record.kind.spec.device_areas:
        raise UnsupportedArea(record.kind.with_article, "configuration to save")
    await call.bridge.ask(actor_name(device_id), ConfigureDevice())
    await call.bridge.ask(MANAGER, SaveConfiguration(device_id, in_device=True))
    await call.bridge.ask(STORE, ConfirmLedger())
    return Answer({"device_id": device_id})
