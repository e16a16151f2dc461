"""Which commands a session holds, what releases them, and several sessions on one device."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.ws.conftest import Connect
from tests.service.ws.message_helpers import ARM, EMPTY, GRIP, UP, arm, force, metric, numbers, paths, state, xyz
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

# ---------------------------------------------------------------- what is held and what is released


@pytest.fixture
def holding(service: InProcessService, client: RawWebSocket) -> RawWebSocket:
    """A client whose force the loop applies."""
    client.ask(arm(commands=UP))
    service.step()
    assert force(client.ask({})) == pytest.approx([0, 0, 1])
    return client


def after(service: InProcessService, peer: RawWebSocket, message: object) -> list[float]:
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
def test_message_without_commands_keeps_held_ones(
    service: InProcessService, holding: RawWebSocket, message: object
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
def test_omitted_command_is_released_at_once(service: InProcessService, holding: RawWebSocket, message: object) -> None:
    assert after(service, holding, message) == [0, 0, 0]


def test_command_is_held_until_the_timeout_and_zero_20_ms_later(
    service: InProcessService, holding: RawWebSocket
) -> None:
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


def test_only_commands_refresh(service: InProcessService, holding: RawWebSocket) -> None:
    holding.ask(arm(commands=UP))

    messages: list[dict[str, Any]] = [{}, {"session": {}}, arm(configure={"basis": "XYZ"}), {"boat": 1}]
    for message in messages:
        service.wait(0.018)
        holding.ask(message)
    service.step(2)

    assert force(holding.ask({})) == [0, 0, 0]


def test_repeated_command_stays_held(service: InProcessService, holding: RawWebSocket) -> None:
    for _ in range(10):
        service.wait(0.045)
        holding.ask(arm(commands=UP))
    service.step()

    assert force(holding.ask({})) == pytest.approx([0, 0, 1])


def test_commands_are_held_independently(service: InProcessService, client: RawWebSocket) -> None:
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


def test_later_command_of_a_duplicate_device_counts(service: InProcessService, client: RawWebSocket) -> None:
    down = {"set_cursor_force": {"vector": xyz(0, 0, -1)}}

    client.ask({"arm": [{"device_id": ARM, "commands": UP}, {"device_id": ARM, "commands": down}]})
    service.step()

    assert force(client.ask({})) == pytest.approx([0, 0, -1])


def test_basis_change_keeps_a_held_force_at_the_device(service: InProcessService, holding: RawWebSocket) -> None:
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
def test_view_change_releases_a_held_position(
    service: InProcessService, client: RawWebSocket, configure: dict[str, object], holds: bool
) -> None:
    client.ask(arm(commands={"set_cursor_position": {"position": xyz(0, -0.1, 0.1)}}))
    service.step()
    assert state(client.ask({}))["control_mode"] == "position"

    client.ask(arm(configure=configure))
    service.step()

    assert state(client.ask({}))["control_mode"] == ("position" if holds else "idle")


def test_workspace_stays_after_its_message(service: InProcessService, client: RawWebSocket) -> None:
    at = numbers(state(client.ask({}))["cursor_position"])

    client.ask(arm(commands={"set_transform": {"transform": {"scale": 2}}}))
    client.ask(arm(commands={"set_transform": {"transform": {"position": xyz(1, 0, 0)}}}))
    service.wait(1)

    frame = client.ask(arm(commands={}))
    assert state(frame)["transform"] == {"position": xyz(1, 0, 0), "scale": xyz(2, 2, 2)}
    client.ask(arm(commands={"set_transform": {"transform": {"position": xyz(0, 0, 0), "scale": 1}}}))
    assert at == pytest.approx(at)


# ---------------------------------------------------------------- several sessions


def test_forces_of_two_sessions_add_and_are_shown_to_both(service: InProcessService, connect: Connect) -> None:
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


def test_first_position_command_holds_the_device(service: InProcessService, connect: Connect) -> None:
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


def test_closed_holder_releases_the_device(service: InProcessService, connect: Connect) -> None:
    (one, _), (two, _) = connect(), connect()
    here = arm(commands={"set_cursor_position": {"position": xyz(0, -0.1, 0.1)}})
    one.ask(here)
    assert paths(two.ask(here)) == ["arm[0].commands.set_cursor_position"]

    one.close()
    eventually(lambda: len(service.bridge.channels) == 1, "one has gone", pause_s=0.005)

    assert service.bridge.holders._holders == {}
    assert paths(two.ask(here)) == []


def test_busy_device_is_no_faulty_message(service: InProcessService, connect: Connect) -> None:
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
