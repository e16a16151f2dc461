"""Routes of what tripped, `/{device}/{id}/trips`, and of devices whose latched e-brake waits, `/{device}/{id}/resume`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from actors.control.api import read_gaps
from actors.device.api import ResumeDevice, actor_name
from actors.kit.errors import NoSuchActor, NoSuchDevice
from fastpath.layout.constants import SafetyBit
from fastpath.text.encoder import encode_json
from transport.http.call import Answer, Call
from transport.http.device_selector import Devices, MotorArea, find
from transport.http.results import Act, answer_of, values_of
from transport.http.route import Route
from transport.http.schema.json_schema import FLAG, NULL, TEXT, either, listed, number, obj
from transport.http.schema.route_schema import SEVERAL_MOVERS, RouteSchema
from transport.security import audit
from transport.wire.envelope import Encoded

if TYPE_CHECKING:
    from actors.control.api import ForceChange
    from actors.device.api import DeviceRecord, Trip
    from fastpath.arena.runtime import Runtime

ROWS: Final[Mapping[str, Any]] = listed(listed(number()))
SAMPLES: Final[Mapping[str, Any]] = obj(
    {"time_s": listed(number()), "position_m": ROWS, "velocity_m_s": ROWS, "force_n": ROWS},
    description="The motion of the 200 ms before the trip, one entry for each sample, in the device frame.",
)
TRIP: Final[Mapping[str, Any]] = obj(
    {
        "number": {"type": "integer", "minimum": 1},
        "time": TEXT,
        "cause": TEXT,
        "value": either(number(), NULL),
        "limit": either(number(), NULL),
        "unit": either(TEXT, NULL),
    },
    optional={"samples": SAMPLES},
)
CHANGE: Final[Mapping[str, Any]] = obj({"taken_n_s": number(), "added_n_s": number()})
CHANGES: Final[Mapping[str, Any]] = obj(
    {"filter": CHANGE, "damper": CHANGE, "monitors": CHANGE},
    description="What each took from the commanded force and added to it since the device connected.",
)
TRIPS: Final = RouteSchema(
    obj({"device_id": TEXT, "trips": listed(TRIP), "changes": CHANGES}), path=SEVERAL_MOVERS, results=("device_id",)
)
WAITING: Final = RouteSchema(
    obj({"device_id": TEXT, "waiting": FLAG, "braking": FLAG}), path=SEVERAL_MOVERS, results=("device_id",)
)
RESUMED: Final = RouteSchema(obj({"device_id": TEXT, "resumed": FLAG}), path=SEVERAL_MOVERS, results=("device_id",))


TRIPPED: Final = MotorArea("trips")
RESUME: Final = MotorArea("resume")


def routes() -> Iterator[Route]:
    """Yield the routes of trips and of waiting brakes."""
    resume = "/{device}/{id}/resume"
    tripped = "What tripped last, and the motion before it; of several devices without the motion."
    yield Route("GET", "/{device}/{id}/trips", read_trips, tripped, schema=TRIPS)
    yield Route(
        "GET", resume, read_waiting, "Whether a device brakes, and waits for a request after that.", schema=WAITING
    )
    let_go = "Let a device that waits obey again once it is slow."
    yield Route("POST", resume, resume_devices, let_go, refuses_body=True, schema=RESUMED)


async def read_trips(call: Call) -> Answer:
    """Return the newest trips of each device, oldest first, since the service started, and what changed its commanded force."""
    found = _found(call, TRIPPED)
    samples = not found.pattern and len(found.records) == 1
    table = call.bridge.system.trips.value
    runtime = call.bridge.system.runtime
    devices = [(one.device_id, table.of(one.device_id), read_gaps(runtime, one.lease).changes) for one in found.records]
    return Answer(shown(devices, samples=samples))


def shown(devices: Sequence[tuple[str, Sequence[Trip], Mapping[str, ForceChange]]], *, samples: bool) -> Encoded:
    """Join what was encoded when the devices tripped: the trips of a single one, or a result for each of several."""
    trips = [
        (
            encode_json(device_id),
            b",".join(one.whole if samples else one.brief for one in trips),
            encode_json({name: {"taken_n_s": one.taken, "added_n_s": one.added} for name, one in changes.items()}),
        )
        for device_id, trips, changes in devices
    ]
    if len(trips) == 1:
        return Encoded(b'{"device_id":%b,"trips":[%b],"changes":%b}' % trips[0])
    results = (b'{"device_id":%b,"ok":true,"trips":[%b],"changes":%b}' % one for one in trips)
    return Encoded(b'{"results":[%b]}' % b",".join(results))


async def read_waiting(call: Call) -> Answer:
    """Return whether the e-brake of each device acts, and whether it waits for a request."""
    return await values_of(call.vocabulary, [_read_waiting(call, record) for record in _found(call, RESUME).records])


def _read_waiting(call: Call, record: DeviceRecord) -> Act:
    async def run() -> Mapping[str, object]:
        waiting, braking = brake_of(call.bridge.system.runtime, record)
        return {"device_id": record.device_id, "waiting": waiting, "braking": braking}

    return Act({"device_id": record.device_id}, run)


def brake_of(runtime: Runtime, record: DeviceRecord) -> tuple[bool, bool]:
    """Return whether the device's e-brake waits for a request, and whether it acts."""
    state: Any = runtime.reader(record.lease).snapshot()
    # A slot shows its earlier lease until the first tick of the new one.
    current = int(state["generation"]) == record.lease.generation
    return current and int(state["waiting"]) > 0, current and bool(int(state["safety"]) & SafetyBit.SAFETY_EBRAKE)


async def resume_devices(call: Call) -> Answer:
    """Let each device that waits obey again once it is slow; `resumed` is false for one that waited for nothing."""
    found = _found(call, RESUME)
    audit(call.peer, "-", f"resume of {', '.join(record.device_id for record in found.records)}")
    return await answer_of(call.vocabulary, [_resume(call, record) for record in found.records], several=found.pattern)


def _resume(call: Call, record: DeviceRecord) -> Act:
    async def run() -> Mapping[str, object]:
        try:
            resumed = await call.bridge.ask(actor_name(record.device_id), ResumeDevice())
        except NoSuchActor:
            if call.bridge.inventory.find(record.device_id) is not None:
                raise
            raise NoSuchDevice(record.device_id) from None
        return {"device_id": record.device_id, "resumed": resumed}

    return Act({"device_id": record.device_id}, run)


def _found(call: Call, area: MotorArea) -> Devices:
    return find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(area)
