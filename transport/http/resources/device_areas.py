"""Routes of device-wide configuration, `/{device}/{id}/config/…`, and of return-to-home; the DeviceActor applies changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from actors.device.api import MANAGER, ConfigureDevice, SaveConfiguration, actor_name
from actors.kit.errors import InvalidInput, NoSuchActor, NoSuchDevice
from transport.http.call import NO_BODY, Answer
from transport.http.device_selector import Area, find
from transport.http.durable import confirmed
from transport.http.resources.session_areas import BODY, note_unknown
from transport.http.results import Act, answer_of, values_of
from transport.http.route import Route
from transport.http.schema.json_schema import FLAG, TEXT, Schema, listed, obj
from transport.http.schema.route_schema import DEVICE_FAILS, NOWHERE, SEVERAL_MOVERS, RouteSchema
from transport.http.schema.values import (
    ENABLED,
    GRAVITY,
    HANDEDNESS,
    SENT_ENABLED,
    SENT_GRAVITY,
    SENT_HANDEDNESS,
)
from transport.wire import shapes

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord, DeviceWide
    from transport.bridge import Bridge
    from transport.http.call import Call, Handler
    from transport.http.device_selector import Devices

EVERY: Final = ("haptic*", "*")
NOTHING: Final = ConfigureDevice()


@dataclass(frozen=True, slots=True)
class WideArea:
    """One area of the device-wide configuration."""

    area: Area
    read_body: Callable[[object, shapes.NameUnknown], ConfigureDevice]
    cleared: ConfigureDevice  # change of DELETE
    shown: Callable[[DeviceWide], Mapping[str, object]]
    sent: Schema  # schema of the body
    echo: Schema  # schema of the answer
    example: object
    empty: bool = False  # a request without a body is accepted


# ---------------------------------------------------------------- bodies


def handedness(body: object, note: shapes.NameUnknown) -> ConfigureDevice:
    """Parse `{"handedness": "left"}` or the bare word; InvalidInput."""
    return ConfigureDevice(handedness=shapes.word(_sent(body), "handedness", BODY, note))


def torque_scaling(body: object, note: shapes.NameUnknown) -> ConfigureDevice:
    """Parse `{"enabled"}` or the bare value; InvalidInput."""
    return ConfigureDevice(torque_scaling=_enabled(_sent(body), note))


def gravity_compensation(body: object, note: shapes.NameUnknown) -> ConfigureDevice:
    """Parse `{"enabled"?, "scaling_factor"?}`, at least one of them; InvalidInput."""
    fields = shapes.mapping(_sent(body), BODY)
    shapes.needed(fields, ("enabled", "scaling_factor"), BODY, note)
    enabled = flag(fields["enabled"], f"{BODY}.enabled") if "enabled" in fields else None
    factor = shapes.number(fields["scaling_factor"], f"{BODY}.scaling_factor") if "scaling_factor" in fields else None
    return ConfigureDevice(gravity_compensation=enabled, gravity_scale=factor)


def home_return(body: object, note: shapes.NameUnknown) -> ConfigureDevice:
    """Parse `{"enabled"}` or the bare value; without a body it is enabled. InvalidInput."""
    return ConfigureDevice(home_return=True if body is NO_BODY else _enabled(body, note))


def flag(value: object, path: str) -> bool:
    """Return a boolean; InvalidInput."""
    if not isinstance(value, bool):
        raise InvalidInput(f"true or false is needed, not {shapes.kind(value)}", path)
    return value


def _enabled(body: object, note: shapes.NameUnknown) -> bool:
    value, path = shapes.only(body, "enabled", BODY, note)
    return flag(value, path)


def _sent(body: object) -> object:
    if body is NO_BODY:
        raise InvalidInput("Send a JSON body.")
    return body


# ---------------------------------------------------------------- the areas


HOME: Final = WideArea(
    Area("home_return"),
    home_return,
    ConfigureDevice(home_return=False),
    lambda wide: {"enabled": wide.home_return},
    SENT_ENABLED,
    ENABLED,
    {"enabled": True},
    empty=True,
)
AREAS: Final = (
    WideArea(
        Area("handedness"),
        handedness,
        ConfigureDevice(handedness="right"),
        lambda wide: {"handedness": wide.handedness},
        SENT_HANDEDNESS,
        obj({"handedness": HANDEDNESS}),
        {"handedness": "left"},
    ),
    WideArea(
        Area("torque_scaling"),
        torque_scaling,
        ConfigureDevice(torque_scaling=True),
        lambda wide: {"enabled": wide.torque_scaling},
        SENT_ENABLED,
        ENABLED,
        {"enabled": False},
    ),
    WideArea(
        Area("gravity_compensation"),
        gravity_compensation,
        ConfigureDevice(gravity_compensation=True, gravity_scale=1.0),
        lambda wide: {"enabled": wide.gravity_compensation, "scaling_factor": wide.gravity_scale},
        SENT_GRAVITY,
        GRAVITY,
        {"enabled": True, "scaling_factor": 0.8},
    ),
    HOME,
)


EVERY_HOME: Final = RouteSchema(obj({"results": listed(obj({"device_id": TEXT, "enabled": FLAG}))}))

# ---------------------------------------------------------------- routes


def routes() -> Iterator[Route]:
    """Yield GET, POST and DELETE of each area, and return-to-home under three paths."""
    for area in AREAS:
        yield from _routes(f"/{{device}}/{{id}}/config/{area.area.name}", area)
    yield from _routes("/{device}/{id}/home_return", HOME)
    everywhere = "Return-to-home of every device."
    yield Route("GET", "/home_return", list_home_return, everywhere, enveloped=True, schema=EVERY_HOME)
    write, clear = _written(HOME, path=NOWHERE), _cleared(HOME, path=NOWHERE)
    yield Route("POST", "/home_return", _writer(HOME), "Switch it on or off everywhere.", reads_body=True, schema=write)
    yield Route("DELETE", "/home_return", _clearer(HOME), "Switch return-to-home off everywhere.", schema=clear)


def _routes(shape: str, area: WideArea) -> Iterator[Route]:
    name = area.area.name
    shown, written, cleared = (
        RouteSchema(area.echo, path=SEVERAL_MOVERS, results=("device_id",)),
        _written(area),
        _cleared(area),
    )
    yield Route("GET", shape, _reader(area), f"A device's {name}.", schema=shown)
    yield Route("POST", shape, _writer(area), f"Set a device's {name}.", reads_body=True, schema=written)
    yield Route("DELETE", shape, _clearer(area), f"A device's {name} as it was at first.", schema=cleared)


def _written(area: WideArea, path: Mapping[str, Schema] = SEVERAL_MOVERS) -> RouteSchema:
    return replace(_cleared(area, path), body=area.sent, body_needed=not area.empty, example=area.example)


def _cleared(area: WideArea, path: Mapping[str, Schema] = SEVERAL_MOVERS) -> RouteSchema:
    return RouteSchema(area.echo, path=path, results=("device_id",), fails=DEVICE_FAILS)


async def list_home_return(call: Call) -> Answer:
    """Return the value of every device that supports it."""
    records = [record for record in _found(call).records if HOME.area.on(record)]
    shown = [{"device_id": one.device_id, **HOME.shown(await configured(call.bridge, one, NOTHING))} for one in records]
    return Answer({"results": shown})


async def change_wide(call: Call, area: WideArea, devices: Devices, change: ConfigureDevice) -> Answer:
    """Apply the change to each device and return the values in force."""
    having = devices.having(area.area)
    acts = [_act(call.bridge, area, record, change) for record in having.records]
    answer = await answer_of(call.vocabulary, acts, several=having.pattern)
    for record in having.records:
        await _saved(call.bridge, record.device_id)
    await confirmed(call.bridge, "That holds")
    return answer


async def _saved(bridge: Bridge, device_id: str) -> None:
    """Wait until the ledger has the device's new configuration."""
    with suppress(NoSuchDevice):
        await bridge.ask(MANAGER, SaveConfiguration(device_id))


