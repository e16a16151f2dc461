"""Routes of a session's own configuration, `/{device}/{id}/config/…`: basis, mount, preset, filters, navigation, scene. Bodies as in `configure`.

A change is validated here first, so that a request is applied whole or not at all; then the session's actor applies it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from actors.device.api import unsupported_event
from actors.event.api import HUB
from actors.kit.errors import FirmwareTooOld, HapticError, InvalidInput
from actors.modules.registry import is_on, refusal
from actors.modules.scene import Scenes
from actors.session.api import (
    ClearDamping,
    ClearNavigation,
    ClearScene,
    SessionConfig,
    SetBasis,
    SetDamping,
    SetForceGate,
    SetMount,
    SetNavigation,
    SetPreset,
    SetScene,
    mount_of,
    preset_of,
    refused_in_every_session,
)
from transport.http.device_selector import Area, find
from transport.http.results import Act, answer_of, values_of
from transport.http.route import Route
from transport.http.schema import values
from transport.http.schema.json_schema import Schema, obj
from transport.http.schema.navigation import NAVIGATION, SENT_NAVIGATION
from transport.http.schema.route_schema import (
    BOTH,
    CLEARED_SESSIONS,
    DEVICE_FAILS,
    OF_SESSIONS,
    SEVERAL_DEVICES,
    SEVERAL_MOVERS,
    RouteSchema,
)
from transport.http.schema.scene import SCENE, SENT_SCENE
from transport.http.session_scope import Scope, cleared_scopes, named_scopes
from transport.wire import configuration, frames, navigation, scene, shapes
from transport.wire.vocabulary import preset_in

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord
    from transport.http.call import Answer, Call, Handler
    from transport.http.device_selector import Devices
    from transport.http.session_scope import Scopes

BODY: Final = "body"

DeviceChange: TypeAlias = (
    SetBasis
    | SetMount
    | SetPreset
    | SetDamping
    | ClearDamping
    | SetForceGate
    | SetNavigation
    | ClearNavigation
    | SetScene
    | ClearScene
)
Changes: TypeAlias = tuple[DeviceChange, ...]


@dataclass(frozen=True, slots=True)
class SessionArea:
    """One area of a session's configuration."""

    area: Area
    path: str
    read_body: Callable[[object, shapes.NameUnknown], Changes]
    clears: Changes  # changes of DELETE
    shown: Callable[[Call, DeviceRecord, SessionConfig], Mapping[str, object]]
    sent: Schema  # schema of the body
    echo: Schema  # schema of the answer
    example: object
    preview: type[Scenes] | None = None  # module without which the area is refused


# ---------------------------------------------------------------- bodies


def _basis(body: object, note: shapes.NameUnknown) -> Changes:
    return (SetBasis("", shapes.basis(body, BODY, note), BODY),)


def _mount(body: object, note: shapes.NameUnknown) -> Changes:
    return (SetMount("", shapes.transform(body, BODY, note), BODY),)


def _preset(body: object, note: shapes.NameUnknown) -> Changes:
    return (SetPreset("", preset_in(shapes.word(body, "preset", BODY, note)), BODY),)


def _damping(body: object, note: shapes.NameUnknown) -> Changes:
    return (configuration.damping(body, BODY, "", note),)


def _force_gate(body: object, note: shapes.NameUnknown) -> Changes:
    return (configuration.force_gate(body, BODY, "", note),)


def _navigation(body: object, note: shapes.NameUnknown) -> Changes:
    return (navigation.read(body, BODY, "", note),)


def _scene(body: object, note: shapes.NameUnknown) -> Changes:
    def refuse(path: str, reason: str) -> None:
        raise InvalidInput(reason, path)

    return (scene.read(body, BODY, "", note, refuse),)


def _filters(body: object, note: shapes.NameUnknown) -> Changes:
    fields = shapes.mapping(body, BODY)
    shapes.needed(fields, ("damping", "force_gate"), BODY, note)
    changes: list[DeviceChange] = []
    if "damping" in fields:
        changes.append(configuration.damping(fields["damping"], f"{BODY}.damping", "", note))
    if "force_gate" in fields:
        changes.append(configuration.force_gate(fields["force_gate"], f"{BODY}.force_gate", "", note))
    return tuple(changes)


# ---------------------------------------------------------------- values in force


def _basis_shown(_call: Call, record: DeviceRecord, config: SessionConfig) -> Mapping[str, object]:
    return {"permutation": str(config.basis_of(record.device_id))}


