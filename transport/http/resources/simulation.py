"""Routes of `/simulation/devices` (add and remove simulated devices) and `/simulation/{device}/{id}` (hand, handle, faults)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from actors.device.api import (
    MANAGER,
    AddSimulated,
    ConfigureDevice,
    Inventory,
    RemoveSimulated,
    Simulate,
    actor_name,
    sort_devices,
)
from actors.kit.errors import NoSuchActor, NoSuchDevice, PortBlocked
from actors.values.kinds.nouns import plurals_of
from actors.values.simulation import BUTTONS, Fault, HandPath, SimulationChange
from fastpath.layout.constants import StatusFlag
from transport.http.call import Answer, Call
from transport.http.device_selector import Devices, find, quoted
from transport.http.resources.devices import entry_of
from transport.http.results import Act, answer_of, values_of
from transport.http.route import Route
from transport.http.schema.devices import RECORD
from transport.http.schema.json_schema import (
    FLAG,
    NULL,
    OBJECT,
    TEXT,
    WHOLE,
    Schema,
    either,
    listed,
    number,
    obj,
    text,
    with_description,
    word,
)
from transport.http.schema.route_schema import SEVERAL_DEVICES, RouteSchema
from transport.http.schema.values import ROTATION, VEC3
from transport.wire import simulation
from transport.wire.vocabulary import path_words

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord
    from transport.bridge import Bridge

EVERY: Final = "*"
FIRST_TICK_LOOKS: Final = 20
FIRST_TICK_LOOK_S: Final = 0.005


def _spec() -> Schema:
    """Return the schema of a device to simulate: per connection the device types that have it."""
    sorts: dict[tuple[str, ...], list[str]] = {}
    for name in path_words():
        if "*" not in name:
            sorts.setdefault(tuple(map(str, simulation.connections(name))), []).append(name)
    own = {
        "firmware": text("Two numbers with a dot.", pattern="^[0-9]{1,4}\\.[0-9]{1,4}$"),
        "device_id": text("One of our own when left out.", pattern="^[A-Za-z0-9_.-]{1,8}$"),
    }
    return either(
        *(obj({"type": word(*names)}, optional={"connection": word(*ways), **own}) for ways, names in sorts.items())
    )


_SPEC: Final = _spec()
_HANDLES_ONLY: Final = f"{plurals_of(lambda spec: spec.is_handle).capitalize()} only."
_HAND: Final = obj(
    {},
    optional={
        "position": either(VEC3, NULL, description="m, device frame, within its reach; null: the reach's centre."),
        "path": word(*HandPath),
        "stiffness": number(10, 1000, "N/m"),
    },
    one_of_them=True,
)
_CHANGE: Final = obj(
    {},
    optional={
        "hand": _HAND,
        "buttons": obj({}, optional=dict.fromkeys(BUTTONS, FLAG), one_of_them=True, description=_HANDLES_ONLY),
        "orientation": either(ROTATION, NULL, description="null: as the hand holds it."),
        "attached": with_description(dict(FLAG), _HANDLES_ONLY),
        "battery_level": number(0, 1, f"Wireless {plurals_of(lambda spec: spec.wireless)} only."),
        "awake": FLAG,
        "fault": word(*Fault),
    },
    one_of_them=True,
)
_TOLD: Final = obj({"device_id": TEXT, "hand": OBJECT, "awake": FLAG, "fault": word(*Fault)})
ADDED: Final = RouteSchema(RECORD, _SPEC, fails=(409,), example={"type": "grip", "connection": "wireless"})
_MOVED: Final = obj({"device_id": TEXT, "index": WHOLE, "was": WHOLE})
REMOVED: Final = RouteSchema(
    obj({"device_id": TEXT, "moved": listed(_MOVED)}),
    path={"id": text("Its id, or its index among all simulated devices.", pattern="^[A-Za-z0-9_.-]{1,8}$")},
    fails=(404, 409),
    place="/simulation/devices/1605",
)
TOLD: Final = RouteSchema(_TOLD, path=SEVERAL_DEVICES, results=("device_id",), fails=(404, 409))
CHANGED: Final = RouteSchema(
    _TOLD,
    _CHANGE,
    path=SEVERAL_DEVICES,
    results=("device_id",),
    fails=(404, 409),
    example={"fault": "none"},
    place="/simulation/arm/0",
)


def routes() -> Iterator[Route]:
    """Yield the routes of simulated devices."""
    every, one = "/simulation/devices", "/simulation/{device}/{id}"
    gone, made = "Simulate this device no longer.", "Move a hand, press a button, make a fault happen."
    yield Route("POST", every, add_device, "Simulate one more device.", reads_body=True, schema=ADDED)
    yield Route("DELETE", f"{every}/{{id}}", remove_device, gone, schema=REMOVED)
    yield Route("GET", one, read_simulation, "What a simulated device is told to do.", schema=TOLD)
    yield Route("POST", one, simulate, made, reads_body=True, schema=CHANGED)


async def add_device(call: Call) -> Answer:
    """Add `{"type", "connection"?, "firmware"?, "device_id"?}`. Return the record once the loop has the device."""
    spec = simulation.spec(call.fields(*simulation.SPEC))
    record = await call.bridge.ask(MANAGER, AddSimulated(spec))
    with suppress(NoSuchDevice):
        await wait_for_actors(call.bridge, record.device_id)
    await _wait_for_loop(call, record)
    return Answer(entry_of(call, call.bridge.inventory.find(record.device_id) or record))


async def remove_device(call: Call) -> Answer:
    """Remove a device. Return its id and the devices whose index changed; NoSuchDevice, also for a real device."""
    wanted, simulated = call.words["id"], _simulated(call)
    found = find(EVERY, wanted, simulated, call.vocabulary)
    device_id = wanted if found.pattern or not found.records else found.records[0].device_id
    before = [record.device_id for record in find(EVERY, EVERY, simulated, call.vocabulary).records]
    try:
        gone = await call.bridge.ask(MANAGER, RemoveSimulated(device_id))
    except NoSuchDevice:
        raise NoSuchDevice(quoted(wanted)) from None
    after = [one for one in before if one != gone.device_id]
    moved = [
        {"device_id": one, "index": index, "was": before.index(one)}
        for index, one in enumerate(after)
        if before[index] != one
    ]
    return Answer({"device_id": gone.device_id, "moved": moved})


async def read_simulation(call: Call) -> Answer:
    """Return the simulation in force."""
    return await values_of(call.vocabulary, [_act(call, record, SimulationChange()) for record in _found(call).records])


async def simulate(call: Call) -> Answer:
    """Apply a simulation.CHANGE to each match. Return the simulation then in force."""

    def note(path: str, _reason: str) -> None:
        call.unknown_keys.append(path)

    change = simulation.change(call.fields(*simulation.CHANGE), note)
    found = _found(call)
    return await answer_of(
        call.vocabulary, [_act(call, record, change) for record in found.records], several=found.pattern
    )


def _act(call: Call, record: DeviceRecord, change: SimulationChange) -> Act:
    async def run() -> Mapping[str, object]:
        return await _apply_simulation(call, record, change)

    return Act({"device_id": record.device_id}, run)


async def _apply_simulation(call: Call, record: DeviceRecord, change: SimulationChange) -> dict[str, object]:
    """Apply the change, and wait until the device's actor and the loop have it."""
    bridge, device_id = call.bridge, record.device_id
    told = await bridge.ask(MANAGER, Simulate(device_id, change))
    if bridge.inventory.find(device_id) is not None:
        told = await wait_for_actors(bridge, device_id)
        await _wait_for_loop(call, told)
    level = float(bridge.system.runtime.reader(told.lease).snapshot()["battery_level"])
    return simulation.shown(told, level if change.battery_level is None else change.battery_level)


