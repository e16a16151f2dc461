"""Routes of the names that people give to devices, `/{device}/{id}/config/name`; the DeviceManager keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from actors.device.api import LONGEST_DEVICE_NAME, MANAGER, NameDevice
from actors.kit.errors import InvalidInput
from transport.http.call import NO_BODY, Answer
from transport.http.device_selector import Area, find
from transport.http.durable import confirmed
from transport.http.resources.session_areas import BODY, note_unknown
from transport.http.results import Act, answer_of, values_of
from transport.http.route import Route
from transport.http.schema.json_schema import either, nullable, obj, text
from transport.http.schema.route_schema import DEVICE_FAILS, SEVERAL_DEVICES, RouteSchema
from transport.wire import shapes

if TYPE_CHECKING:
    from transport.http.call import Call
    from transport.http.device_selector import Devices

NAME: Final = Area("name", every_kind=True)

# Device names: neither a number nor a type, without characters that have a meaning in a path or selector.
FORMAT: Final = "device-name"
_TEXT: Final = text(
    "Usable in every selector, in upper or lower case.", minLength=1, maxLength=LONGEST_DEVICE_NAME, format=FORMAT
)
_SENT: Final = obj({"name": _TEXT})
_SHOWN: Final = obj({"name": nullable(_TEXT)})
READ: Final = RouteSchema(_SHOWN, path=SEVERAL_DEVICES, results=("device_id",))
CLEARED: Final = RouteSchema(_SHOWN, path=SEVERAL_DEVICES, results=("device_id",), fails=(404, 507))
NAMED: Final = RouteSchema(
    _SHOWN,
    path=SEVERAL_DEVICES,
    results=("device_id",),
    body=either(_SENT, _TEXT),
    body_needed=True,
    example={"name": "left arm"},
    fails=DEVICE_FAILS,
)


def routes() -> Iterator[Route]:
    """Yield GET, POST and DELETE."""
    shape = "/{device}/{id}/config/name"
    yield Route("GET", shape, read_name, "A device's name, null without one.", schema=READ)
    yield Route("POST", shape, give_name, "Give a device a name of its own.", reads_body=True, schema=NAMED)
    yield Route("DELETE", shape, take_name, "Take a device's name away.", schema=CLEARED)


async def read_name(call: Call) -> Answer:
    """Return each device's name."""
    acts = [Act({"device_id": one.device_id}, partial(_shown, one.name)) for one in _found(call).records]
    return await values_of(call.vocabulary, acts)


async def give_name(call: Call) -> Answer:
    """Give the name `{"name"}`, or the bare word, which no other device has."""
    if call.body is NO_BODY:
        raise InvalidInput("Send a JSON body.")
    name = shapes.word(call.body, "name", BODY, note_unknown(call))
    if not name:
        raise InvalidInput("a name has at least one character: DELETE takes it away", f"{BODY}.name")
    return await _rename(call, name)


async def take_name(call: Call) -> Answer:
    """Take the name away; without one nothing changes."""
    return await _rename(call, "")


async def _rename(call: Call, name: str) -> Answer:
    found = _found(call)
    acts = [Act({"device_id": one.device_id}, partial(_ask, call, one.device_id, name)) for one in found.records]
    answer = await answer_of(call.vocabulary, acts, several=found.pattern)
    await confirmed(call.bridge, "That holds")
    return answer


async def _ask(call: Call, device_id: str, name: str) -> Mapping[str, object]:
    await call.bridge.ask(MANAGER, NameDevice(device_id, name))
    return await _shown(name)


async def _shown(name: str) -> Mapping[str, object]:
    return {"name": name or None}


def _found(call: Call) -> Devices:
    return find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(NAME)