def _mount_shown(_call: Call, record: DeviceRecord, config: SessionConfig) -> Mapping[str, object]:
    return {"transform": frames.transform_json(mount_of(config, record), complete=True)}


def _preset_shown(call: Call, record: DeviceRecord, config: SessionConfig) -> Mapping[str, object]:
    return {"preset": call.vocabulary.preset_out(preset_of(config, record))}


def _damping_shown(_call: Call, record: DeviceRecord, config: SessionConfig) -> Mapping[str, object]:
    return frames.damping_json(config.device(record.device_id).damping)


def _force_gate_shown(call: Call, record: DeviceRecord, config: SessionConfig) -> Mapping[str, object]:
    return {"gain": frames.gate_of(record, config, call.bridge.settings)}


def _filters_shown(call: Call, record: DeviceRecord, config: SessionConfig) -> Mapping[str, object]:
    return {
        "damping": _damping_shown(call, record, config),
        "force_gate": _force_gate_shown(call, record, config),
    }


def _navigation_shown(_call: Call, record: DeviceRecord, config: SessionConfig) -> Mapping[str, object]:
    return navigation.shown(config.device(record.device_id).navigation)


def _scene_shown(_call: Call, record: DeviceRecord, config: SessionConfig) -> Mapping[str, object]:
    return scene.shown(config.device(record.device_id).scene)


START_DAMPING: Final = ClearDamping("")
START_GATE: Final = SetForceGate("", None)
START_PRESET: Final = SetPreset("", None)
FILTERS: Final = Area("filters")

FILTERS_SHOWN: Final = obj({"damping": values.DAMPING, "force_gate": values.FORCE_GATE})
FILTERS_SENT: Final = obj(
    {}, optional={"damping": values.SENT_DAMPING, "force_gate": values.SENT_FORCE_GATE}, one_of_them=True
)
PRESET: Final = obj({"preset": values.PRESET})
CENTRED: Final = {"preset": "arm_front_centered"}
MOVED: Final = {"position": {"x": 0, "y": 0.1, "z": 0}}
DAMPED, GATED = {"scalar": 2}, {"gain": 0.5}

AREAS: Final = (
    SessionArea(
        Area("basis"),
        "basis",
        _basis,
        (SetBasis("", None),),
        _basis_shown,
        values.SENT_BASIS,
        values.BASIS,
        {"permutation": "XZ-Y"},
    ),
    SessionArea(
        Area("mount"),
        "mount",
        _mount,
        (START_PRESET,),
        _mount_shown,
        values.SENT_TRANSFORM,
        values.WHOLE_TRANSFORM,
        {"transform": MOVED},
    ),
    SessionArea(Area("preset"), "preset", _preset, (START_PRESET,), _preset_shown, values.SENT_PRESET, PRESET, CENTRED),
    SessionArea(
        FILTERS,
        "filters",
        _filters,
        (START_DAMPING, START_GATE),
        _filters_shown,
        FILTERS_SENT,
        FILTERS_SHOWN,
        {"damping": DAMPED, "force_gate": GATED},
    ),
    SessionArea(
        FILTERS,
        "filters/damping",
        _damping,
        (START_DAMPING,),
        _damping_shown,
        values.SENT_DAMPING,
        values.DAMPING,
        DAMPED,
    ),
    SessionArea(
        FILTERS,
        "filters/force_gate",
        _force_gate,
        (START_GATE,),
        _force_gate_shown,
        values.SENT_FORCE_GATE,
        values.FORCE_GATE,
        GATED,
    ),
    SessionArea(
        Area("navigation"),
        "navigation",
        _navigation,
        (ClearNavigation(""),),
        _navigation_shown,
        SENT_NAVIGATION,
        NAVIGATION,
        {"mode": "bubble", "bubble": {"velocity": {"max": 0.3}}},
    ),
    SessionArea(
        Area("scene"),
        "scene",
        _scene,
        (ClearScene(""),),
        _scene_shown,
        SENT_SCENE,
        SCENE,
        {"fields": {"air": {"field": "damper", "damping": 2}}},
        Scenes,
    ),
)


# ---------------------------------------------------------------- routes