async def wait_for_actors(bridge: Bridge, device_id: str) -> DeviceRecord:
    """Wait until the device's actor and the manager have handled what they were told, and return the record then. NoSuchDevice."""
    # A device may leave at any time; it returns with its simulation.
    with suppress(NoSuchActor):
        await bridge.ask(actor_name(device_id), ConfigureDevice())
    return await bridge.ask(MANAGER, Simulate(device_id))


async def _wait_for_loop(call: Call, record: DeviceRecord) -> None:
    """Wait until the loop has read the device, or seems to have stopped; one that is stepped reads it at its next tick."""
    runtime = call.bridge.system.runtime
    if runtime.stepping:
        return
    reader = runtime.reader(record.lease)
    for _ in range(FIRST_TICK_LOOKS):
        state = reader.snapshot()
        if int(state["generation"]) == record.lease.generation and int(state["flags"]) & StatusFlag.FLAG_MEASURED:
            return
        await asyncio.sleep(FIRST_TICK_LOOK_S)


def _simulated(call: Call) -> Inventory:
    """Return simulated devices, present or unplugged, in order of first appearance: an unplugged one keeps its index."""
    inventory = call.bridge.inventory
    both = (*inventory.devices, *inventory.unplugged)
    return Inventory(sort_devices(record for record in both if record.identity.simulated))


def _found(call: Call) -> Devices:
    """Return the selected simulated devices; NoSuchDevice when there is none, PortBlocked for one behind a blocked port."""
    found = find(call.words["device"], call.words["id"], _simulated(call), call.vocabulary)
    if not found.records:
        for identity in call.bridge.inventory.withheld:
            if identity.device_id == call.words["id"]:
                raise PortBlocked(identity.port)
        raise NoSuchDevice(quoted(found.text))
    return found
