"""Route of `/{device}/{id}/identify`: three short vibrations that the hand on the device feels."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from actors.kit.errors import Conflict, HapticError, NoSuchDevice
from actors.session.api import MANAGER, Client, CloseGone, CloseSession, OpenSession
from transport.http.call import Answer
from transport.http.device_selector import MotorArea, find
from transport.http.resources.trips import brake_of
from transport.http.results import Act, answer_of
from transport.http.route import Route
from transport.http.schema.json_schema import FLAG, TEXT, obj
from transport.http.schema.route_schema import SEVERAL_MOVERS, RouteSchema

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord
    from transport.bridge import Bridge
    from transport.http.call import Call

TIMES: Final = 3
ON_S: Final = 0.15
OFF_S: Final = 0.15
# Felt by the fingers at a fraction of it; the loop bounds a vibration's power besides (docs/force-path.md).
FORCE: Final = (0.0, 0.0, 1.0)  # N
HZ: Final = 120.0
VERSION: Final = "3.1"

IDENTIFIED: Final = RouteSchema(
    obj({"device_id": TEXT, "identified": FLAG}), path=SEVERAL_MOVERS, results=("device_id",), fails=(404, 409, 503)
)


IDENTIFY: Final = MotorArea("identify")


def routes() -> Iterator[Route]:
    """Yield the route."""
    yield Route(
        "POST",
        "/{device}/{id}/identify",
        identify,
        "Make a device vibrate three times, for about 0.8 s, so that whoever holds it knows which one it is.",
        schema=IDENTIFIED,
    )


async def identify(call: Call) -> Answer:
    """Have the devices give their sign, all at the same time; answered at its end."""
    found = find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(IDENTIFY)
    given = [_give(call.bridge, one, call.peer) for one in found.records]
    ended = await asyncio.gather(*given, return_exceptions=True)
    acts = [
        Act({"device_id": one.device_id}, partial(_result, one.device_id, end))
        for one, end in zip(found.records, ended, strict=True)
    ]
    return await answer_of(call.vocabulary, acts, several=found.pattern)


async def _result(device_id: str, end: BaseException | None) -> Mapping[str, object]:
    if end is not None:
        raise end
    return {"device_id": device_id, "identified": True}


async def _give(bridge: Bridge, record: DeviceRecord, asked_by: str) -> None:
    """Vibrate the device TIMES times in a session of its own; Conflict while it cannot, NoSlot, Busy."""
    device_id = record.device_id
    if record.stopped:
        raise Conflict(f"{device_id} is stopped: resume it first.")
    if any(brake_of(bridge.system.runtime, record)):
        raise Conflict(f"{device_id} is held by its e-brake: resume it first.")
    if not record.accepts:
        raise Conflict(f"{device_id} settles, sleeps or is calibrated: try again once it is ready.")
    if device_id in bridge.identifying:
        raise Conflict(f"{device_id} gives its sign already: feel for it.")
    bridge.identifying.add(device_id)
    try:
        await _vibrate(bridge, record, asked_by)
    finally:
        bridge.identifying.discard(device_id)


async def _vibrate(bridge: Bridge, record: DeviceRecord, asked_by: str) -> None:
    directory = bridge.system.context.directory
    over = False
    try:
        # A session whose actor crashed ends by itself within the second.
        handle = await bridge.open_session(
            OpenSession(Client(f"identify:{asked_by}", VERSION), _ignore, None, lambda: over)
        )
    except HapticError:
        over = True
        directory.tell(MANAGER, CloseGone())
        raise
    writer = bridge.system.runtime.writer(handle.lease, record.lease)
    try:
        for _ in range(TIMES):
            writer.set_effect(0, FORCE, HZ)
            writer.publish(refresh=False)
            await asyncio.sleep(ON_S)
            writer.set_effect(0)
            if not writer.publish(refresh=False):
                raise NoSuchDevice(record.device_id)
            await asyncio.sleep(OFF_S)
    finally:
        over = True
        writer.revoke()
        directory.tell(MANAGER, CloseSession(handle.session_id, handle.lease))


def _ignore() -> None:
    """Do nothing: the sign ends by itself."""
