"""Routes of `/{device}/{id}/config/paired_with` and `/{device}/{id}/calibration`; reads come from the PairingTable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from actors.device.api import MANAGER, ConfigureDevice, ConfirmInventory, actor_name
from actors.kit.errors import InvalidInput, NoSuchActor, NoSuchDevice
from actors.pairing.api import PAIRING, Calibrate, Origin, Pairing, PairManually, Progress, Reason, Unpair
from actors.values.kinds.nouns import names_of
from transport.http.call import NO_BODY, Answer
from transport.http.device_selector import Area, find, quoted
from transport.http.durable import confirmed
from transport.http.resources.session_areas import BODY, note_unknown
from transport.http.results import Act, Run, answer_of, values_of
from transport.http.route import Route
from transport.http.schema.json_schema import TEXT, either, nullable, obj, word
from transport.http.schema.route_schema import DEVICE_ID, SEVERAL_DEVICES, RouteSchema
from transport.wire import shapes

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord
    from actors.pairing.api import PairingTable
    from transport.bridge import Bridge
    from transport.http.call import Call
    from transport.http.device_selector import Devices

PAIRED_WITH: Final = Area("paired_with", every_kind=True)
CALIBRATION: Final = Area("calibration", every_kind=True)

_PAIRING: Final = obj({"paired_with": nullable(TEXT)}, optional={"origin": word(*Origin)})
_WANTED: Final = obj({"device_id": DEVICE_ID})
_PROGRESS: Final = obj({"state": word(*Progress)}, optional={"reason": word(*Reason)})
PARTNER: Final = RouteSchema(_PAIRING, path=SEVERAL_DEVICES, results=("device_id",))
PARTED: Final = RouteSchema(_PAIRING, path=SEVERAL_DEVICES, results=("device_id",), fails=(404, 507))
PAIRED: Final = replace(PARTED, body=either(_WANTED, DEVICE_ID), example={"device_id": "1605"}, fails=(404, 409, 507))
PROGRESS: Final = RouteSchema(_PROGRESS, path=SEVERAL_DEVICES, results=("device_id",))
CALIBRATED: Final = RouteSchema(_PROGRESS, path=SEVERAL_DEVICES, results=("device_id",), fails=(404, 409))


def routes() -> Iterator[Route]:
    """Yield the routes of pairs and calibration."""
    paired, calibration = "/{device}/{id}/config/paired_with", "/{device}/{id}/calibration"
    yield Route("GET", paired, read_partner, "The other half of the device's pair.", schema=PARTNER)
    yield Route("POST", paired, pair, "Pair two devices by hand.", reads_body=True, schema=PAIRED)
    yield Route("DELETE", paired, unpair, "Dissolve the device's pair.", schema=PARTED)
    yield Route("GET", calibration, read_calibration, "How far the device's calibration is.", schema=PROGRESS)
    yield Route(
        "POST",
        calibration,
        calibrate,
        f"Calibrate the device with its {names_of(lambda spec: spec.is_handle)}.",
        schema=CALIBRATED,
    )


async def read_partner(call: Call) -> Answer:
    """Return the partner, null without one."""
    records = _found(call, PAIRED_WITH).records
    return await values_of(call.vocabulary, [_act(one, partial(_partner, call.bridge, one)) for one in records])


async def pair(call: Call) -> Answer:
    """Pair with `{"device_id"}` or the bare id until DELETE, also over restarts."""
    body = call.body
    if body is NO_BODY:
        raise InvalidInput("Send a JSON body.")
    partner = shapes.word(body, "device_id", BODY, note_unknown(call))
    if call.bridge.inventory.find(partner) is None:
        raise NoSuchDevice(quoted(partner))
    found = _found(call, PAIRED_WITH)
    acts = [_act(one, partial(_pair, call.bridge, PairManually(one.device_id, partner))) for one in found.records]
    return await answer_of(call.vocabulary, acts, several=found.pattern)


async def unpair(call: Call) -> Answer:
    """Dissolve the pair; it is not paired automatically again until one half reconnects."""
    found = _found(call, PAIRED_WITH)
    acts = [_act(one, partial(_pair, call.bridge, Unpair(one.device_id))) for one in found.records]
    return await answer_of(call.vocabulary, acts, several=found.pattern)


async def read_calibration(call: Call) -> Answer:
    """Return the calibration; `reason` says why the last one failed."""
    records = _found(call, CALIBRATION).records
    return await values_of(call.vocabulary, [_act(one, partial(_calibration, call.bridge, one)) for one in records])


async def calibrate(call: Call) -> Answer:
    """Start a calibration; answered when the loop gives no force any more."""
    found = _found(call, CALIBRATION)
    acts = [_act(one, partial(_calibrate, call.bridge, one.device_id)) for one in found.records]
    return await answer_of(call.vocabulary, acts, several=found.pattern)


def _act(record: DeviceRecord, run: Run) -> Act:
    return Act({"device_id": record.device_id}, run)


async def _partner(bridge: Bridge, record: DeviceRecord) -> Mapping[str, object]:
    return _pairing(_book(bridge).pairing(record.device_id))


async def _calibration(bridge: Bridge, record: DeviceRecord) -> Mapping[str, object]:
    one = _book(bridge).calibration(record.device_id)
    reason = {} if one.reason is None else {"reason": str(one.reason)}
    return {"state": str(one.progress), **reason}


async def _pair(bridge: Bridge, request: PairManually | Unpair) -> Mapping[str, object]:
    now = await bridge.ask(PAIRING, request)
    await _wait_until_published(bridge, request.device_id)
    await confirmed(bridge, "That holds")
    return _pairing(now)


async def _calibrate(bridge: Bridge, device_id: str) -> Mapping[str, object]:
    progress = await bridge.ask(PAIRING, Calibrate(device_id))
    await _wait_until_published(bridge, device_id)
    return {"state": str(progress)}


async def _wait_until_published(bridge: Bridge, device_id: str) -> None:
    """Wait until inventory and loop have the new state of the device and its partner."""
    await bridge.ask(MANAGER, ConfirmInventory())
    for one in (device_id, _book(bridge).pairing(device_id).paired_with):
        if one is not None and bridge.inventory.find(one) is not None:
            try:
                await bridge.ask(actor_name(one), ConfigureDevice())
            except NoSuchActor:
                continue


def _book(bridge: Bridge) -> PairingTable:
    return bridge.system.pairing.value


def _pairing(now: Pairing) -> dict[str, object]:
    if now.origin is None:
        return {"paired_with": None}
    return {"paired_with": now.paired_with, "origin": str(now.origin)}


def _found(call: Call, area: Area) -> Devices:
    return find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(area)
