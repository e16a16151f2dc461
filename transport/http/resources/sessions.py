"""Routes of `/sessions` and their profiles: records come from the published table, counts from the open channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from actors.kit.errors import InvalidInput
from actors.session.api import Change, ClearProfile, DeclareProfile, Selected, SessionRecord, parse_selector, select
from fastpath.text.encoder import encode_json
from transport.http.call import Answer, Call, Edge
from transport.http.durable import confirmed
from transport.http.results import Act, answer_of, values_of
from transport.http.route import Route
from transport.http.schema.json_schema import TEXT, WHOLE, Named, either, listed, nullable, obj, word
from transport.http.schema.route_schema import SESSION_ID, SEVERAL_SESSIONS, RouteSchema
from transport.http.schema.values import BASIS, PROFILE, PROFILE_SHOWN
from transport.http.session_scope import OpenScope
from transport.security import audit
from transport.wire.envelope import Encoded

if TYPE_CHECKING:
    from transport.bridge import Bridge

CLOSED_BY_REQUEST: Final = 1000

RECORD: Final = Named(
    "Session",
    obj(
        {
            "session_id": SESSION_ID,
            "profile": PROFILE_SHOWN,
            "basis": BASIS,
            "required_sdk_version": nullable(TEXT),
            "version": word("3.0", "3.1"),
            "remote_address": TEXT,
            "connected_at": TEXT,
            "frames_sent": WHOLE,
            "commands_received": WHOLE,
            "devices": listed(TEXT),
        }
    ),
)
LIST: Final = Named("Sessions", obj({"session_count": WHOLE, "sessions": listed(RECORD)}))
ANY_SESSION: Final = {"session": SEVERAL_SESSIONS}
LISTED: Final = RouteSchema(LIST)
READ: Final = RouteSchema(either(RECORD, LIST), path=ANY_SESSION)
DISCONNECTED: Final = RouteSchema(
    either(RECORD, obj({"results": listed(obj({"session_id": SESSION_ID}))})), path=ANY_SESSION
)
PROFILE_READ: Final = RouteSchema(PROFILE_SHOWN, path=ANY_SESSION, results=("session_id",))
PROFILE_CLEARED: Final = RouteSchema(PROFILE_SHOWN, path=ANY_SESSION, results=("session_id",), fails=(507,))
PROFILE_WRITTEN: Final = replace(PROFILE_CLEARED, body=PROFILE, example={"name": "my app"})


def routes() -> Iterator[Route]:
    """Yield the routes of sessions and profiles."""
    one, profile = "/sessions/{session}", "/sessions/{session}/profile"
    yield Route("GET", "/sessions", list_sessions, "Every open session.", schema=LISTED)
    yield Route("GET", one, read_session, "The sessions that a selector means.", schema=READ)
    yield Route("DELETE", one, disconnect_sessions, "Disconnect them.", schema=DISCONNECTED)
    yield Route("GET", profile, read_profile, "A session's profile name.", schema=PROFILE_READ)
    yield Route("POST", profile, write_profile, "Set the name.", reads_body=True, schema=PROFILE_WRITTEN)
    yield Route("DELETE", profile, clear_profile, "Clear the name.", schema=PROFILE_CLEARED)


async def list_sessions(call: Call) -> Answer:
    """Return every open session, oldest first."""
    return _listed(call.edge, call.bridge.sessions.sessions)


async def read_session(call: Call) -> Answer:
    """Return one record; a list for a pattern (even if empty) or a name of several sessions."""
    selected = _selected(call)
    if selected.several:
        return _listed(call.edge, selected.sessions)
    (record,) = selected.some()
    return _one(call.edge, record)


async def disconnect_sessions(call: Call) -> Answer:
    """Close the connections; forces end at once, the sessions leave the table when their connections have closed."""
    selected = _selected(call)
    records = selected.some()
    for record in records:
        channel = call.bridge.channels.get(record.session_id)
        if channel is not None:
            audit(call.peer, str(record.session_id), "disconnected over HTTP")
            channel.disconnect(CLOSED_BY_REQUEST, "disconnected over HTTP")
    if not selected.many:
        return _one(call.edge, records[0])
    return Answer({"results": [{"session_id": record.session_id, "ok": True} for record in records]})


async def read_profile(call: Call) -> Answer:
    """Return the profile name, `default` if none was declared."""
    return await values_of(call.vocabulary, [_read(record) for record in _selected(call).some()])


def _read(record: SessionRecord) -> Act:
    async def run() -> Mapping[str, object]:
        return {"name": record.config.profile}

    return Act({"session_id": record.session_id}, run)


async def write_profile(call: Call) -> Answer:
    """Declare the name for every selected session."""
    name = call.fields("name").get("name")
    if not isinstance(name, str):
        raise InvalidInput('give a text, such as {"name": "my app"}.', "name")
    return await _change(call, DeclareProfile(name, "name"))


async def clear_profile(call: Call) -> Answer:
    """Reset every selected session to `default`."""
    return await _change(call, ClearProfile())


async def _change(call: Call, change: Change) -> Answer:
    selected = _selected(call)
    acts = [_act(call.bridge, record, change) for record in selected.some()]
    answer = await answer_of(call.vocabulary, acts, several=selected.many)
    await confirmed(call.bridge, "The profile holds")
    return answer


def _act(bridge: Bridge, record: SessionRecord, change: Change) -> Act:
    async def run() -> Mapping[str, object]:
        return {"name": await _configured(bridge, record, change)}

    return Act({"session_id": record.session_id}, run)


async def _configured(bridge: Bridge, record: SessionRecord, change: Change) -> str:
    """Apply the change and return the session's profile once the table shows it; raise the refusal."""
    config = await OpenScope(bridge, record.session_id).configure((change,))
    await bridge.profile_shown(record.session_id, config.profile)
    return config.profile


def _selected(call: Call) -> Selected:
    return select(parse_selector(call.words["session"], start_values=False), call.bridge.sessions)


def _listed(edge: Edge, records: tuple[SessionRecord, ...]) -> Answer:
    devices = _devices(edge)
    texts = b",".join([_text(edge, record, devices) for record in records])
    return Answer(Encoded(b'{"session_count":%d,"sessions":[%b]}' % (len(records), texts)))


def _one(edge: Edge, record: SessionRecord) -> Answer:
    return Answer(Encoded(_text(edge, record, _devices(edge))))


def _devices(edge: Edge) -> bytes:
    """Return the text of all devices' ids."""
    devices = edge.bridge.inventory.devices
    return edge.body_cache.device_ids.get("", (devices,), lambda: encode_json([one.device_id for one in devices]))


def _text(edge: Edge, record: SessionRecord, devices: bytes) -> bytes:
    """Return the text of a session: its counts of this moment in what is kept until its record is replaced."""
    channel = edge.bridge.channels.get(record.session_id)
    return b'%b,"frames_sent":%d,"commands_received":%d,"devices":%b}' % (
        edge.body_cache.session_heads.get(record.session_id, (record,), lambda: _head(record)),
        0 if channel is None else channel.frames_sent,
        0 if channel is None else channel.commands_received,
        devices,
    )


def _head(record: SessionRecord) -> bytes:
    """Return the text of the members that the record has, without the last brace."""
    shown = {
        "session_id": record.session_id,
        "profile": {"name": record.config.profile},
        "basis": {"permutation": str(record.config.basis)},
        "required_sdk_version": record.config.required_sdk_version,
        "version": record.client.version,
        "remote_address": record.client.remote_address,
        "connected_at": record.connected_at,
    }
    return encode_json(shown)[:-1]
