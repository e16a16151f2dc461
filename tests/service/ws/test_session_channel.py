"""The session channel over a real socket and a stepped loop: frames, their order, held and released commands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fastpath.space.spatial_py import Space
from tests.service.ws.conftest import Connect
from tests.service.ws.message_helpers import ARM, INVERSE, NEUTRAL, UP, XZY, arm, force, numbers, paths, state, xyz
from tests.support.clients.raw_websocket import BINARY, TEXT, RawWebSocket, encode_frame
from tests.support.service.in_process_service import InProcessService

# ---------------------------------------------------------------- frames


def test_service_sends_the_first_full_frame_then_waits(connect: Connect) -> None:
    peer, first = connect()

    assert list(first) == ["session_id", *NEUTRAL, *INVERSE]
    assert first["session_id"] > 0
    assert first["arm"][0]["device_id"] == ARM
    assert [list(entry) for entry in (*first["arm"], *first["grip"])] == [
        ["device_id", "config", "state", "status"]
    ] * 2
    assert (first["compact"], first["pen"], first["verse_grip"]) == ([], [], [])
    peer.check_nothing_unread()


def test_each_message_gets_exactly_one_frame_in_order(client: RawWebSocket) -> None:
    texts = [
        "{}",
        "{",
        "",
        "null",
        "[]",
        json.dumps(arm()),
        json.dumps(arm(commands=UP)),
        json.dumps(arm(configure={"basis": "XYZ"})),
        json.dumps({"session": {"force_render_full_state": {}}}),
        json.dumps({"session": {"configure": {"profile": {"name": "a"}}}}),
        "x" * 1000,
    ]
    marks = [f"mark{index}" for index in range(10)]
    sent = [text for mark in marks for text in (json.dumps({mark: 1}), *texts)]
    for index, text in enumerate(sent):
        client.write(encode_frame(text, BINARY if index % 3 == 0 else TEXT))

    frames = [client.frame() for _ in sent]

    client.check_nothing_unread()
    assert [path for frame in frames for path in paths(frame) if path.startswith("mark")] == marks
    assert [paths(frame) for frame in frames[:: len(texts) + 1]] == [[mark] for mark in marks]


def test_binary_input_gets_text_frames(client: RawWebSocket) -> None:
    frame = client.ask({"session": {"force_render_full_state": {}}}, BINARY)

    assert frame["arm"][0]["config"]["type"] == "arm"


def test_configuration_is_shown_in_full_frames_only(connect: Connect) -> None:
    client, _ = connect({"vocabulary": "neutral"})
    plain = client.ask({})
    full = client.ask({"session": {"force_render_full_state": {}}})
    arms = client.ask({"session": {"force_render_full_state": {"device_types": ["inverse3"]}}})

    assert [("config" in entry) for entry in (plain["arm"][0], plain["grip"][0])] == [False, False]
    assert [("config" in entry) for entry in (full["arm"][0], full["grip"][0])] == [True, True]
    assert [("config" in entry) for entry in (arms["arm"][0], arms["grip"][0])] == [True, False]


def test_frames_carry_the_id_of_their_session(connect: Connect) -> None:
    (one, first), (two, second) = connect(), connect()

    assert second["session_id"] > first["session_id"]
    assert one.ask({})["session_id"] == first["session_id"]
    assert two.ask({})["session_id"] == second["session_id"]


def test_faults_are_named_in_the_answering_frame_only(client: RawWebSocket) -> None:
    frame = client.ask({**arm(commands={"set_cursor_force": {"vector": {"x": 0, "y": True, "z": 0}}}), "boat": 1})

    assert paths(frame) == ["arm[0].commands.set_cursor_force.vector.y", "boat"]
    assert "errors" not in client.ask({})


def test_at_most_eight_faults_are_named(client: RawWebSocket) -> None:
    frame = client.ask({f"{'k' * 200}{index}": 1 for index in range(20)})

    assert len(paths(frame)) == 8
    assert all(len(error["path"]) <= 100 and len(error["reason"]) <= 100 for error in frame["errors"])


# ---------------------------------------------------------------- the order inside a message

CONFIGURE = {"basis": "XZ-Y", "mount": {"position": xyz(1, 2, 3), "scale": 2}}
WORKSPACE = {"transform": {"position": xyz(-1, 0, 0), "rotation": {"w": 0.6, "x": 0, "y": 0, "z": 0.8}}}
SPACE = Space(
    basis=(XZY["axes"], XZY["signs"]),
    mount=((1, 2, 3), (1, 0, 0, 0), (2, 2, 2)),
    workspace=((-1, 0, 0), (0.6, 0, 0, 0.8), (1, 1, 1)),
)


@pytest.mark.parametrize("commands_first", [False, True])
@pytest.mark.parametrize("transform_first", [False, True])
def test_frame_is_in_the_new_space_for_any_key_order(
    service: InProcessService, client: RawWebSocket, commands_first: bool, transform_first: bool
) -> None:
    at = numbers(state(client.ask({}))["cursor_position"])
    commands = [("set_transform", WORKSPACE), ("set_cursor_force", {"vector": xyz(0, 0.5, 1)})]
    parts = [("configure", CONFIGURE), ("commands", dict(commands if transform_first else reversed(commands)))]

    reply = client.ask(arm(**dict(reversed(parts) if commands_first else parts)))

    assert paths(reply) == []
    assert numbers(state(reply)["cursor_position"]) == pytest.approx(SPACE.position_to_application(at), abs=1e-6)
    assert state(reply)["transform"]["rotation"] == {"w": 0.6, "x": 0, "y": 0, "z": 0.8}
    assert force(reply) == [0, 0, 0]
    service.step()
    assert force(client.ask({})) == pytest.approx([0, 0.5, 1], abs=1e-6)
    applied = service.state(ARM)["force"].tolist()
    assert applied == pytest.approx(SPACE.force_to_device((0, 0.5, 1)), abs=1e-6)


def test_position_in_a_message_is_in_its_new_space(service: InProcessService, client: RawWebSocket) -> None:
    client.ask(arm(commands={"set_cursor_position": {"position": xyz(0.5, 1, 2)}}, configure=CONFIGURE))
    service.step()

    frame = client.ask({})

    assert state(frame)["control_mode"] == "position"
    assert numbers(state(frame)["current_cursor_position"]) == pytest.approx([0.5, 1, 2], abs=1e-6)
    mounted = Space(basis=(XZY["axes"], XZY["signs"]), mount=((1, 2, 3), (1, 0, 0, 0), (2, 2, 2)))
    assert service.state(ARM)["target"].tolist() == pytest.approx(mounted.position_to_device((0.5, 1, 2)), abs=1e-6)


def test_session_part_may_come_last(client: RawWebSocket) -> None:
    at = numbers(state(client.ask({}))["cursor_position"])

    reply = client.ask({**arm(commands={}), "session": {"configure": {"basis": "XZ-Y"}}})

    assert numbers(state(reply)["cursor_position"]) == pytest.approx([at[0], at[2], -at[1]], abs=1e-6)


def test_refused_parts_are_named_and_the_rest_applied(service: InProcessService, client: RawWebSocket) -> None:
    message: dict[str, Any] = arm(configure={"preset": "compact_zup", "basis": "XZ-Y"}, commands=UP)
    message["session"] = {"configure": {"required_sdk_version": "9", "profile": ""}}

    reply = client.ask(message)

    assert sorted(paths(reply)) == [
        "arm[0].configure.preset",
        "session.configure.profile",
        "session.configure.required_sdk_version",
    ]
    full = client.ask({"session": {"force_render_full_state": {}}})
    assert full["arm"][0]["config"]["basis"] == {"permutation": "XZ-Y"}
    assert full["arm"][0]["config"]["preset"] == "defaults"
    service.step()
    assert force(client.ask({})) == pytest.approx([0, 0, 1])


def test_config_follows_the_configuration(client: RawWebSocket) -> None:
    client.ask(arm(configure={"preset": "arm_front_centered"}))

    config = client.ask({"session": {"force_render_full_state": {}}})["arm"][0]["config"]

    assert config["preset"] == "arm_front_centered"
    assert config["mount"] == {"position": xyz(0, 0.12, -0.135)}
