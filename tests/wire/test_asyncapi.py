"""docs/asyncapi.json is current and valid, and its schemas agree with the service about every wire case.

Frames and events that the service sends are checked where they come: `check_frame` and `EventClient`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest

from actors.event.catalog import EVENT_KINDS
from tests.support.wire.asyncapi import check_event_schema, check_frame_schema, faults
from tests.support.wire.cases import WIRE, payload, read_cases
from tests.support.wire.wire_variants import FEW_VARIANTS, ONE_VARIANT, Object
from transport.ws.asyncapi.document import document, page

DOCS: Final = Path(__file__).parents[2] / "docs"
OFFICIAL: Final = Path(__file__).parent / "vendor" / "asyncapi-3.0.0.schema.json"
MESSAGE: Final = "message"


class NoJson(ValueError):
    """What was sent is no JSON, of which a schema says nothing."""


def parsed(text: bytes) -> object:
    """The JSON value of a message; NoJson, also for NaN and infinity."""

    def refuse(word: str) -> object:
        raise NoJson(word)

    try:
        found = json.loads(text.decode(), parse_constant=refuse)
        # Half a surrogate pair is no text.
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise NoJson(str(error)) from None
    return found


def sent() -> Iterator[tuple[str, Object]]:
    """Every message of every case, with what the case says."""
    for file in sorted((WIRE / "cases").glob("*.json")):
        if file.stem == "bad_streams":
            continue
        for case in read_cases(file.stem):
            for number, step in enumerate(case.get("story", [case]), 1):
                if {"send", "text", "hex", "around", "repeat"} & step.keys() and "ask" not in step:
                    yield f"{file.stem}: {case['says']} #{number}", step


SENT: Final = list(sent())
# Faults that no schema can know, by what would have to be known; each of these messages fits the schema.
BEYOND_SHAPE: Final = {
    "which devices there are, and of which kind": (
        "bad_messages: a device_id that is unknown #1",
        "bad_messages: a device_id that is in the wrong case #1",
        "bad_messages: a device_id that is an index #1",
        "bad_messages: a grip among the arms #1",
        "bad_messages: an unknown id as the key of an object #1",
        "bad_messages: 500 unknown devices: eight are named #1",
        "bad_messages: the same group twice: JSON keeps the last #1",
        "groups: the path of an error has the index in an array and the id in an object #3",
        "groups: the path of an error has the index in an array and the id in an object #4",
        "groups: an arm among the grips, by any word, is no such device #1",
        "groups: an arm among the grips, by any word, is no such device #2",
        "groups: an arm among the grips, by any word, is no such device #3",
        "holding: commands for an unknown device release #3",
        "presets: the compact's presets are none of the arm's, by either word #1",
        "presets: the compact's presets are none of the arm's, by either word #2",
        "view: a preset that a device does not have is refused, and the rest of the message counts #1",
    ),
    "the firmware of a device": (
        "filters: damping on a firmware before 7.5 is named in errors, told as an event, and the rest of the message counts #1",
    ),
    "what a device has for all sessions": (
        "session: what a device has for all sessions is silent in configure as config shows it, and otherwise named with its route #1",
    ),
    "what the session has: as it was shown both may be sent": (
        "bad_messages: mount and preset at once #1",
        "view: mount and preset in one message exclude each other, in one entry or in two #1",
        "view: mount and preset in one message exclude each other, in one entry or in two #2",
    ),
    "who holds the device": (
        "positions: the first session to set a position holds the device, another one is refused and its force still adds #3",
        "positions: joint angles are refused while another session holds the position, and the other way round #3",
        "positions: a position is free again when its holder omits it #6",
        "positions: a position is free again when its holder has timed out #4",
        "positions: a position is free again when its holder closes #4",
        "positions: a message without commands does not give a position up #5",
        *(
            f"rates: a refused position is told of once a second for each session that is refused #{number}"
            for number in (4, 6, 7, 14, 21, 22, 23)
        ),
    ),
    "the version of the service": (
        "bad_messages: a version that does not exist yet #1",
        "session: a required version above ours is named in errors and warned of #1",
    ),
    "how many fields the session's scene has": (
        "scene: a faulty field of a scene is named and leaves what was there, the others count #11",
    ),
    "whether a module is on": (
        "bad_messages: a workspace with a pivot, which is a preview #1",
        "scene: a scene is refused by a device without motors, and while the preview is off #1",
    ),
    "a rule between several numbers": (
        "bad_messages: a workspace turned by no unit quaternion #1",
        "bad_messages: a workspace turned by zero #1",
        "navigation: what navigation cannot be is named and changes nothing #5",
        "navigation: what navigation cannot be is named and changes nothing #9",
    ),
    "what a module takes, whose commands the schema leaves open": tuple(
        name
        for name, step in SENT
        if step.get("errors") and all(".commands.set_contact" in str(fault) for fault in step["errors"])
    ),
}
FITTING: Final = {name for names in BEYOND_SHAPE.values() for name in names}


@pytest.mark.parametrize("step", [pytest.param(step, id=name) for name, step in SENT if not step.get("errors")])
def test_message_without_a_fault_fits_the_schema(step: Object) -> None:
    for way in FEW_VARIANTS:
        message = parsed(payload(step, way)[0])

        assert faults(MESSAGE, message) == []


@pytest.mark.parametrize(("name", "step"), [pytest.param(*one, id=one[0]) for one in SENT if one[1].get("errors")])
def test_message_with_a_fault_fits_the_schema_only_if_the_fault_is_none_of_shape(name: str, step: Object) -> None:
    try:
        message = parsed(payload(step, ONE_VARIANT[0])[0])
    except NoJson:
        assert step["errors"] == [""] or "NaN" in step["text"] or "Infinity" in step["text"]
        return

    assert (faults(MESSAGE, message) == []) == (name in FITTING)


def test_every_fault_that_is_none_of_shape_is_one_of_the_cases() -> None:
    assert FITTING - {name for name, step in SENT if step.get("errors")} == set()


def test_the_committed_document_is_current() -> None:
    assert (DOCS / "asyncapi.json").read_text(encoding="utf-8") == page(), "docs/asyncapi.json is old: make docs"


def test_the_module_prints_the_document() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "transport.ws.asyncapi.document"], check=True, capture_output=True, cwd=DOCS.parent
    )

    assert printed.stdout.decode() == page()


def test_the_document_fits_the_official_schema_of_asyncapi() -> None:
    official = jsonschema_rs.validator_for(json.loads(OFFICIAL.read_text(encoding="utf-8")))

    assert [error.message for error in official.iter_errors(document())] == []
    broken = {**document(), "channels": {"session": {"address": 1}}}
    assert not official.is_valid(broken)


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_example_of_an_event_fits_its_schema_and_no_other(kind: str) -> None:
    row = EVENT_KINDS[kind]
    event = {
        "name": kind,
        "category": row.category,
        "level": row.levels[0],
        "time": "2030-01-31T12:00:00.000000Z",
        "data": dict(row.example.data),
        "message": row.example.message,
    }

    check_event_schema(event)
    others = [other for other in EVENT_KINDS if other != kind]
    assert [other for other in others if not faults(other, event)] == []
    for field in row.data:
        lacking = {**event, "data": {name: value for name, value in row.example.data.items() if name != field}}
        assert faults(kind, lacking), field


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for part in node.values():
            yield from references(part)
    elif isinstance(node, list):
        for part in node:
            yield from references(part)


def test_every_reference_leads_to_something_and_every_schema_is_used() -> None:
    whole = document()
    found = set(references(whole))

    for reference in found:
        place: Any = whole
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]
    used = {reference.rsplit("/", 1)[1] for reference in found if "/schemas/" in reference}
    assert used == set(whole["components"]["schemas"])


@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_frame_without_groups_does_not_fit(version: str) -> None:
    with pytest.raises(AssertionError):
        check_frame_schema({"session_id": 1}, version)