async def configured(bridge: Bridge, record: DeviceRecord, change: ConfigureDevice) -> DeviceWide:
    """Apply a change and return the device's configuration; NoSuchDevice if it is gone, or its actor's error."""
    try:
        return await bridge.ask(actor_name(record.device_id), change)
    except NoSuchActor:
        if bridge.inventory.find(record.device_id) is not None:
            raise
        raise NoSuchDevice(record.device_id) from None


def _reader(area: WideArea) -> Handler:
    async def read(call: Call) -> Answer:
        records = _found(call).having(area.area).records
        return await values_of(call.vocabulary, [_act(call.bridge, area, record, NOTHING) for record in records])

    return read


def _writer(area: WideArea) -> Handler:
    async def write(call: Call) -> Answer:
        return await change_wide(call, area, _found(call), area.read_body(call.body, note_unknown(call)))

    return write


def _clearer(area: WideArea) -> Handler:
    async def clear(call: Call) -> Answer:
        return await change_wide(call, area, _found(call), area.cleared)

    return clear


def _act(bridge: Bridge, area: WideArea, record: DeviceRecord, change: ConfigureDevice) -> Act:
    async def run() -> Mapping[str, object]:
        return area.shown(await configured(bridge, record, change))

    return Act({"device_id": record.device_id}, run)


def _found(call: Call) -> Devices:
    word, wanted = (call.words.get(name, every) for name, every in zip(("device", "id"), EVERY, strict=True))
    return find(word, wanted, call.bridge.inventory, call.vocabulary)
