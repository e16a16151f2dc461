"""`/devices`: the groups of a full frame, in device space or as one session sees it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from actors.kit.errors import NoSuchSession
from actors.session.selectors import parse_selector, select
from transport.http.call import Answer, Call
from transport.wire.envelope import Encoded
from transport.wire.frames import devices_json
from transport.wire.vocabulary import Vocabulary


@runtime_checkable
class SeesDevices(Protocol):
    """A session's channel, which knows the session's views."""

    def devices_json(self, vocabulary: Vocabulary, version: str) -> bytes:
        """The groups of a full frame in the session's application space."""
        ...


async def list_devices(call: Call) -> Answer:
    """Every device; `?session=` in that session's application space, `default` in that of a new session."""
    text = call.query.get("session")
    selector = None if text is None else parse_selector(text)
    if selector is None or selector.is_default:
        bridge, system = call.bridge, call.bridge.system
        whole = devices_json(bridge.inventory, system.runtime, call.vocabulary, bridge.settings, call.version)
        return Answer(Encoded(whole))
    session_id = select(selector, call.bridge.sessions).one().session_id
    channel: object = call.bridge.channels.get(session_id)
    if not isinstance(channel, SeesDevices):
        raise NoSuchSession(session_id)
    return Answer(Encoded(channel.devices_json(call.vocabulary, call.version)))
