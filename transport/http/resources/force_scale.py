"""Routes of `/sessions/{session}/force_scale`: scale a session's output over HTTP (preview)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from actors.kit.errors import InvalidInput, NoSuchSession
from actors.modules.force_ducking import HTTP, ForceDucking, ForceScales
from actors.modules.registry import is_on, refusal
from actors.session.api import Selected, parse_selector, select
from transport.http.results import Act, answer_of, values_of
from transport.http.route import Route
from transport.http.schema.json_schema import obj
from transport.http.schema.route_schema import SEVERAL_SESSIONS, RouteSchema
from transport.http.schema.values import GAIN
from transport.wire import shapes

if TYPE_CHECKING:
    from actors.session.api import SessionRecord
    from transport.http.call import Answer, Call

BODY: Final = "body"
SCALE: Final = obj({"gain": GAIN})
READ: Final = RouteSchema(
    SCALE, path={"session": SEVERAL_SESSIONS}, results=("session_id",), preview=ForceDucking.setting
)
GIVEN_BACK: Final = RouteSchema(
    SCALE, path={"session": SEVERAL_SESSIONS}, results=("session_id",), preview=ForceDucking.setting
)
WRITTEN: Final = replace(GIVEN_BACK, body=SCALE, example={"gain": 0.2})


def routes() -> Iterator[Route]:
    """Yield the routes; a preview: 400 while its setting is off."""
    shape = "/sessions/{session}/force_scale"
    yield Route("GET", shape, read_scale, "How much of a session's output is let through (preview).", schema=READ)
    yield Route("POST", shape, write_scale, "Let less of it through.", reads_body=True, schema=WRITTEN)
    yield Route("DELETE", shape, clear_scale, "Take back what was asked for over HTTP.", schema=GIVEN_BACK)


async def read_scale(call: Call) -> Answer:
    """Return the gain in force, whoever requested it."""
    scales, records = _scales(call), _selected(call).some()
    return await values_of(
        call.vocabulary, [Act({"session_id": one.session_id}, partial(_shown, scales, one)) for one in records]
    )


async def write_scale(call: Call) -> Answer:
    """Set HTTP's gain until DELETE, or until the session closes."""
    gain = _gain(call)
    return await _ask(call, gain)


async def clear_scale(call: Call) -> Answer:
    """Remove HTTP's gain; those of sessions remain."""
    return await _ask(call, 1.0)


async def _ask(call: Call, gain: float) -> Answer:
    scales, selected = _scales(call), _selected(call)
    acts = [_act(call, scales, record, gain) for record in selected.some()]
    return await answer_of(call.vocabulary, acts, several=selected.many)


def _act(call: Call, scales: ForceScales, record: SessionRecord, gain: float) -> Act:
    async def run() -> Mapping[str, object]:
        channel = call.bridge.channels.get(record.session_id)
        if channel is None or channel.devices is None:
            raise NoSuchSession(record.session_id)
        scales.set_gain(HTTP, record.session_id, gain)
        call.bridge.scale_output(record.session_id, scales.gain(record.session_id))
        return await _shown(scales, record)

    return Act({"session_id": record.session_id}, run)


async def _shown(scales: ForceScales, record: SessionRecord) -> Mapping[str, object]:
    return {"gain": scales.gain(record.session_id)}


def _gain(call: Call) -> float:
    _scales(call)
    fields = call.fields("gain")
    if "gain" not in fields:
        raise InvalidInput("gain is missing", f"{BODY}.gain")
    gain = shapes.number(fields["gain"], f"{BODY}.gain")
    if not 0 <= gain <= 1:
        raise InvalidInput("the gain of a session is 0 to 1", f"{BODY}.gain")
    return gain


def _scales(call: Call) -> ForceScales:
    """Return the module's force scales; InvalidInput while the preview is off."""
    module = call.bridge.modules.of(ForceDucking)
    if not is_on(module, call.bridge.settings):
        raise InvalidInput(refusal(module, "force_scale"))
    return module.scales


def _selected(call: Call) -> Selected:
    return select(parse_selector(call.words["session"], start_values=False), call.bridge.sessions)
