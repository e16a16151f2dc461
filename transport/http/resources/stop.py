"""Routes of `/stop`: latch zero output on devices. A stop acts at once without asking an actor, and is then stored in the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from actors.device.api import StopStatus
from actors.kit.errors import Busy
from transport.http.call import Answer, Call
from transport.http.device_selector import Area, Devices, find
from transport.http.durable import confirmed
from transport.http.route import Route
from transport.http.schema.json_schema import FLAG, TEXT, listed, obj
from transport.http.schema.route_schema import SEVERAL_MOVERS, RouteSchema
from transport.security import audit

AREA = Area("stop")
NOTHING: Final[Mapping[str, bool]] = {}
STORAGE_WAIT: Final = "communication/stop_storage_wait"
_STORED: Final = {"stored": {"const": False}}
STOPPED: Final = RouteSchema(
    obj(
        {"stopped": FLAG, "everything": FLAG, "devices": listed(TEXT)},
        optional=_STORED,
        description="`stored` false: it holds, but is not on the disk yet; GET /readyz says so if that fails.",
    ),
    fails=(507,),
)
_ONE: Final[Mapping[str, Any]] = obj({"device_id": TEXT, "stopped": FLAG}, optional=_STORED)
DEVICE_STOPPED: Final = RouteSchema(_ONE, path=SEVERAL_MOVERS, results=("device_id",))
DEVICES_STOPPED: Final = RouteSchema(_ONE, path=SEVERAL_MOVERS, results=("device_id",), fails=(507,))


def routes() -> Iterator[Route]:
    """Yield the routes of all devices and of some."""
    some = "/{device}/{id}/stop"
    stop_some, release_some = "Zero output on these devices, until released.", "Let these devices move again."
    yield Route("GET", "/stop", read_stop, "What is stopped.", schema=STOPPED)
    yield Route("POST", "/stop", stop_everything, "Zero output on every device, until released.", schema=STOPPED)
    yield Route("DELETE", "/stop", release_everything, "Let every device move again.", schema=STOPPED)
    yield Route("GET", some, read_device_stop, "Whether a device is stopped.", schema=DEVICE_STOPPED)
    yield Route("POST", some, stop_devices, stop_some, schema=DEVICES_STOPPED)
    yield Route("DELETE", some, release_devices, release_some, schema=DEVICES_STOPPED)


async def read_stop(call: Call) -> Answer:
    """Return what is stopped; `everything` includes devices that connect later."""
    return Answer(_shown(call.bridge.system.stops.status))


async def stop_everything(call: Call) -> Answer:
    """Stop all devices, whatever the body: a stop is never refused for its form."""
    with call.bridge.giving_way(stop=True):
        status = call.bridge.system.stops.stop(None, call.peer)
        audit(call.peer, "-", "stop of everything")
        return Answer({**_shown(status), **await _stored(call, "Everything is stopped")})


async def release_everything(call: Call) -> Answer:
    """Release all devices."""
    status = call.bridge.system.stops.release(None, call.peer)
    audit(call.peer, "-", "stop of everything released")
    await confirmed(call.bridge, "The stop is released")
    return Answer(_shown(status))


async def read_device_stop(call: Call) -> Answer:
    """Return whether each device is stopped, by itself or with everything."""
    return _each(_found(call), call.bridge.system.stops.latch.value.holds, several=False)


async def stop_devices(call: Call) -> Answer:
    """Stop these devices at the same time."""
    found = _found(call)
    ids = tuple(record.device_id for record in found.records)
    with call.bridge.giving_way(stop=True):
        status = call.bridge.system.stops.stop(ids, call.peer)
        audit(call.peer, "-", f"stop of {', '.join(ids)}", device=_only(ids))
        stored = await _stored(call, "The stop holds")
    return _each(found, status.device_ids.__contains__, several=found.pattern, more=stored)


def _only(ids: tuple[str, ...]) -> str | None:
    """Return the id of a single device; None for several."""
    return ids[0] if len(ids) == 1 else None


async def release_devices(call: Call) -> Answer:
    """Release these devices; other stopped ones stay stopped."""
    found = _found(call)
    ids = tuple(record.device_id for record in found.records)
    status = call.bridge.system.stops.release(ids, call.peer)
    audit(call.peer, "-", f"stop of {', '.join(ids)} released", device=_only(ids))
    await confirmed(call.bridge, "The stop is released")
    return _each(found, status.device_ids.__contains__, several=found.pattern)


async def _stored(call: Call, done: str) -> dict[str, bool]:
    """Return what an answer says about the disk: nothing once the stop is there, which may take STORAGE_WAIT."""
    try:
        await confirmed(call.bridge, done, within_s=call.bridge.settings.number(STORAGE_WAIT))
    except Busy:
        return {"stored": False}
    return {}


def _found(call: Call) -> Devices:
    return find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(AREA)


def _each(
    found: Devices, stopped: Callable[[str], bool], *, several: bool, more: Mapping[str, bool] = NOTHING
) -> Answer:
    """Answer the stop state of each device, with `more`; `several`: as results even for one."""
    shown = [{"device_id": one.device_id, "stopped": stopped(one.device_id), **more} for one in found.records]
    if several or len(shown) > 1:
        return Answer({"results": [{**one, "ok": True} for one in shown]})
    return Answer(shown[0])


def _shown(status: StopStatus) -> dict[str, Any]:
    stopped = status.everything or bool(status.device_ids)
    return {"stopped": stopped, "everything": status.everything, "devices": list(status.device_ids)}
