"""Deprecated routes: each acts as its replacement, names it in `deprecation_warning`, and raises an event."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from actors.device.api import MOST_GRAVITY, ConfigureDevice
from actors.event.api import HUB, Emit
from actors.kit.errors import InvalidInput, NoSuchDevice, UnsupportedArea
from actors.settings.api import STORE, SetSetting, value_as_json
from transport.http.call import Answer
from transport.http.device_selector import Devices, find, quoted
from transport.http.resources.device_areas import AREAS, EVERY, WideArea, change_wide, flag
from transport.http.route import Route
from transport.http.schema.json_schema import FLAG, FromService, Schema, either, number, obj
from transport.http.schema.route_schema import DEVICE_FAILS, RouteSchema
from transport.http.schema.values import ENABLED, GRAVITY, HANDEDNESS
from transport.security import audit
from transport.wire import shapes

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord
    from transport.http.call import Call, Handler

DEVICE_ID: Final = "device_id"
FORCE_SCALE: Final = "filters/force_scale/gain"


@dataclass(frozen=True, slots=True)
class OldRoute:
    """One deprecated route."""

    path: str
    replacement: str
    act: Callable[[Call], Awaitable[Answer]]  # handler
    sent: Schema  # schema of the body
    echo: Schema  # schema of the answer
    example: object
    several: bool = False  # without `device_id` it means all devices


async def force_scale(call: Call) -> Answer:
    """Handle `{"device_id"?, "force_scale"}`: the setting of one device, or of all."""
    fields = call.fields(DEVICE_ID, "force_scale")
    record = _named(call, fields)
    who = "haptic*" if record is None else record.device_id
    return await _setting(call, f"devices/{who}/{FORCE_SCALE}", "force_scale", _needed(fields, "force_scale"))


async def gravity_compensation(call: Call) -> Answer:
    """Handle `{"device_id"?, "enable"?, "gravity_scaling_factor"?}`, at least one of the last two."""
    fields = call.fields(DEVICE_ID, "enable", "gravity_scaling_factor")
    if not fields.keys() & {"enable", "gravity_scaling_factor"}:
        raise InvalidInput("enable, gravity_scaling_factor or both are needed", "body")
    enable = flag(fields["enable"], "enable") if "enable" in fields else None
    name = "gravity_scaling_factor"
    factor = shapes.number(fields[name], name) if name in fields else None
    return await _wide(call, fields, ConfigureDevice(gravity_compensation=enable, gravity_scale=factor))


async def torque_scaling(call: Call) -> Answer:
    """Handle `{"device_id"?, "enable"}`."""
    fields = call.fields(DEVICE_ID, "enable")
    return await _wide(call, fields, ConfigureDevice(torque_scaling=flag(_needed(fields, "enable"), "enable")))


async def handedness(call: Call) -> Answer:
    """Handle `{"device_id"?, "handedness"}`."""
    fields = call.fields(DEVICE_ID, "handedness")
    hand = shapes.text(_needed(fields, "handedness"), "handedness")
    return await _wide(call, fields, ConfigureDevice(handedness=hand))


def switch(key: str) -> Callable[[Call], Awaitable[Answer]]:
    """Return a handler of `{"enable"}` for one setting."""

    async def act(call: Call) -> Answer:
        value = flag(_needed(call.fields("enable"), "enable"), "enable")
        return await _setting(call, key, "enable", value)

    return act


AREA_OF: Final = {area.area.name: area for area in AREAS}
TO_HANDEDNESS: Final = "POST /{device}/{id}/config/handedness"
FACTOR: Final = number(0, MOST_GRAVITY)
OF_ONE: Final = {DEVICE_ID: FromService("movers")}
SWITCH: Final = obj({"enable": FLAG})
ON: Final = {"enable": True}
HAND: Final = obj({"handedness": HANDEDNESS})
SENT_HAND: Final = obj({"handedness": HANDEDNESS}, optional=OF_ONE)
LEFT: Final = {"handedness": "left"}
SCALE: Final = obj({"force_scale": number(0, 2)})
SENT_SCALE: Final = obj({"force_scale": number(0, 2)}, optional=OF_ONE)
SENT_GRAVITY: Final = either(
    obj({"enable": FLAG}, optional={**OF_ONE, "gravity_scaling_factor": FACTOR}),
    obj({"gravity_scaling_factor": FACTOR}, optional={**OF_ONE, "enable": FLAG}),
)
OLD_ROUTES: Final = (
    OldRoute(
        "/force_scale",
        f"POST /settings/devices/haptic*/{FORCE_SCALE}",
        force_scale,
        SENT_SCALE,
        SCALE,
        {"force_scale": 0.5},
    ),
    OldRoute(
        "/gravity_compensation",
        "POST /{device}/{id}/config/gravity_compensation",
        gravity_compensation,
        SENT_GRAVITY,
        GRAVITY,
        {"enable": True, "gravity_scaling_factor": 0.8},
        several=True,
    ),
    OldRoute(
        "/torque_scaling",
        "POST /{device}/{id}/config/torque_scaling",
        torque_scaling,
        obj({"enable": FLAG}, optional=OF_ONE),
        ENABLED,
        ON,
        several=True,
    ),
    OldRoute("/device_handednessness", TO_HANDEDNESS, handedness, SENT_HAND, HAND, LEFT, several=True),
    OldRoute("/device_handedness", TO_HANDEDNESS, handedness, SENT_HAND, HAND, LEFT, several=True),
    OldRoute(
        "/serial_enable",
        "POST /settings/communication/serial/enabled",
        switch("communication/serial/enabled"),
        SWITCH,
        SWITCH,
        ON,
    ),
    OldRoute(
        "/experimental/features/grip_dropped_simulation_stopper",
        "POST /settings/features/grip_hook/enabled",
        switch("features/grip_hook/enabled"),
        SWITCH,
        SWITCH,
        ON,
    ),
    OldRoute(
        "/experimental/features/screensaver_enable",
        "POST /settings/features/screensaver/enabled",
        switch("features/screensaver/enabled"),
        SWITCH,
        SWITCH,
        ON,
    ),
)


def routes() -> Iterator[Route]:
    """Yield POST of each deprecated path."""
    for old in OLD_ROUTES:
        summary = f"Deprecated: {old.replacement}."
        warning = f"POST {old.path} is deprecated: use {old.replacement}."
        handler = _handler(old, warning)
        yield Route("POST", old.path, handler, summary, reads_body=True, schema=_about(old), deprecation=warning)


def _about(old: OldRoute) -> RouteSchema:
    results = ("device_id",) if old.several else ()
    return RouteSchema(old.echo, old.sent, results=results, fails=DEVICE_FAILS, example=old.example, deprecated=True)


def _handler(old: OldRoute, warning: str) -> Handler:
    async def handle(call: Call) -> Answer:
        data = {"route": f"POST {old.path}", "replacement": old.replacement}
        call.bridge.system.context.directory.tell(HUB, Emit("http-route-deprecated", data, warning))
        return await old.act(call)

    return handle


def _needed(fields: dict[str, object], name: str) -> object:
    if name not in fields:
        raise InvalidInput(f"{name} is missing", name)
    return fields[name]


def _named(call: Call, fields: dict[str, object]) -> DeviceRecord | None:
    """Return the device whose id the body has; None without one. NoSuchDevice, InvalidInput, UnsupportedArea."""
    if DEVICE_ID not in fields:
        return None
    device_id = shapes.text(fields[DEVICE_ID], DEVICE_ID)
    record = call.bridge.inventory.find(device_id)
    if record is None:
        raise NoSuchDevice(quoted(device_id))
    if not record.kind.spec.device_areas:
        raise UnsupportedArea(record.kind.with_article, "such configuration")
    return record


async def _wide(call: Call, fields: dict[str, object], change: ConfigureDevice) -> Answer:
    record = _named(call, fields)
    if record is None:
        devices = find(*EVERY, call.bridge.inventory, call.vocabulary)
    else:
        devices = Devices(record.device_id, (record,), pattern=False)
    return await change_wide(call, _area(change), devices, change)


def _area(change: ConfigureDevice) -> WideArea:
    names = {"gravity_scale": "gravity_compensation"}
    first = next(iter(change.sent()))
    return AREA_OF[names.get(first, first)]


async def _setting(call: Call, key: str, name: str, value: object) -> Answer:
    record = await call.bridge.ask(STORE, SetSetting(key, value))
    audit(call.peer, "-", f"setting {record.key} = {value_as_json(record.value)}")
    return Answer({name: value_as_json(record.value)})
