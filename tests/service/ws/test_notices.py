"""Events that a session's messages cause: deprecated forms, too old firmware, changed workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from actors.device.messages import DeviceRecord
from actors.kit.errors import FirmwareTooOld
from tests.service.ws.conftest import Connect
from tests.support.clients.event_client import EventClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService

ARM = "A001"
LAST = "resume_refused"


def arm(**parts: Any) -> dict[str, Any]:
    return {"arm": [{"device_id": ARM, **parts}]}


def xyz(x: float, y: float, z: float) -> dict[str, float]:
    return {"x": x, "y": y, "z": z}


def moved(**transform: Any) -> dict[str, Any]:
    return arm(commands={"set_transform": {"transform": transform}})


@pytest.fixture
def events(service: InProcessService) -> Iterator[EventClient]:
    with EventClient(service.events) as listener:
        yield listener


def all_received(connect: Connect, events: EventClient) -> None:
    """Wait for an event that comes after all that were caused before."""
    _, first = connect({"session_id": "999999"})
    events.wait_for_event("session-warning", reason=LAST, session_id=first["session_id"])


def test_old_form_raises_one_event_over_all_sessions(connect: Connect, events: EventClient) -> None:
    (one, first), (two, _) = connect(), connect()
    old = arm(commands={"set_angular_torque": {"torques": {"a0": 0, "a1": 0, "a2": 0}}})
    for peer in (one, two, one, two):
        assert "errors" not in peer.ask(old)

    all_received(connect, events)
    (event,) = events.received_events("command-deprecated", command="set_angular_torque")
    assert event["data"]["session_id"] == first["session_id"]
    assert event["data"]["replacement"] == "set_angular_torques"
    assert event["data"]["suppressed"] == 0
    assert (event["category"], event["level"]) == ("input", "notice")


def test_old_basis_and_origin_still_work(connect: Connect, events: EventClient) -> None:
    peer, _ = connect()

    reply = peer.ask(
        {
            "session": {
                "set_basis": "X-ZY",
                "set_coordinate_origin": "workspace_center",
                "force_render_full_state": {"device_types": ["arm"]},
            }
        }
    )

    assert "errors" not in reply
    config = reply["arm"][0]["config"]
    assert (config["basis"], config["preset"]) == ({"permutation": "XZ-Y"}, "arm_front_centered")
    assert config["mount"] == {"position": xyz(0, -0.135, -0.12)}
    all_received(connect, events)
    assert len(events.received_events("command-deprecated", command="set_basis", replacement="configure.basis")) == 1
    assert (
        len(
            events.received_events(
                "command-deprecated", command="set_coordinate_origin", replacement="configure.preset"
            )
        )
        == 1
    )


def test_workspace_change_raises_an_event(connect: Connect, events: EventClient) -> None:
    peer, first = connect()
    whole = {"position": xyz(1, 2, 3), "scale": 2}
    for message in (
        moved(),
        moved(scale=1),
        moved(**whole),
        moved(**whole),
        moved(scale=2),
        moved(position=xyz(1, 2, 3)),
    ):
        assert "errors" not in peer.ask(message)

    all_received(connect, events)
    (event,) = events.received_events("session-updated", session_id=first["session_id"])
    assert event["data"]["scopes"] == ["config.transform"]


def test_damping_and_gate_are_shown_where_set_and_effective(
    service: InProcessService, connect: Connect, events: EventClient
) -> None:
    peer, first = connect()
    full: dict[str, Any] = {"session": {"force_render_full_state": {}}}

    reply = peer.ask({**arm(configure={"damping": {"scalar": 2, "vector": xyz(0, 1, 0)}, "force_gate": 0.75}), **full})

    config = reply["arm"][0]["config"]
    assert config["damping"] == {"scalar": 2, "vector": xyz(0, 1, 0)}
    assert config["force_gate"] == {"gain": 0.75}
    service.step()
    state = service.state(ARM)
    velocity = state["velocity"].tolist()
    assert any(velocity)
    assert state["force"].tolist() == pytest.approx([-b * v for b, v in zip((2, 3, 2), velocity, strict=True)])
    other = connect()[1]["arm"][0]["config"]
    assert (other["damping"], other["force_gate"]) == ({"scalar": 0}, {"gain": 0.3})
    all_received(connect, events)
    (event,) = events.received_events("session-updated", session_id=first["session_id"])
    assert event["data"]["scopes"] == ["config.damping", "config.force_gate"]


def test_closed_session_s_damping_ends(service: InProcessService, connect: Connect) -> None:
    peer, _ = connect()
    peer.ask(arm(configure={"damping": {"scalar": 5}}))
    service.step()
    assert any(service.state(ARM)["force"].tolist())

    peer.close()
    service.wait_for_sessions()
    service.step(2)

    assert service.state(ARM)["force"].tolist() == [0, 0, 0]


def test_too_old_firmware_is_named_and_raises_an_event(
    connect: Connect, events: EventClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_record: DeviceRecord, feature: str) -> None:
        raise FirmwareTooOld(feature, "7.4", "7.5")

    peer, _ = connect()
    monkeypatch.setattr(DeviceRecord, "require", refuse)

    reply = peer.ask(arm(configure={"damping": {"scalar": 1}, "basis": "XZ-Y"}))

    assert [error["path"] for error in reply["errors"]] == ["arm[0].configure.damping"]
    event = events.wait_for_event("device-protocol-unsupported", device_id=ARM)
    assert (event["data"]["feature"], event["data"]["firmware"], event["data"]["required"]) == ("damping", "7.4", "7.5")


def test_config_sent_back_is_no_fault(client: RawWebSocket) -> None:
    full: dict[str, Any] = {"session": {"force_render_full_state": {}}}
    first = client.ask({**arm(configure={"preset": "arm_front_centered", "basis": "XZ-Y"}), **full})
    shown = first["arm"][0]["config"]

    reply = client.ask({**arm(configure=shown), **full})

    assert "errors" not in reply
    assert reply["arm"][0]["config"] == shown
