"""Sessions of clients that use the inverse vocabulary: their frames, log lines and events."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tests.service.ws.conftest import Connect
from tests.service.ws.message_helpers import ARM, INVERSE, NEUTRAL, UP, paths
from tests.support.clients.event_client import EventClient
from tests.support.clients.raw_websocket import BINARY, TEXT, RawWebSocket
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from transport.wire.hint_limit import HintLimit

KEEP: dict[str, Any] = {"keep_alive": {}}
FULL: dict[str, Any] = {"session": {"force_render_full_state": {}}}


@pytest.fixture(autouse=True)
def unlimited(service: InProcessService) -> None:
    """Each test has all hints of the limit."""
    service.bridge.word_hints = HintLimit()


@pytest.fixture
def hints(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """The sentences that are logged about vocabularies, as they come."""
    found: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno == logging.INFO:
                found.append(record.getMessage())

    logger, keeper = logging.getLogger("transport.session.events"), Keeper()
    caplog.set_level(logging.INFO, logger.name)
    logger.addHandler(keeper)
    yield found
    logger.removeHandler(keeper)


def groups(frame: Any) -> list[str]:
    return [name for name in frame if name not in {"session_id", "errors"}]


def inverse3(**parts: Any) -> dict[str, Any]:
    return {"inverse3": [{"device_id": ARM, **parts}]}


def named(group: str, device_id: str) -> dict[str, Any]:
    return {group: [{"device_id": device_id, "commands": KEEP}]}


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
@pytest.mark.parametrize(
    "message",
    [
        named("inverse3", "A001"),
        named("inverse3x", "A001"),
        named("minverse", "A001"),
        named("verse_grip", "B001"),
        named("wireless_verse_grip", "B001"),
        named("custom_verse_grip", "B001"),
        {"inverse3": []},
        {"inverse3": {}},
        {"inverse3": 1},
        named("inverse3", "nobody"),
        {"session": {"force_render_full_state": {"device_types": ["inverse3"]}}},
        {"session": {"force_render_full_state": {"device_types": ["wireless_verse_grip"]}}},
        {"arm": [{"device_id": ARM, "configure": {"preset": "minverse_centered"}}]},
        {"inverse3": [{"device_id": ARM, "configure": {"preset": "defaults"}}]},
    ],
    ids=str,
)
def test_first_inverse_name_switches_the_vocabulary_of_frames(connect: Connect, message: Any, opcode: int) -> None:
    peer, first = connect()
    assert groups(first) == groups(peer.ask({})) == groups(peer.ask(named("arm", ARM))) == NEUTRAL

    assert groups(peer.ask(message, opcode)) == INVERSE
    assert groups(peer.ask({})) == INVERSE
    assert groups(peer.ask(named("arm", ARM))) == INVERSE
    assert peer.ask(FULL)["inverse3"][0]["config"]["type"] == "inverse3"


@pytest.mark.parametrize(
    ("message", "with_config"),
    [
        ({"session": {"force_render_full_state": {}}, "inverse3": []}, {"inverse3", "wireless_verse_grip"}),
        ({"inverse3": [], "session": {"force_render_full_state": {}}}, {"inverse3", "wireless_verse_grip"}),
        ({"session": {"force_render_full_state": {"device_types": ["verse_grip"]}}}, set()),
        ({"session": {"force_render_full_state": {"device_types": ["wireless_verse_grip"]}}}, {"wireless_verse_grip"}),
        ({"session": {"force_render_full_state": {"device_types": ["arm", "verse_grip"]}}}, {"inverse3"}),
    ],
    ids=str,
)
def test_full_frame_has_the_groups_of_the_new_vocabulary(connect: Connect, message: Any, with_config: set[str]) -> None:
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


def test_version_3_0_switches_too(service: InProcessService, connect: Connect) -> None:
    peer, first = connect(url=service.ws_v30)
    assert groups(first) == NEUTRAL

    assert list(peer.ask({"inverse3": {ARM: {"commands": KEEP}}})["inverse3"]) == [ARM]


@pytest.mark.parametrize(("chosen", "shown"), [("neutral", NEUTRAL), ("inverse", INVERSE)])
def test_url_fixes_the_vocabulary(connect: Connect, hints: list[str], chosen: str, shown: list[str]) -> None:
    peer, first = connect({"vocabulary": chosen})

    assert groups(first) == groups(peer.ask(named("inverse3", ARM))) == groups(peer.ask(named("arm", ARM))) == shown
    peer.close()
    assert hints == []


def test_url_may_say_auto(connect: Connect, hints: list[str]) -> None:
    peer, first = connect({"vocabulary": "auto"})

    assert groups(first) == NEUTRAL
    assert groups(peer.ask(named("inverse3", ARM))) == INVERSE
    assert hints == []


def test_vocabulary_of_one_session_does_not_affect_another(connect: Connect) -> None:
    (one, _), (two, _) = connect(), connect()
    one.ask(named("inverse3", ARM))

    assert groups(two.ask({})) == NEUTRAL


def test_session_that_uses_an_inverse_name_gets_one_hint(
    service: InProcessService, connect: Connect, hints: list[str]
) -> None:
    with EventClient(service.events, kinds="session-warning") as listener:
        peer, first = connect()
        for _ in range(3):
            peer.ask(named("inverse3", ARM))
        event = listener.wait_for_event("session-warning", session_id=first["session_id"])

    assert event["data"] == {
        "session_id": first["session_id"],
        "reason": "vocabulary",
        "cause": "inverse_word",
        "vocabulary": "inverse",
        "setting": "serialization/vocabulary",
    }
    assert hints == [event["message"]]
    assert "?vocabulary=inverse" in hints[0]


def silent_for_long(service: InProcessService, session_id: int) -> None:
    """What the session's timer does when it is due."""
    channel: Any = service.bridge.channels[session_id]
    service.on_edge(channel._on_hint_due)


