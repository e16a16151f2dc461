"""`/simulation/devices`: simulated devices come and go; `/simulation/{device}/{id}`: a hand, a handle or a fault does what is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from actors.device.actor import actor_name
from actors.device.messages import MANAGER, AddSimulated, ConfigureDevice, Inventory, RemoveSimulated, Simulate
from actors.kit.errors import NoSuchActor, NoSuchDevice, PortBlocked
from actors.values.simulation import BUTTONS, Fault, HandPath, SimulationChange
from transport.http.call import Answer, Call
from transport.http.describe.about import ONE_DEVICE, SEVERAL_DEVICES, About
from transport.http.describe.devices import RECORD
from transport.http.describe.schema import FLAG, NULL, OBJECT, TEXT, Schema, either, number, obj, said, text, word
from transport.http.device_selector import Devices, find, shown
from transport.http.resources.devices import entry_of
from transport.http.results import Act, answer_of
from transport.http.route import Route
from transport.wire import simulation
from transport.wire.vocabulary import path_words

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord

FIRST_TICK_LOOKS: Final = 20
FIRST_TICK_LOOK_S: Final = 0.005


def _spec() -> Schema:
    """A device to simulate: for each way to be connected the words that have it."""
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
_HAND: Final = obj(
    {},
    optional={
        "position": either(
            obj(dict.fromkeys("xyz", number())), NULL, says="m, device frame; null: the reach's centre."
        ),
        "path": word(*HandPath),
        "stiffness": number(10, 1000, "N/m"),
    },
    one_of_them=True,
)
_CHANGE: Final = obj(
    {},
    optional={
        "hand": _HAND,
        "buttons": obj({}, optional=dict.fromkeys(BUTTONS, FLAG), one_of_them=True, says="Grips and pens only."),
        "orientation": either(obj(dict.fromkeys("wxyz", number())), NULL, says="null: as the hand holds it."),
        "attached": said(dict(FLAG), "Grips and pens only."),
        "battery_level": number(0, 1, "Wireless grips only."),
        "awake": FLAG,
        "fault": word(*Fault),
    },
    one_of_them=True,
)
_TOLD: Final = obj({"device_id": TEXT, "hand": OBJECT, "awake": FLAG, "fault": word(*Fault)})
ADDED: Final = About(RECORD, _SPEC, fails=(409,), example={"type": "grip", "connection": "wireless"})
REMOVED: Final = About(
    obj({"device_id": TEXT}),
    path={"id": text("Its id.", pattern="^[A-Za-z0-9_.-]{1,8}$")},
    fails=(404, 409),
    place="/simulation/devices/1605",
)
TOLD: Final = About(_TOLD, path=ONE_DEVICE, fails=(404, 409))
CHANGED: Final = About(
    _TOLD,
    _CHANGE,
    path=SEVERAL_DEVICES,
    results=("device_id",),
    fails=(404, 409),
    example={"fault": "none"},
    place="/simulation/arm/0",
)


def routes() -> Iterator[Route]:
    """The routes of simulated devices."""
    every, one = "/simulation/devices", "/simulation/{device}/{id}"
    gone, made = "Simulate this device no longer.", "Move a hand, press a button, make a fault happen."
    yield Route("POST", every, add_device, "Simulate one more device.", reads_body=True, about=ADDED)
    yield Route("DELETE", f"{every}/{{id}}", remove_device, gone, about=REMOVED)
    yield Route("GET", one, read_simulation, "What a simulated device is told to do.", about=TOLD)
    yield Route("POST", one, simulate, made, reads_body=True, about=CHANGED)


async def add_device(call: Call) -> Answer:
    """`{"type", "connection"?, "firmware"?, "device_id"?}`; the record of the device once the loop shows it."""
    spec = simulation.spec(call.fields(*simulation.SPEC))
    record = await call.bridge.ask(MANAGER, AddSimulated(spec))
    await _taken_up(call, record)
    return Answer(entry_of(call, call.bridge.inventory.find(record.device_id) or record))


async def remove_device(call: Call) -> Answer:
    """The id of the device that was; NoSuchDevice, also for a real one."""
    device_id = call.words["id"]
    try:
        gone = await call.bridge.ask(MANAGER, RemoveSimulated(device_id))
    except NoSuchDevice:
        raise NoSuchDevice(shown(device_id)) from None
    return Answer({"device_id": gone.device_id})


async def read_simulation(call: Call) -> Answer:
    """What is in force."""
    return Answer(await _told(call, _found(call).one(), SimulationChange()))


async def simulate(call: Call) -> Answer:
    """Any of simulation.CHANGE on each match; the echo is what is in force then."""

    def note(path: str, _reason: str) -> None:
        call.unknown_keys.append(path)

    change = simulation.change(call.fields(*simulation.CHANGE), note)
    found = _found(call)
    return await answer_of(
        call.vocabulary, [_act(call, record, change) for record in found.records], several=found.pattern
    )


def _act(call: Call, record: DeviceRecord, change: SimulationChange) -> Act:
    async def run() -> Mapping[str, object]:
        return await _told(call, record, change)

    return Act({"device_id": record.device_id}, run)


async def _told(call: Call, record: DeviceRecord, change: SimulationChange) -> dict[str, object]:
    """Ask for the change, then let the device's actor have made it."""
    bridge, device_id = call.bridge, record.device_id
    told = await bridge.ask(MANAGER, Simulate(device_id, change))
    if bridge.inventory.find(device_id) is not None:
        # A device may go at any time; what it was told is what it comes back with.
        with suppress(NoSuchActor):
            await bridge.ask(actor_name(device_id), ConfigureDevice())
        told = await bridge.ask(MANAGER, Simulate(device_id))
    level = float(bridge.system.runtime.reader(told.lease).snapshot()["battery_level"])
    return simulation.shown(told, level if change.battery_level is None else change.battery_level)


async def _taken_up(call: Call, record: DeviceRecord) -> None:
    """Return when the loop has had its first tick with the device, or seems to stand still."""
    reader = call.bridge.system.runtime.reader(record.lease)
    for _ in range(FIRST_TICK_LOOKS):
        if reader.snapshot()["generation"] == record.lease.generation:
            return
        await asyncio.sleep(FIRST_TICK_LOOK_S)


def _found(call: Call) -> Devices:
    """Simulated devices, here or unplugged; NoSuchDevice when there is none, PortBlocked for one that its port keeps away."""
    inventory = call.bridge.inventory
    records = (record for record in (*inventory.devices, *inventory.unplugged) if record.identity.simulated)
    found = find(call.words["device"], call.words["id"], Inventory(tuple(records)), call.vocabulary)
    if not found.records:
        for identity in inventory.withheld:
            if identity.device_id == call.words["id"]:
                raise PortBlocked(identity.port)
        raise NoSuchDevice(shown(found.text))
    return found
