"""`/{device}/{id}/state/transform` and `…/config/transform`: a session's workspace transform, which is kept at the edge itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from actors.kit.errors import InvalidInput, NoSuchDevice, NoSuchSession
from actors.session.messages import ConfigurationChanged
from actors.values.spatial import PartialTransform, Transform
from transport.http.device_selector import Area, find
from transport.http.resources.session_areas import BODY, note_unknown
from transport.http.results import Act, answer_of
from transport.http.route import Route
from transport.http.scope import Scopes, cleared_scopes, named_scopes, one_scope
from transport.wire import frames, shapes

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord
    from transport.http.call import Answer, Call
    from transport.http.scope import OpenScope
    from transport.ws.session_devices import SessionDevices

TRANSFORM: Final = Area("transform")

Move: TypeAlias = Callable[[Transform], Transform]


def routes() -> Iterator[Route]:
    """Both paths show one value; only `state` has PATCH."""
    for path in ("state", "config"):
        shape = f"/{{device}}/{{id}}/{path}/transform"
        yield Route("GET", shape, read_transform, "A session's workspace transform.")
        yield Route("POST", shape, write_transform, "Replace it; what is not sent becomes identity.", reads_body=True)
        yield Route("DELETE", shape, clear_transform, "Back to identity.")
    yield Route("PATCH", shape.replace("config", "state"), patch_transform, "Change parts of it.", reads_body=True)


async def read_transform(call: Call) -> Answer:
    """All three sub-fields, always."""
    (scope,) = one_scope(call).opened()
    record = (
        find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(TRANSFORM).one()
    )
    return await answer_of([_act(scope, record, lambda now: now)], several=False)


async def write_transform(call: Call) -> Answer:
    """What is not sent becomes identity."""
    sent = _sent(call)
    return await _change(call, named_scopes(call), lambda _now: sent.over(Transform()))


async def patch_transform(call: Call) -> Answer:
    """What is not sent is kept."""
    return await _change(call, named_scopes(call), _sent(call).over)


async def clear_transform(call: Call) -> Answer:
    """Identity, for every session without `?session=`."""
    return await _change(call, cleared_scopes(call), lambda _now: Transform())


def _sent(call: Call) -> PartialTransform:
    body = call.value()
    if isinstance(body, dict) and "pivot" in cast("dict[str, object]", body):
        raise InvalidInput("pivot is a preview: set features/workspace_zoom/enabled first", f"{BODY}.pivot")
    return shapes.transform(body, BODY, note_unknown(call))


async def _change(call: Call, scopes: Scopes, move: Move) -> Answer:
    found = find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(TRANSFORM)
    acts = [_act(scope, record, move) for record in found.records for scope in scopes.opened()]
    return await answer_of(acts, several=found.pattern or scopes.several)


def _act(scope: OpenScope, record: DeviceRecord, move: Move) -> Act:
    async def run() -> Mapping[str, object]:
        devices = _devices(scope)
        device = devices.by_id.get(record.device_id)
        if device is None:
            raise NoSuchDevice(record.device_id)
        now = device.workspace
        moved = move(now)
        if moved != now:
            devices.place_workspace(record.device_id, moved)
            changed = ConfigurationChanged(("config.transform",), (record.device_id,))
            scope.bridge.system.context.directory.tell(f"session/{scope.session_id}", changed)
        return {"transform": frames.transform_json(moved, complete=True)}

    return Act({**scope.names, "device_id": record.device_id}, run)


def _devices(scope: OpenScope) -> SessionDevices:
    channel = scope.bridge.channels.get(scope.session_id)
    devices = None if channel is None else channel.devices
    if devices is None:
        raise NoSuchSession(scope.session_id)
    return devices
