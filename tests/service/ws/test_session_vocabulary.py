"""Sessions under `auto`: frames with both vocabularies until a word decides, then with one for good."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.ws.conftest import Connect
from tests.service.ws.message_helpers import ARM, INVERSE, NEUTRAL, UP, paths
from tests.support.clients.raw_websocket import BINARY, TEXT
from tests.support.service.in_process_service import InProcessService

BOTH = [*NEUTRAL, *INVERSE]
KEEP: dict[str, Any] = {"keep_alive": {}}
FULL: dict[str, Any] = {"session": {"force_render_full_state": {}}}


def groups(frame: Any) -> list[str]:
    return [name for name in frame if name not in {"session_id", "errors"}]


def inverse3(**parts: Any) -> dict[str, Any]:
    return {"inverse3": [{"device_id": ARM, **parts}]}


def named(group: str, device_id: str) -> dict[str, Any]:
    return {group: [{"device_id": device_id, "commands": KEEP}]}


def shown_alike(frame: Any) -> bool:
    """Whether each device has the same state and status in both of its groups."""
    neutral, inverse = (
        {name: (entry["state"], entry["status"]) for group in names for name, entry in members(frame[group])}
        for names in (NEUTRAL, INVERSE)
    )
    return bool(neutral) and neutral == inverse


def members(group: Any) -> list[tuple[str, Any]]:
    """The entries of a group with their ids, in either version."""
    return list(group.items()) if isinstance(group, dict) else [(entry["device_id"], entry) for entry in group]


def configs(frame: Any) -> dict[str, Any]:
    """The first `config` of each group that has one."""
    return {
        name: entry["config"] for name in groups(frame) for _, entry in members(frame[name])[:1] if "config" in entry
    }


@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_frames_have_both_vocabularies_until_a_word_decides(
    service: InProcessService, connect: Connect, version: str
) -> None:
    peer, first = connect({"version": version})

    assert groups(first) == BOTH
    assert {name: config["type"] for name, config in configs(first).items()} == {
        "arm": "arm",
        "grip": "grip",
        "inverse3": "inverse3",
        "wireless_verse_grip": "wireless_verse_grip",
    }
    assert "filters" not in configs(first)["arm"]
    assert "filters" in configs(first)["inverse3"]
    assert shown_alike(first)
    undecided: list[Any] = [{}, {"session": {}}, {"nobody": []}]
    for message in undecided:
        service.step()
        frame = peer.ask(message)
        assert groups(frame) == BOTH
        assert shown_alike(frame)
        assert configs(frame) == {}
    assert list(configs(peer.ask(FULL))) == ["arm", "grip", "inverse3", "wireless_verse_grip"]


@pytest.mark.parametrize(
    "message",
    [
        {"session": {"force_render_full_state": {"device_types": ["*"]}}},
        "not json",
        {"session": {"configure": {"profile": {"name": "x"}}}},
    ],
    ids=str,
)
def test_a_message_without_a_word_of_one_vocabulary_decides_nothing(connect: Connect, message: Any) -> None:
    peer, _ = connect()

    assert groups(peer.ask(message)) == groups(peer.ask({})) == BOTH


NEUTRAL_WORDS: list[Any] = [
    named("arm", ARM),
    named("compact", ARM),
    named("grip", "B001"),
    named("pen", "nobody"),
    {"arm": []},
    {"session": {"force_render_full_state": {"device_types": ["grip"]}}},
    {**named("inverse3", ARM), **named("arm", ARM)},
    {"arm": [{"device_id": ARM, "configure": {"preset": "minverse_centered"}}]},
]
INVERSE_WORDS: list[Any] = [
    named("inverse3", ARM),
    named("inverse3x", ARM),
    named("minverse", ARM),
    named("verse_grip", "B001"),
    named("wireless_verse_grip", "B001"),
    named("custom_verse_grip", "B001"),
    {"inverse3": []},
    {"inverse3": {}},
    {"inverse3": 1},
    named("inverse3", "nobody"),
    {"session": {"force_render_full_state": {"device_types": ["inverse3"]}}},
    {"session": {"force_render_full_state": {"device_types": ["wireless_verse_grip"]}}},
    {"inverse3": [{"device_id": ARM, "configure": {"preset": "defaults"}}]},
]
DECIDING = [(message, NEUTRAL) for message in NEUTRAL_WORDS] + [(message, INVERSE) for message in INVERSE_WORDS]


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
@pytest.mark.parametrize(("message", "chosen"), DECIDING, ids=str)
def test_first_word_decides_from_its_own_reply_on(
    connect: Connect, message: Any, chosen: list[str], opcode: int
) -> None:
    peer, _ = connect()

    assert groups(peer.ask(message, opcode)) == chosen
    for later in ({}, FULL, named("arm", ARM), named("inverse3", ARM)):
        assert groups(peer.ask(later)) == chosen


@pytest.mark.parametrize(
    ("message", "with_config"),
    [
        ({"session": {"force_render_full_state": {}}, "inverse3": []}, {"inverse3", "wireless_verse_grip"}),
        ({"inverse3": [], "session": {"force_render_full_state": {}}}, {"inverse3", "wireless_verse_grip"}),
        ({"session": {"force_render_full_state": {}}, "arm": []}, {"arm", "grip"}),
        ({"session": {"force_render_full_state": {"device_types": ["verse_grip"]}}}, set()),
        ({"session": {"force_render_full_state": {"device_types": ["wireless_verse_grip"]}}}, {"wireless_verse_grip"}),
        ({"session": {"force_render_full_state": {"device_types": ["arm", "verse_grip"]}}}, {"arm", "grip"}),
    ],
    ids=str,
)
def test_full_frame_of_the_deciding_message_has_the_groups_of_its_words(
    connect: Connect, message: Any, with_config: set[str]
) -> None:
    frame = connect()[0].ask(message)

    assert {name for name in groups(frame) for entry in frame[name] if "config" in entry} == with_config
    assert "errors" not in frame


def test_command_and_faults_of_the_switching_message_count_once(service: InProcessService, connect: Connect) -> None:
    peer, _ = connect()
    before = (
        service.on_edge(lambda: service.system.metrics.registry.get_sample_value("hapticd_input_faults_total")) or 0
    )

    frame = peer.ask(inverse3(commands={**UP, "jump": {}}))
    service.step()

    assert paths(frame) == ["inverse3[0].commands.jump"]
    assert service.state(ARM)["force"].tolist() == pytest.approx([0, 0, 1])
    assert service.system.metrics.registry.get_sample_value("hapticd_input_faults_total") == before + 1


def test_version_3_0_decides_too(service: InProcessService, connect: Connect) -> None:
    peer, first = connect(url=service.ws_v30)
    assert groups(first) == BOTH

    frame = peer.ask({"inverse3": {ARM: {"commands": KEEP}}})

    assert groups(frame) == INVERSE
    assert list(frame["inverse3"]) == [ARM]


def test_a_resumed_session_has_both_vocabularies_again(service: InProcessService, connect: Connect) -> None:
    peer, first = connect()
    peer.ask({**named("inverse3", ARM), "session": {"configure": {"profile": {"name": "words"}}}})
    peer.close()
    service.wait_for_sessions()

    again, frame = connect({"session_id": first["session_id"]})

    assert groups(frame) == BOTH
    assert groups(again.ask(named("inverse3", ARM))) == INVERSE


@pytest.mark.parametrize(("chosen", "shown"), [("neutral", NEUTRAL), ("inverse", INVERSE)])
def test_url_fixes_the_vocabulary(connect: Connect, chosen: str, shown: list[str]) -> None:
    peer, first = connect({"vocabulary": chosen})

    assert groups(first) == groups(peer.ask(named("inverse3", ARM))) == groups(peer.ask(named("arm", ARM))) == shown


def test_url_may_say_auto(connect: Connect) -> None:
    peer, first = connect({"vocabulary": "auto"})

    assert groups(first) == BOTH
    assert groups(peer.ask(named("inverse3", ARM))) == INVERSE


def test_vocabulary_of_one_session_does_not_affect_another(connect: Connect) -> None:
    (one, _), (two, _) = connect(), connect()
    one.ask(named("inverse3", ARM))

    assert groups(two.ask({})) == BOTH
