"""Routes of what tripped, `/{device}/{id}/trips`, and of devices whose latched e-brake waits, `/{device}/{id}/resume`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from actors.device.api import ResumeDevice, actor_name
from actors.kit.errors import NoSuchActor, NoSuchDevice
from fastpath.layout.constants import SafetyBit
from transport.http.call import Answer, Call
from transport.http.device_selector import Area, Devices, find
from transport.http.results import Act, answer_of, values_of
from transport.http.route import Route
from transport.http.schema.json_schema import FLAG, NULL, TEXT, either, listed, number, obj
from transport.http.schema.route_schema import SEVERAL_MOVERS, RouteSchema
from transport.security import audit

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord, Trip

NS_PER_S: Final = 1_000_000_000
# Decimals of s, m, m/s and N: finer than what the loop measures, and short on the wire.
TIME_DECIMALS, POSITION_DECIMALS, VELOCITY_DECIMALS, FORCE_DECIMALS = 6, 7, 5, 4

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
TRIPS: Final = RouteSchema(obj({"device_id": TEXT, "trips": listed(TRIP)}), path=SEVERAL_MOVERS, results=("device_id",))
WAITING: Final = RouteSchema(
    obj({"device_id": TEXT, "waiting": FLAG, "braking": FLAG}), path=SEVERAL_MOVERS, results=("device_id",)
)
RESUMED: Final = RouteSchema(obj({"device_id": TEXT, "resumed": FLAG}), path=SEVERAL_MOVERS, results=("device_id",))


class MotorArea(Area):
    """An area of every device with motors, whatever its kind lists."""

    def on(self, record: DeviceRecord) -> bool:
        """Whether the device has motors."""
        return record.kind.has_motors


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
    yield Route("POST", resume, resume_devices, "Let a device that waits obey again once it rests.", schema=RESUMED)


async def read_trips(call: Call) -> Answer:
    """Return the newest trips of each device, oldest first, since the service started."""
    found = _found(call, TRIPPED)
    several = found.pattern or len(found.records) > 1
    acts = [_read_trips(call, record, samples=not several) for record in found.records]
    return await values_of(call.vocabulary, acts)


def _read_trips(call: Call, record: DeviceRecord, *, samples: bool) -> Act:
    async def run() -> Mapping[str, object]:
        trips = call.bridge.system.trips.value.of(record.device_id)
        return {"device_id": record.device_id, "trips": [_shown(one, samples=samples) for one in trips]}

    return Act({"device_id": record.device_id}, run)


def _shown(trip: Trip, *, samples: bool) -> dict[str, object]:
    """Return a trip as answers show it; a cause without a measured value has null in its place."""
    measured = bool(trip.unit)
    shown: dict[str, object] = {
        "number": trip.number,
        "time": datetime.fromtimestamp(trip.at_ns / NS_PER_S, UTC).isoformat(timespec="microseconds"),
        "cause": trip.cause,
        "value": trip.value if measured else None,
        "limit": trip.limit if measured else None,
        "unit": trip.unit or None,
    }
    if samples:
        shown["samples"] = {
            "time_s": trip.samples.seconds.round(TIME_DECIMALS).tolist(),
            "position_m": trip.samples.position.astype(float).round(POSITION_DECIMALS).tolist(),
            "velocity_m_s": trip.samples.velocity.astype(float).round(VELOCITY_DECIMALS).tolist(),
            "force_n": trip.samples.force.astype(float).round(FORCE_DECIMALS).tolist(),
        }
    return shown


async def read_waiting(call: Call) -> Answer:
    """Return whether the e-brake of each device acts, and whether it waits for a request."""
    return await values_of(call.vocabulary, [_read_waiting(call, record) for record in _found(call, RESUME).records])


def _read_waiting(call: Call, record: DeviceRecord) -> Act:
    async def run() -> Mapping[str, object]:
        state: Any = call.bridge.system.runtime.reader(record.lease).snapshot()
        # A slot shows its earlier lease until the first tick of the new one.
        current = int(state["generation"]) == record.lease.generation
        waiting = current and int(state["waiting"]) > 0
        braking = current and bool(int(state["safety"]) & SafetyBit.SAFETY_EBRAKE)
        return {"device_id": record.device_id, "waiting": waiting, "braking": braking}

    return Act({"device_id": record.device_id}, run)


async def resume_devices(call: Call) -> Answer:
    """Let each device that waits obey again once it has rested; `resumed` is false for one that waited for nothing."""
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


def _found(call: Call, area: Area) -> Devices:
    return find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(area)