@pytest.mark.parametrize("said", [(), ({},), (FULL, {})])
def test_session_that_names_no_device_gets_a_hint(
    service: InProcessService, connect: Connect, hints: list[str], said: tuple[Any, ...]
) -> None:
    with EventClient(service.events, kinds="session-warning") as listener:
        peer, first = connect()
        for message in said:
            peer.ask(message)
        silent_for_long(service, first["session_id"])
        event = listener.wait_for_event("session-warning", session_id=first["session_id"])

    assert (event["data"]["cause"], event["data"]["vocabulary"]) == ("silent", "neutral")
    assert hints == [event["message"]]


def test_timer_is_set_only_for_sessions_that_may_get_a_hint(service: InProcessService, connect: Connect) -> None:
    def armed(query: dict[str, Any]) -> bool:
        channel: Any = service.bridge.channels[connect(query)[1]["session_id"]]
        return service.on_edge(lambda: channel._hint_timer is not None)

    assert [armed(query) for query in ({}, {"vocabulary": "neutral"}, {"vocabulary": "inverse"})] == [
        True,
        False,
        False,
    ]


def test_session_that_names_a_device_gets_no_hint(
    service: InProcessService, connect: Connect, hints: list[str]
) -> None:
    peer, first = connect()
    peer.ask(named("arm", ARM))
    silent_for_long(service, first["session_id"])
    peer.close()
    service.wait_for_sessions()

    assert hints == []


@pytest.mark.parametrize(
    "go", [RawWebSocket.close, RawWebSocket.drop, RawWebSocket.abort], ids=["goodbye", "silently", "reset"]
)
def test_session_closed_without_a_message_is_logged(
    service: InProcessService, connect: Connect, hints: list[str], go: Any
) -> None:
    peer, first = connect()
    go(peer)
    service.wait_for_sessions()

    eventually(lambda: hints, "the hint is in the log")
    assert len(hints) == 1
    assert f"session {first['session_id']} was closed by its client" in hints[0]


def test_session_closed_by_the_service_is_not_logged(
    service: InProcessService, connect: Connect, hints: list[str]
) -> None:
    peer, first = connect()
    service.on_edge(lambda: service.bridge.channels[first["session_id"]].disconnect(1001, "over"))
    peer.end()
    service.wait_for_sessions()

    assert hints == []


def test_hints_of_many_sessions_are_limited(service: InProcessService, connect: Connect, hints: list[str]) -> None:
    for _ in range(15):
        connect()[0].close()
    service.wait_for_sessions()

    assert len(hints) == 10