def routes() -> Iterator[Route]:
    """Yield GET, POST and DELETE of each area."""
    for area in AREAS:
        shape = f"/{{device}}/{{id}}/config/{area.path}"
        several = SEVERAL_DEVICES if area.area.everywhere else SEVERAL_MOVERS
        setting = "" if area.preview is None else area.preview.setting
        shown = RouteSchema(area.echo, path=several, query=(OF_SESSIONS,), results=BOTH, preview=setting)
        cleared = replace(shown, query=(CLEARED_SESSIONS,), fails=DEVICE_FAILS)
        written = replace(cleared, query=(OF_SESSIONS,), body=area.sent, example=area.example)
        yield Route("GET", shape, _reader(area), f"A session's {area.path}.", schema=shown)
        yield Route("POST", shape, _writer(area), f"Set a session's {area.path}.", reads_body=True, schema=written)
        back = f"Back to what a session's {area.path} starts with."
        yield Route("DELETE", shape, _clearer(area), back, schema=cleared)


def note_unknown(call: Call) -> shapes.NameUnknown:
    """Return a function that adds a warning for an unknown key of the body."""

    def note(path: str, _reason: str) -> None:
        call.unknown_keys.append(path.removeprefix(f"{BODY}."))

    return note


def _reader(area: SessionArea) -> Handler:
    async def read(call: Call) -> Answer:
        _check_preview(call, area)
        records, scopes = _found(call, area.area).records, named_scopes(call).found
        return await values_of(
            call.vocabulary, [_act(call, area, record, scope, ()) for record in records for scope in scopes]
        )

    return read


def _writer(area: SessionArea) -> Handler:
    async def write(call: Call) -> Answer:
        _check_preview(call, area)
        return await _change(call, area, named_scopes, area.read_body(call.value(), note_unknown(call)))

    return write


def _clearer(area: SessionArea) -> Handler:
    async def clear(call: Call) -> Answer:
        _check_preview(call, area)
        return await _change(call, area, cleared_scopes, area.clears)

    return clear


def _check_preview(call: Call, area: SessionArea) -> None:
    """Raise InvalidInput while the area's preview is off."""
    module = None if area.preview is None else call.bridge.modules.of(area.preview)
    if module is not None and not is_on(module, call.bridge.settings):
        raise InvalidInput(refusal(module, area.path))


async def _change(call: Call, area: SessionArea, scopes_of: Callable[[Call], Scopes], changes: Changes) -> Answer:
    found = _found(call, area.area)
    judged: list[tuple[DeviceRecord, Changes, HapticError | None]] = []
    for record in found.records:
        mine = tuple(replace(change, device_id=record.device_id) for change in changes)
        judged.append((record, mine, _refusal_of(call, record, mine)))
    scopes = _scopes(call, scopes_of, [error for _, _, error in judged])
    acts: list[Act] = []
    for record, mine, error in judged:
        if error is not None:
            names = [{**scope.names, "device_id": record.device_id} for scope in scopes.found]
            acts += [_refusal(one, error) for one in names or [{"device_id": record.device_id}]]
        else:
            acts += [_act(call, area, record, scope, mine) for scope in scopes.found]
    return await answer_of(call.vocabulary, acts, several=found.pattern or scopes.several)


def _scopes(call: Call, scopes_of: Callable[[Call], Scopes], errors: Sequence[HapticError | None]) -> Scopes:
    """Return the request's scopes; FirmwareTooOld is raised before an error about the session."""
    try:
        return scopes_of(call)
    except HapticError:
        for error in errors:
            if isinstance(error, FirmwareTooOld):
                raise error from None
        raise


def _found(call: Call, area: Area) -> Devices:
    return find(call.words["device"], call.words["id"], call.bridge.inventory, call.vocabulary).having(area)


def _refusal_of(call: Call, record: DeviceRecord, changes: Changes) -> HapticError | None:
    """Return why the changes are impossible on this device under the rules of all sessions; old firmware also raises an event."""
    bridge = call.bridge
    try:
        if any(isinstance(change, (SetDamping, ClearDamping)) for change in changes):
            record.require("damping")
    except FirmwareTooOld as error:
        bridge.system.context.directory.tell(HUB, unsupported_event(record, error))
        return error
    refused = refused_in_every_session(record, changes, bridge.inventory)
    return InvalidInput(refused.reason, refused.path) if refused else None


def _act(call: Call, area: SessionArea, record: DeviceRecord, scope: Scope, changes: Changes) -> Act:
    async def run() -> Mapping[str, object]:
        return area.shown(call, record, await scope.configure(changes))

    return Act({**scope.names, "device_id": record.device_id}, run)


def _refusal(names: Mapping[str, object], error: HapticError) -> Act:
    async def run() -> Mapping[str, object]:
        raise error

    return Act(names, run)
