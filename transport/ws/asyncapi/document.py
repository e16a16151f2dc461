"""Generator of docs/asyncapi.json, an AsyncAPI 3 description of both channels; `python -m transport.ws.asyncapi.document` prints it."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from actors.event.api import EVENT_KINDS, LEVELS, REMEMBERED
from actors.values.interface import INTERFACE
from transport.http.schema.json_schema import FromService, Named, resolved
from transport.wire.vocabulary import VOCABULARY_NAMES
from transport.ws.asyncapi.client_message import client_message
from transport.ws.asyncapi.event import event
from transport.ws.asyncapi.frame import V30, V31, frame

ASYNCAPI: Final = "3.0.0"
SAYS: Final = (
    "Two WebSocket channels of a haptic device service. The page `wire.md` explains them, `GET /openapi.json` describes HTTP. A message "
    "that does not fit its schema is answered too: its frame names in `errors` what did not count."
)
QUERY: Final = {
    "version": {"type": "string", "enum": [V30, V31], "description": "Version of the frames, whatever the port."},
    "vocabulary": {"type": "string", "enum": list(VOCABULARY_NAMES), "description": "Words of the output."},
    "token": {"type": "string", "description": "From another machine only: what `hapticd token` prints."},
}
SESSION_QUERY: Final = {
    **QUERY,
    "session_id": {"type": "integer", "minimum": 1, "description": "Come back as the session with this id."},
}
EVENT_QUERY: Final = {
    "kinds": {"type": "string", "description": "Names of events, with commas between."},
    "level": {"type": "string", "enum": list(LEVELS), "description": "The lowest level."},
    "since": {
        "type": "string",
        "format": "date-time",
        "description": f"First what happened after this time, of the last {REMEMBERED} events.",
    },
    "vocabulary": QUERY["vocabulary"],
    "token": QUERY["token"],
}


def document() -> dict[str, Any]:
    """Return the description, as JSON."""
    writer = _Writer()
    messages = {
        "message": writer.message(client_message(), "What a client sends; one frame answers it."),
        "frame": writer.message(frame(V31), "The first one comes by itself, every other one for a message."),
        "frameV30": writer.message(frame(V30), "In place of `frame` where the client asked for version 3.0."),
    }
    events = {name: writer.message(event(name), row.summary) for name, row in EVENT_KINDS.items()}
    return {
        "asyncapi": ASYNCAPI,
        "info": {
            "title": "hapticd",
            "version": INTERFACE,
            "description": SAYS,
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "session": _server(10001, "Sessions with frames v3.1, and HTTP."),
            "sessionV30": _server(10000, "Sessions with frames v3.0, and HTTP."),
            "events": _server(10020, "Events."),
        },
        "channels": {
            "session": _channel("session", ("session", "sessionV30"), tuple(messages), SESSION_QUERY),
            "events": _channel("events", ("events",), tuple(events), EVENT_QUERY),
        },
        "operations": {
            "receiveMessage": {
                **_operation("receive", "session", ("message",), "Take a message and answer it by one frame."),
                "reply": {"channel": _ref("channels", "session"), "messages": _refs("session", ("frame", "frameV30"))},
            },
            "sendFirstFrame": _operation(
                "send", "session", ("frame", "frameV30"), "Send the first frame, with `config`, when a client connects."
            ),
            "sendEvent": _operation("send", "events", tuple(events), "Tell what happened; what comes back is ignored."),
        },
        "components": {"messages": {**messages, **events}, "schemas": writer.shared},
    }


def page() -> str:
    """Return the document as text; ends with a newline."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


class _Writer:
    """Collects the shared schemas."""

    def __init__(self) -> None:
        self.shared: dict[str, Any] = {}

    def message(self, schema: Named, summary: str) -> dict[str, Any]:
        """Return a message with this payload."""
        return {"name": schema.name, "summary": summary, "payload": resolved(schema, self._refer, _live)}

    def _refer(self, named: Named) -> dict[str, str]:
        filled = resolved(named.schema, self._refer, _live)
        if self.shared.setdefault(named.name, filled) != filled:
            raise ValueError(f"two schemas are called {named.name}: give one of them another name")
        return _ref("components", "schemas", named.name)


def _live(placeholder: FromService) -> object:
    raise ValueError(f"a channel's schema holds for every service, so it cannot name {placeholder.what}")


def _server(port: int, description: str) -> dict[str, Any]:
    return {"host": f"localhost:{port}", "protocol": "ws", "description": description}


def _channel(name: str, servers: tuple[str, ...], messages: tuple[str, ...], query: dict[str, Any]) -> dict[str, Any]:
    return {
        "address": "/",
        "title": name,
        "servers": [_ref("servers", server) for server in servers],
        "messages": {message: _ref("components", "messages", message) for message in messages},
        "bindings": {
            "ws": {"method": "GET", "query": {"type": "object", "properties": query}, "bindingVersion": "0.1.0"}
        },
    }


def _operation(action: str, channel: str, messages: tuple[str, ...], summary: str) -> dict[str, Any]:
    return {
        "action": action,
        "channel": _ref("channels", channel),
        "summary": summary,
        "messages": _refs(channel, messages),
    }


def _refs(channel: str, messages: tuple[str, ...]) -> list[dict[str, str]]:
    return [_ref("channels", channel, "messages", message) for message in messages]


def _ref(*place: str) -> dict[str, str]:
    return {"$ref": "#/" + "/".join(place)}


if __name__ == "__main__":
    sys.stdout.write(page())
