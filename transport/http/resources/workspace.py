"""Routes of the workspace transform, `/{device}/{id}/state/transform` and `…/config/transform`: a session's, kept at the edge,
and the start value of new sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from actors.kit.errors import HapticError, NoSuchDevice, NoSuchSession
from actors.session.api import ConfigurationChanged, SetWorkspace
from actors.values.spatial import PartialTransform, Transform, WorkspaceChange
from transport.http.device_selector import Area, find
from transport.http.resources.session_areas import BODY, note_unknown
from transport.http.results import Act, answer_of, values_of
from transport.http.route import Route
from transport.http.schema.route_schema import (
    BOTH,
    CLEARED_SESSIONS,
    DEVICE_FAILS,
    OF_SESSIONS,
    SEVERAL_MOVERS,
    RouteSchema,
)
from transport.http.schema.values import SENT_TRANSFORM, WHOLE_TRANSFORM
from transport.http.session_scope import StartScope, cleared_scopes, named_scopes
from transport.wire import frames, module_words, shapes

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord
    from actors.values.identity import Kind
    from transport.http.call import Answer, Call
    from transport.http.device_selector import Devices
    from transport.http.session_scope import OpenScope, Scope, Scopes
    from transport.session.devices import SessionDevices

# The change for one kind of device, or why it is impossible there.
Wanted: TypeAlias = WorkspaceChange | HapticError

TRANSFORM: Final = Area("transform")

SHOWN: Final = RouteSchema(WHOLE_TRANSFORM, path=SEVERAL_MOVERS, query=(OF_SESSIONS,), results=BOTH)
CLEARED: Final = RouteSchema(
    WHOLE_TRANSFORM,
    path=SEVERAL_MOVERS,
    query=(CLEARED_SESSIONS,),
    results=BOTH,
    fails=DEVICE_FAILS,
)
WRITTEN: Final = replace(
    CLEARED, query=(OF_SESSIONS,), body=SENT_TRANSFORM, example={"transform": {"position": {"x": 0, "y": 0.1, "z": 0}}}
)


def routes() -> Iterator[Route]:
    """Yield both paths, which have the same value; only `state` has PATCH."""
    for path in ("state", "config"):
        shape = f"/{{device}}/{{id}}/{path}/transform"
        replaced = "Replace it; what is not sent becomes identity."
        yield Route("GET", shape, read_transform, "A session's workspace transform.", schema=SHOWN)
        yield Route("POST", shape, write_transform, replaced, reads_body=True, schema=WRITTEN)
        yield Route("DELETE", shape, clear_transform, "Back to identity.", schema=CLEARED)
    state = "/{device}/{id}/state/transform"
    yield Route("PATCH", state, patch_transform, "Change parts of it.", reads_body=True, schema=WRITTEN)


async def read_transform(call: Call) -> Answer:
    """Return all three parts."""
    records, scopes = _found(call).records, named_scopes(call).found
    return await values_of(
        call.vocabulary, [_act(scope, record, PartialTransform()) for record in records for scope in scopes]
    )


async def write_transform(call: Call) -> Answer:
    """Replace the transform; a missing part becomes identity."""
    return await _change(call, named_scopes, lambda kind: _sent(call, kind, whole=True))


async def patch_transform(call: Call) -> Answer:
    """Change the given parts."""
    return await _change(call, named_scopes, lambda kind: _sent(call, kind))


async def clear_transform(call: Call) -> Answer:
    """Reset to identity, without `?session=` for every session."""
    return await _change(call, cleared_scopes, lambda _kind: _whole(Transform()))


def _sent(call: Call, kind: Kind, *, whole: bool = False) -> WorkspaceChange:
    """Return the change that a body means for a kind; `whole`: missing parts become identity, except a module's position."""
    body, note = call.value(), note_unknown(call)
    fields = cast("dict[str, object]", body) if isinstance(body, dict) else {}
    words = module_words.transform_words(call.bridge.modules.active(call.bridge.settings), fields, BODY)
    plain = {key: value for key, value in fields.items() if key not in words} if words else body
    change = shapes.transform(plain, BODY, note)
    if whole:
        complete = _whole(change.over(Transform()))
        change = replace(complete, position=change.position) if words else complete
    return module_words.changed(words, fields, BODY, kind, change, note)


def _whole(transform: Transform) -> PartialTransform:
    return PartialTransform(transform.position, transform.rotation, transform.scale)


async def _change(
    call: Call, scopes_of: Callable[[Call], Scopes], change_of: Callable[[Kind], WorkspaceChange]
) -> Answer:
    found = _found(call)
    changes = _for_each(change_of, {record.kind: None for record in found.records})
    scopes = scopes_of(call)
    acts = [_act(scope, record, changes[record.kind]) for record in found.records for scope in scopes.found]
    return await answer_of(call.vocabulary, acts, several=found.pattern or scopes.several)


def _found(call: Call) -> Devices:
    return find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(TRANSFORM)


def _for_each(change_of: Callable[[Kind], WorkspaceChange], kinds: Iterable[Kind]) -> dict[Kind, Wanted]:
    """Return the change for each kind; raise only an error that all kinds have."""
    changes: dict[Kind, Wanted] = {}
    for kind in kinds:
        try:
            changes[kind] = change_of(kind)
        except HapticError as error:
            changes[kind] = error
    wrong = [change for change in changes.values() if isinstance(change, HapticError)]
    if wrong and len(wrong) == len(changes):
        raise wrong[0]
    return changes


def _act(scope: Scope, record: DeviceRecord, change: Wanted) -> Act:
    async def run() -> Mapping[str, object]:
        if isinstance(change, HapticError):
            raise change
        if isinstance(scope, StartScope):
            moved = await _start_values(scope, record, change)
        else:
            moved = _moved(scope, record, change)
        return {"transform": frames.transform_json(moved, complete=True)}

    return Act({**scope.names, "device_id": record.device_id}, run)


async def _start_values(scope: StartScope, record: DeviceRecord, change: WorkspaceChange) -> Transform:
    """Change the start value of new sessions; an empty change writes nothing."""
    changes = () if change == PartialTransform() else (SetWorkspace(record.device_id, change, BODY),)
    config = await scope.configure(changes)
    return config.device(record.device_id).workspace


def _moved(scope: OpenScope, record: DeviceRecord, change: WorkspaceChange) -> Transform:
    devices = _devices(scope)
    device = devices.by_id.get(record.device_id)
    if device is None:
        raise NoSuchDevice(record.device_id)
    moved = change.over(device.workspace, device.travelled)
    if moved != device.workspace:
        devices.place_workspace(record.device_id, moved)
        changed = ConfigurationChanged(("config.transform",), (record.device_id,))
        scope.bridge.system.context.directory.tell(f"session/{scope.session_id}", changed)
    return moved


def _devices(scope: OpenScope) -> SessionDevices:
    channel = scope.bridge.channels.get(scope.session_id)
    devices = None if channel is None else channel.devices
    if devices is None:
        raise NoSuchSession(scope.session_id)
    return devices
