"""The session channel over a real socket, beside a loop that is stepped: frames, order, what is held and what is released."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from actors.kit.mailbox import mailbox_of
from fastpath.doors import Space
from tests.support.inside import ServiceInside
from tests.support.living_actors import held
from tests.support.peer import ABORT, BINARY, TEXT, Peer, connected, encoded, handshake
from tests.support.polling import eventually
from tests.unit.ws.conftest import Connect
from transport.ws.session import SessionChannel

ARM, GRIP = "A001", "B001"
NEUTRAL = ["arm", "compact", "grip", "pen"]
INVERSE = ["inverse3", "verse_grip", "wireless_verse_grip", "custom_verse_grip"]
XZY = {"axes": (0, 2, 1), "signs": (1, 1, -1)}
EMPTY: dict[str, Any] = {}
UP: dict[str, Any] = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}


def arm(**parts: Any) -> dict[str, Any]:
    """A message about the arm."""
    return {"arm": [{"device_id": ARM, **parts}]}


def xyz(x: float, y: float, z: float) -> dict[str, float]:
    return {"x": x, "y": y, "z": z}


def numbers(value: dict[str, float]) -> list[float]:
    return [value[key] for key in "xyz"]


def state(frame: Any) -> Any:
    return frame["arm"][0]["state"]


def force(frame: Any) -> list[float]:
    return numbers(state(frame)["current_cursor_force"])


def paths(frame: Any) -> list[str]:
    return [error["path"] for error in frame.get("errors", [])]


def metric(service: ServiceInside, name: str, **labels: str) -> float:
    return service.system.metrics.registry.get_sample_value(name, labels) or 0.0


# ---------------------------------------------------------------- frames


def test_the_service_speaks_first_with_a_full_frame_and_then_waits(connect: Connect) -> None:
    peer, first = connect()

    assert list(first) == ["session_id", *NEUTRAL]
    assert first["session_id"] > 0
    assert first["arm"][0]["device_id"] == ARM
    assert [list(entry) for entry in (*first["arm"], *first["grip"])] == [
        ["device_id", "config", "state", "status"]
    ] * 2
    assert (first["compact"], first["pen"]) == ([], [])
    peer.owes_nothing()


def test_each_message_gets_exactly_one_frame_in_order(client: Peer) -> None:
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
        client.write(encoded(text, BINARY if index % 3 == 0 else TEXT))

    frames = [client.frame() for _ in sent]

    client.owes_nothing()
    assert [path for frame in frames for path in paths(frame) if path.startswith("mark")] == marks
    assert [paths(frame) for frame in frames[:: len(texts) + 1]] == [[mark] for mark in marks]


def test_binary_comes_in_and_text_goes_out(client: Peer) -> None:
    frame = client.ask({"session": {"force_render_full_state": {}}}, BINARY)

    assert frame["arm"][0]["config"]["type"] == "arm"


def test_configuration_is_shown_in_full_frames_only(client: Peer) -> None:
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


def test_faults_are_named_in_the_frame_and_only_there(client: Peer) -> None:
    frame = client.ask({**arm(commands={"set_cursor_force": {"vector": {"x": 0, "y": True, "z": 0}}}), "boat": 1})

    assert paths(frame) == ["arm[0].commands.set_cursor_force.vector.y", "boat"]
    assert "errors" not in client.ask({})


def test_at_most_eight_faults_are_named(client: Peer) -> None:
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
def test_the_reply_is_in_the_new_space_whatever_the_order_of_keys(
    service: ServiceInside, client: Peer, commands_first: bool, transform_first: bool
) -> None:
    at = numbers(state(client.ask({}))["cursor_position"])
    wishes = [("set_transform", WORKSPACE), ("set_cursor_force", {"vector": xyz(0, 0.5, 1)})]
    parts = [("configure", CONFIGURE), ("commands", dict(wishes if transform_first else reversed(wishes)))]

    reply = client.ask(arm(**dict(reversed(parts) if commands_first else parts)))

    assert paths(reply) == []
    assert numbers(state(reply)["cursor_position"]) == pytest.approx(SPACE.position_to_application(at), abs=1e-6)
    assert state(reply)["transform"]["rotation"] == {"w": 0.6, "x": 0, "y": 0, "z": 0.8}
    assert force(reply) == [0, 0, 0]
    service.step()
    assert force(client.ask({})) == pytest.approx([0, 0.5, 1], abs=1e-6)
    applied = service.state(ARM)["force"].tolist()
    assert applied == pytest.approx(SPACE.force_to_device((0, 0.5, 1)), abs=1e-6)


def test_a_position_in_the_same_message_is_in_the_new_space(service: ServiceInside, client: Peer) -> None:
    client.ask(arm(commands={"set_cursor_position": {"position": xyz(0.5, 1, 2)}}, configure=CONFIGURE))
    service.step()

    frame = client.ask({})

    assert state(frame)["control_mode"] == "position"
    assert numbers(state(frame)["current_cursor_position"]) == pytest.approx([0.5, 1, 2], abs=1e-6)
    mounted = Space(basis=(XZY["axes"], XZY["signs"]), mount=((1, 2, 3), (1, 0, 0, 0), (2, 2, 2)))
    assert service.state(ARM)["target"].tolist() == pytest.approx(mounted.position_to_device((0.5, 1, 2)), abs=1e-6)


def test_the_sessions_part_may_come_last(client: Peer) -> None:
    at = numbers(state(client.ask({}))["cursor_position"])

    reply = client.ask({**arm(commands={}), "session": {"configure": {"basis": "XZ-Y"}}})

    assert numbers(state(reply)["cursor_position"]) == pytest.approx([at[0], at[2], -at[1]], abs=1e-6)


def test_what_is_refused_is_named_and_the_rest_is_made(service: ServiceInside, client: Peer) -> None:
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


def test_what_config_shows_follows_what_was_configured(client: Peer) -> None:
    client.ask(arm(configure={"preset": "arm_front_centered"}))

    config = client.ask({"session": {"force_render_full_state": {}}})["arm"][0]["config"]

    assert config["preset"] == "arm_front_centered"
    assert config["mount"] == {"position": xyz(0, 0.12, -0.135)}


# ---------------------------------------------------------------- what is held and what is released


@pytest.fixture
def holding(service: ServiceInside, client: Peer) -> Peer:
    """A client whose force the loop applies."""
    client.ask(arm(commands=UP))
    service.step()
    assert force(client.ask({})) == pytest.approx([0, 0, 1])
    return client


def after(service: ServiceInside, peer: Peer, message: object) -> list[float]:
    """The force two ticks after one more message."""
    if isinstance(message, (str, bytes)):
        peer.send_text(message)
        peer.frame()
    else:
        peer.ask(message)
    service.step(2)
    return [round(part, 6) for part in force(peer.ask({}))]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"arm": []},
        {"arm": {}},
        {"arm": [{"device_id": ARM}]},
        {"arm": [{"device_id": "nobody"}]},
        {"boat": {"commands": {}}},
        {"session": {"force_render_full_state": {}}},
        {"session": {"configure": {"profile": {"name": "a"}}}},
        {"session": {"configure": {"basis": "XYZ"}}},
        {"arm": [{"device_id": ARM, "configure": {"preset": "arm_front"}}]},
        {"arm": [{"device_id": ARM, "configure": {"preset": "nonsense"}}]},
        {"grip": [{"device_id": GRIP}]},
        "{",
        "",
        "null",
        "[]",
    ],
)
def test_a_message_without_a_commands_map_leaves_what_is_held(
    service: ServiceInside, holding: Peer, message: object
) -> None:
    assert after(service, holding, message) == [0, 0, 1]


@pytest.mark.parametrize(
    "message",
    [
        arm(commands={}),
        arm(commands={"keep_alive": {}}),
        arm(commands={"probe_position": {}}),
        arm(commands={"set_cursor_force": {}}),
        arm(commands={"set_cursor_force": {"vector": {"x": 0, "y": 0}}}),
        arm(commands={"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": None}}}),
        arm(commands={"set_transform": {"transform": {}}}),
        arm(commands={"dance": {}}),
        arm(commands=UP | {"set_cursor_force": 5}),
        {"grip": [{"device_id": GRIP, "commands": {"keep_alive": EMPTY}}]},
        arm(commands={}, configure={"basis": "XYZ"}),
        {"arm": {ARM: {"commands": EMPTY}}},
    ],
)
def test_a_commands_map_without_the_command_releases_it_at_once(
    service: ServiceInside, holding: Peer, message: object
) -> None:
    assert after(service, holding, message) == [0, 0, 0]


def test_a_command_is_held_until_the_time_out_and_gone_20_ms_later(service: ServiceInside, holding: Peer) -> None:
    holding.ask(arm(commands=UP))

    service.wait(0.049)
    assert force(holding.ask({})) == pytest.approx([0, 0, 1])

    service.wait(0.011)
    assert 0.3 < force(holding.ask({}))[2] < 0.7

    service.wait(0.010)
    service.step(2)
    frame = holding.ask({})
    assert force(frame) == [0, 0, 0]
    assert state(frame)["control_mode"] == "idle"


def test_only_commands_refresh(service: ServiceInside, holding: Peer) -> None:
    holding.ask(arm(commands=UP))

    messages: list[dict[str, Any]] = [{}, {"session": {}}, arm(configure={"basis": "XYZ"}), {"boat": 1}]
    for message in messages:
        service.wait(0.018)
        holding.ask(message)
    service.step(2)

    assert force(holding.ask({})) == [0, 0, 0]


def test_a_command_that_is_sent_again_holds_on(service: ServiceInside, holding: Peer) -> None:
    for _ in range(10):
        service.wait(0.045)
        holding.ask(arm(commands=UP))
    service.step()

    assert force(holding.ask({})) == pytest.approx([0, 0, 1])


def test_each_command_is_held_and_released_by_itself(service: ServiceInside, client: Peer) -> None:
    torques = {"set_angular_torques": {"torques": {"a0": 100, "a1": 0, "a2": 0}}}

    def applied(commands: dict[str, Any]) -> tuple[int, int]:
        """Force upwards (N) and torque of the first joint (N.mm)."""
        client.ask(arm(commands=commands))
        service.step()
        frame = client.ask({})
        return round(force(frame)[2]), round(state(frame)["current_angular_torques"]["a0"])

    assert applied(UP | torques) == (1, 100)
    assert applied(torques) == (0, 100)
    assert applied(UP) == (1, 0)
    assert applied({}) == (0, 0)


def test_of_one_device_named_twice_the_later_command_counts(service: ServiceInside, client: Peer) -> None:
    down = {"set_cursor_force": {"vector": xyz(0, 0, -1)}}

    client.ask({"arm": [{"device_id": ARM, "commands": UP}, {"device_id": ARM, "commands": down}]})
    service.step()

    assert force(client.ask({})) == pytest.approx([0, 0, -1])


def test_a_change_of_basis_turns_no_held_force_at_the_device(service: ServiceInside, holding: Peer) -> None:
    holding.ask(arm(configure={"basis": "XZ-Y"}))
    service.step()

    assert service.state(ARM)["force"].tolist() == pytest.approx([0, 0, 1])
    assert force(holding.ask({})) == pytest.approx([0, 1, 0])


@pytest.mark.parametrize(
    ("configure", "holds"),
    [
        ({"basis": "XZ-Y"}, False),
        ({"mount": {"position": xyz(0, 0, 1)}}, False),
        ({"preset": "arm_front_centered"}, False),
        ({"preset": "arm_front"}, False),
        ({"preset": "defaults"}, True),
        ({"basis": "XYZ"}, True),
        ({"basis": "nonsense"}, True),
    ],
)
def test_a_change_of_view_releases_a_held_position(
    service: ServiceInside, client: Peer, configure: dict[str, object], holds: bool
) -> None:
    client.ask(arm(commands={"set_cursor_position": {"position": xyz(0, -0.1, 0.1)}}))
    service.step()
    assert state(client.ask({}))["control_mode"] == "position"

    client.ask(arm(configure=configure))
    service.step()

    assert state(client.ask({}))["control_mode"] == ("position" if holds else "idle")


def test_a_workspace_stays_when_its_message_is_over(service: ServiceInside, client: Peer) -> None:
    at = numbers(state(client.ask({}))["cursor_position"])

    client.ask(arm(commands={"set_transform": {"transform": {"scale": 2}}}))
    client.ask(arm(commands={"set_transform": {"transform": {"position": xyz(1, 0, 0)}}}))
    service.wait(1)

    frame = client.ask(arm(commands={}))
    assert state(frame)["transform"] == {"position": xyz(1, 0, 0), "scale": xyz(2, 2, 2)}
    client.ask(arm(commands={"set_transform": {"transform": {"position": xyz(0, 0, 0), "scale": 1}}}))
    assert at == pytest.approx(at)


# ---------------------------------------------------------------- several sessions


def test_forces_of_two_sessions_add_and_each_sees_the_other(service: ServiceInside, connect: Connect) -> None:
    (one, _), (two, _) = connect(), connect()
    one.ask(arm(commands=UP))
    two.ask(arm(commands={"set_cursor_force": {"vector": xyz(1, 0, 1)}}))
    service.step()

    frame = one.ask({})
    assert force(frame) == pytest.approx([1, 0, 2])
    assert frame["arm"][0]["status"]["in_use"] is True

    two.ask(arm(commands={}))
    service.step()
    frame = one.ask({})
    assert force(frame) == pytest.approx([0, 0, 1])
    assert frame["arm"][0]["status"]["in_use"] is False
    assert two.ask({})["arm"][0]["status"]["in_use"] is True


def test_the_first_to_set_a_position_holds_the_device(service: ServiceInside, connect: Connect) -> None:
    (one, first), (two, _) = connect(), connect()
    here = arm(commands={"set_cursor_position": {"position": xyz(0, -0.1, 0.1)}})
    there = arm(commands={"set_cursor_position": {"position": xyz(0, 0, 0)}, **UP})

    one.ask(here)
    refused = two.ask(there)

    assert [(error["path"], str(first["session_id"]) in error["reason"]) for error in refused["errors"]] == [
        ("arm[0].commands.set_cursor_position", True)
    ]
    service.step()
    assert service.state(ARM)["target"].tolist() == pytest.approx([0, -0.1, 0.1])

    one.ask(arm(commands={}))
    assert "errors" not in two.ask(there)
    assert paths(one.ask(here)) == ["arm[0].commands.set_cursor_position"]


def test_who_holds_and_leaves_gives_the_device_up(service: ServiceInside, connect: Connect) -> None:
    (one, _), (two, _) = connect(), connect()
    here = arm(commands={"set_cursor_position": {"position": xyz(0, -0.1, 0.1)}})
    one.ask(here)
    assert paths(two.ask(here)) == ["arm[0].commands.set_cursor_position"]

    one.close()
    eventually(lambda: len(service.bridge.channels) == 1, "one has gone", pause_s=0.005)

    assert service.bridge.holders._holders == {}
    assert paths(two.ask(here)) == []


def test_a_busy_device_is_no_faulty_message(service: ServiceInside, connect: Connect) -> None:
    (one, _), (two, _) = connect(), connect()
    here = arm(commands={"set_cursor_position": {"position": xyz(0, -0.1, 0.1)}})
    busy, faulty = "device-busy", "invalid-io-channel"
    service.wait(2)
    before = {kind: metric(service, "hapticd_events_total", kind=kind) for kind in (busy, faulty)}

    def since(kind: str) -> float:
        return metric(service, "hapticd_events_total", kind=kind) - before[kind]

    one.ask(here)
    two.ask(here)
    eventually(lambda: since(busy) == 1, "the event of a busy device", pause_s=0.01)
    two.ask({"boat": 1})
    eventually(lambda: since(faulty) > 0, "the event of a faulty message", pause_s=0.01)

    assert since(faulty) == 1


# ---------------------------------------------------------------- coming and going


@pytest.mark.parametrize("go", [Peer.close, Peer.drop, Peer.abort], ids=["goodbye", "silently", "reset"])
def test_who_goes_lets_go(service: ServiceInside, connect: Connect, go: Callable[[Peer], object]) -> None:
    leaving, _ = connect()
    leaving.ask(arm(commands=UP))
    service.step()
    assert service.state(ARM)["force"].tolist() == pytest.approx([0, 0, 1])

    go(leaving)

    def zero() -> bool:
        service.on_edge(lambda: None)
        return not service.bridge.channels

    eventually(zero, "the connection has gone", pause_s=0.005, tries=2_000)
    service.step()
    assert service.state(ARM)["force"].tolist() == [0, 0, 0]
    service.sessions_gone()


def test_who_goes_lets_go_before_any_actor_hears_of_it(service: ServiceInside, connect: Connect) -> None:
    leaving, _ = connect()
    leaving.ask(arm(commands=UP))
    service.step()
    with held(service.system.context.directory, "sessions"):
        leaving.drop()
        eventually(lambda: not service.bridge.channels, "the connection has gone", pause_s=0.005)
        service.step()

        assert service.state(ARM)["force"].tolist() == [0, 0, 0]
        assert len(service.system.sessions.value.sessions) == 1


def test_a_session_comes_back_with_its_profile_but_not_its_configuration(
    service: ServiceInside, connect: Connect
) -> None:
    peer, first = connect()
    peer.ask(arm(configure={"basis": "XZ-Y"}))
    peer.ask({"session": {"configure": {"profile": {"name": "mine"}, "required_sdk_version": "3.5"}}})
    assert connect({"session_id": first["session_id"]})[1]["session_id"] != first["session_id"]
    peer.close()
    eventually(
        lambda: first["session_id"] not in [one.session_id for one in service.system.sessions.value.sessions],
        "the session is closed",
        pause_s=0.005,
    )

    _, again = connect({"session_id": first["session_id"]})

    assert again["session_id"] == first["session_id"]
    assert again["arm"][0]["config"]["basis"] == {"permutation": "XYZ"}
    (record,) = [one for one in service.system.sessions.value.sessions if one.session_id == first["session_id"]]
    assert (record.config.profile, record.config.required_sdk_version) == ("mine", "3.5")


@pytest.mark.parametrize("wanted", ["999999", "0", "-1", "x", "", "1e3", "9" * 500])
def test_a_session_that_nobody_knows_is_a_new_one(connect: Connect, wanted: str) -> None:
    _, before = connect()

    _, frame = connect({"session_id": wanted})

    assert frame["session_id"] > before["session_id"]


@pytest.mark.parametrize(
    ("query", "legacy", "groups"),
    [
        ({}, False, NEUTRAL),
        ({"version": "3.1"}, False, NEUTRAL),
        ({"version": "3.0"}, True, NEUTRAL),
        ({"vocabulary": "inverse"}, False, INVERSE),
        ({"vocabulary": "neutral"}, False, NEUTRAL),
        ({"vocabulary": "inverse", "version": "3.0"}, True, INVERSE),
    ],
)
@pytest.mark.parametrize("legacy_port", [False, True])
def test_version_and_vocabulary_are_chosen_by_port_and_query(
    service: ServiceInside,
    connect: Connect,
    query: dict[str, object],
    legacy: bool,
    groups: list[str],
    legacy_port: bool,
) -> None:
    legacy = legacy or (legacy_port and "version" not in query)

    peer, first = connect(query, url=service.ws_v30 if legacy_port else service.ws)

    for frame in (first, peer.ask({}), peer.ask({"session": {"force_render_full_state": {}}})):
        assert list(frame)[1:] == groups
        assert isinstance(frame[groups[0]], dict if legacy else list)


@pytest.mark.parametrize("query", ["version=2", "version=", "vocabulary=latin", "vocabulary=Inverse", "version=3.1.0"])
def test_another_version_or_vocabulary_is_refused(service: ServiceInside, query: str) -> None:
    status, body = refused(service, query)

    assert status == 400
    assert body["ok"] is False
    assert "use" in body["error"]


def refused(service: ServiceInside, query: str = "") -> tuple[int, Any]:
    """Status and body that answer a handshake."""
    with connected(service.ws) as raw:
        raw.sendall(handshake(f"{service.ws}/?{query}").replace(b"GET / ", f"GET /?{query} ".encode()))
        head, _, rest = received(raw).partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(rest)


def received(raw: socket.socket) -> bytes:
    """An answer with its body."""
    data = b""
    while True:
        head, _, rest = data.partition(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if lengths and len(rest) >= int(lengths[0].split(b":")[1]):
            return data
        more = raw.recv(65536)
        assert more, data
        data += more


def test_every_message_and_every_frame_is_counted(service: ServiceInside, connect: Connect) -> None:
    def counted() -> list[float]:
        service.on_edge(lambda: None)
        return [metric(service, f"hapticd_{name}_total") for name in ("frames_sent", "commands_received")]

    before = counted()
    peer, first = connect()
    for _ in range(5):
        peer.ask({})

    assert [now - then for now, then in zip(counted(), before, strict=True)] == [6, 5]
    channel = service.bridge.channels[first["session_id"]]
    assert (channel.frames_sent, channel.commands_received) == (6, 5)


# ---------------------------------------------------------------- actors that are slow


def test_a_configuration_that_is_not_confirmed_in_time_is_named_and_holds_on(
    service: ServiceInside, connect: Connect
) -> None:
    peer, first = connect()
    peer.ask(arm(commands=UP))
    with held(service.system.context.directory, f"session/{first['session_id']}"):
        reply = peer.ask(arm(configure={"basis": "XZ-Y"}))

    assert paths(reply) == ["arm[0].configure.basis"]
    assert "not confirmed in time" in reply["errors"][0]["reason"]
    service.step()
    assert force(peer.ask({})) == pytest.approx([0, 0, 1])
    again = peer.ask({**arm(configure={"basis": "XZ-Y"}), "session": {"force_render_full_state": {}}})
    assert again["arm"][0]["config"]["basis"] == {"permutation": "XZ-Y"}


def test_who_goes_while_a_configuration_is_under_way_is_gone(
    service: ServiceInside, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    peer, first = connect()
    with held(service.system.context.directory, f"session/{first['session_id']}") as actor:
        peer.send(arm(configure={"basis": "XZ-Y"}, commands=UP))
        eventually(lambda: len(mailbox_of(actor)) > 0, "the session is asked", pause_s=0.002)
        peer.abort()
        eventually(lambda: not service.bridge.channels, "the connection has gone", pause_s=0.005)

    service.sessions_gone()
    service.step()
    assert service.state(ARM)["force"].tolist() == [0, 0, 0]
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.parametrize("linger", [None, ABORT], ids=["silently", "reset"])
def test_who_goes_before_its_session_is_open_leaves_none(
    service: ServiceInside, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, linger: bytes | None
) -> None:
    arrived, noticed = threading.Event(), threading.Event()
    choose, on_close = SessionChannel._choose, SessionChannel.on_close

    def arrive(channel: SessionChannel) -> bool:
        arrived.set()
        return choose(channel)

    def close(channel: SessionChannel) -> None:
        on_close(channel)
        noticed.set()

    monkeypatch.setattr(SessionChannel, "_choose", arrive)
    monkeypatch.setattr(SessionChannel, "on_close", close)
    with held(service.system.context.directory, "sessions"):
        raw = connected(service.ws)
        raw.sendall(handshake(service.ws))
        assert arrived.wait(20)
        service.on_edge(lambda: None)
        if linger is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        raw.close()
        assert noticed.wait(20)

    service.sessions_gone()
    assert service.bridge.channels == {}
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
