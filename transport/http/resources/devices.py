"""`/devices`: the groups of a full frame, in device space or as one session sees it; `/{device}/{id}`: one entry of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

from actors.device.actor import actor_name
from actors.device.messages import MANAGER, ConfigureDevice, DeviceRecord, Inventory, SaveConfiguration
from actors.kit.errors import InvalidInput, NoSuchDevice, NoSuchSession
from actors.session.selectors import parse_selector, select
from actors.settings.messages import STORE, ConfirmLedger
from transport.http.call import Answer, Call
from transport.http.describe.about import ONE_DEVICE, About, Query
from transport.http.describe.devices import GROUPS, RECORD
from transport.http.describe.schema import TEXT, Live, obj
from transport.http.device_selector import find, shown
from transport.http.route import Route
from transport.wire.envelope import Encoded
from transport.wire.frames import devices_json

NS_PER_S: Final = 1_000_000_000

AS_SEEN_BY: Final = Query(
    "session",
    Live("sessions", (":0", ":-1", "default")),
    "Coordinates in that session's application space; without it device space.",
)
LISTED: Final = About(GROUPS, query=(AS_SEEN_BY,), fails=(404,))
READ: Final = About(RECORD, path=ONE_DEVICE)
SAVED: Final = About(
    obj({"device_id": TEXT}), obj({"device_id": Live("movers")}), fails=(404,), example={"device_id": "049D"}
)


def routes() -> Iterator[Route]:
    """All devices, one, and what is kept in it."""
    one, save = "/{device}/{id}", "/save_configuration"
    yield Route("GET", "/devices", list_devices, "Every device, as in a full frame.", about=LISTED)
    yield Route(
        "GET", one, read_device, "One device, who holds its position, and what it reports as wrong.", about=READ
    )
    yield Route("POST", save, save_configuration, "Keep it in the device.", reads_body=True, about=SAVED)


async def list_devices(call: Call) -> Answer:
    """Every device; `?session=` in that session's application space, `default` in that of a new session."""
    text = call.query.get("session")
    selector = None if text is None else parse_selector(text)
    if selector is None or selector.is_default:
        bridge, system = call.bridge, call.bridge.system
        start = None if selector is None else bridge.sessions.defaults
        whole = devices_json(bridge.inventory, system.runtime, call.vocabulary, bridge.settings, call.version, start)
        return Answer(Encoded(whole))
    session_id = select(selector, call.bridge.sessions).one().session_id
    channel = call.bridge.channels.get(session_id)
    devices = None if channel is None else channel.devices
    if devices is None:
        raise NoSuchSession(session_id)
    return Answer(Encoded(devices.devices_json(call.vocabulary, call.version)))


async def read_device(call: Call) -> Answer:
    """One device's entry in device space, its id, the session that holds its position, if one does, and what it reports."""
    return Answer(
        entry_of(call, find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).one())
    )


def entry_of(call: Call, record: DeviceRecord) -> dict[str, object]:
    """The record of one device as an answer shows it."""
    bridge, system = call.bridge, call.bridge.system
    alone = Inventory((record,))
    groups: Any = orjson.loads(devices_json(alone, system.runtime, call.vocabulary, bridge.settings, call.version))
    group = groups[call.vocabulary.group(record.kind, record.identity.connection)]
    entry = group[record.device_id] if call.version == "3.0" else group[0]
    timeout_ns = int(bridge.settings.number("sessions/command_timeout") * NS_PER_S)
    held_by = bridge.holders.holder(record.device_id, system.runtime.now_ns(), timeout_ns)
    reports = system.links.fault(record.identity.port, record.identity.link_id)
    return {"device_id": record.device_id, **entry, "held_by": held_by, "reports": reports}


async def save_configuration(call: Call) -> Answer:
    """What a device has for all sessions is on the disk when this is answered, and holds when the device comes back."""
    device_id = call.fields("device_id").get("device_id")
    if not isinstance(device_id, str):
        raise InvalidInput('name the device, such as {"device_id": "049D"}.', "device_id")
    record = call.bridge.inventory.find(device_id)
    if record is None:
        raise NoSuchDevice(shown(device_id))
    if not record.kind.moves:
        raise InvalidInput(f"a {record.kind} has no configuration to save: send it to an arm or a compact.")
    await call.bridge.ask(actor_name(device_id), ConfigureDevice())
    await call.bridge.ask(MANAGER, SaveConfiguration(device_id, in_device=True))
    await call.bridge.ask(STORE, ConfirmLedger())
    return Answer({"device_id": device_id})
