"""Check messages, frames and events against the schemas of docs/asyncapi.json."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import jsonschema_rs

from transport.ws.asyncapi.client_message import closed
from transport.ws.asyncapi.document import document

FRAMES: Final = {"3.0": "frameV30", "3.1": "frame"}


@cache
def validator(name: str, *, strict: bool = False) -> jsonschema_rs.Draft7Validator:
    """Return the validator of a message of the document; `strict` refuses what the schema does not name."""
    components = _components()
    payload: Mapping[str, Any] = components["messages"][name]["payload"]
    # Members that only some kinds have are in the schema of each: what no kind has is refused.
    schemas = closed(components["schemas"]) if strict else components["schemas"]
    return jsonschema_rs.Draft7Validator({**payload, "components": {"schemas": schemas}})


@cache
def _components() -> dict[str, Any]:
    found: dict[str, Any] = document()["components"]
    return found


def faults(name: str, content: object, *, strict: bool = False) -> list[str]:
    """Return what of a message, frame or event does not fit its schema."""
    return [
        f"{'.'.join(map(str, one.instance_path))}: {one.message[:300]}"
        for one in validator(name, strict=strict).iter_errors(content)
    ]


def check_frame_schema(frame: object, version: str) -> None:
    """AssertionError unless the schema of this version's frames names everything in the frame."""
    found = faults(FRAMES[version], frame, strict=True)
    assert found == [], found


def check_event_schema(event: Mapping[str, Any]) -> None:
    """AssertionError unless the schema of its kind names everything in the event."""
    found = faults(event["name"], event, strict=True)
    assert found == [], found
