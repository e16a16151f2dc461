"""Events that a session's messages cause: deprecated forms, too old firmware, changed workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from actors.device.messages import DeviceRecord
from actors.kit.errors import FirmwareTooOld
from tests.service.ws.conftest import Connect
from tests.support.clients.listener import Listener
from tests.support.clients.peer import Peer
from tests.support.service.inside import ServiceInside

ARM = "A001"
LAST = "resume_refused"


def arm(**parts: Any) -> dict[str, Any]:
    return {"arm": [{"device_id": ARM, **parts}]}


def xyz(x: float, y: float, z: float) -> dict[str, float]:
    return {"x": x, "y": y, "z": z}


def moved(**transform: Any) -> dict[str, Any]:
    return arm(commands={"set_transform": {"transform": transform}})


@pytest.fixture
def heard(service: ServiceInside) -> Iterator[Listener]:
    with Listener(service.events) as listener:
        yield listener


def all_heard(connect: Connect, heard: Listener) -> None:
    """Wait for an event that comes after all that were caused before."""
    _, first = connect({"session_id": "999999"})
    heard.hears("session-warning", reason=LAST, session_id=first["session_id"])


def test_an_old_form_is_told_of_once_over_all_sessions(connect: Connect, heard: Listener) -> None:
    (one, first), (two, _) = connect(), connect()
    old = arm(commands={"set_angular_torque": {"torques": {"a0": 0, "a1": 0, "a2": 0}}})
    for peer in (one, two, one, two):
        assert "errors" not in peer.ask(old)

    all_heard(connect, heard)
    (event,) = heard.heard("command-deprecated", command="set_angular_torque")
    assert event["data"]["session_id"] == first["session_id"]
    assert event["data"]["replacement"] == "set_angular_torques"
    assert event["data"]["suppressed"] == 0
    assert (event["category"], event["level"]) == ("input", "notice")


def test_an_old_basis_and_an_old_origin_do_what_they_did(connect: Connect, heard: Listener) -> None:
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
    all_heard(connect, heard)
    assert len(heard.heard("command-deprecated", command="set_basis", replacement="configure.basis")) == 1
    assert len(heard.heard("command-deprecated", command="set_coordinate_origin", replacement="configure.preset")) == 1


def test_a_workspace_is_told_of_when_it_changed(connect: Connect, heard: Listener) -> None:
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

    all_heard(connect, heard)
    (event,) = heard.heard("session-updated", session_id=first["session_id"])
    assert event["data"]["scopes"] == ["config.transform"]


def test_damping_and_gate_are_shown_where_they_were_set_and_in_force(
    service: ServiceInside, connect: Connect, heard: Listener
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
    all_heard(connect, heard)
    (event,) = heard.heard("session-updated", session_id=first["session_id"])
    assert event["data"]["scopes"] == ["config.damping", "config.force_gate"]


def test_damping_of_a_session_that_closes_is_gone(service: ServiceInside, connect: Connect) -> None:
    peer, _ = connect()
    peer.ask(arm(configure={"damping": {"scalar": 5}}))
    service.step()
    assert any(service.state(ARM)["force"].tolist())

    peer.close()
    service.sessions_gone()
    service.step(2)

    assert service.state(ARM)["force"].tolist() == [0, 0, 0]


def test_a_firmware_that_is_too_old_is_named_and_told(
    connect: Connect, heard: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_record: DeviceRecord, feature: str) -> None:
        raise FirmwareTooOld(feature, "7.4", "7.5")

    peer, _ = connect()
    monkeypatch.setattr(DeviceRecord, "require", refuse)

    reply = peer.ask(arm(configure={"damping": {"scalar": 1}, "basis": "XZ-Y"}))

    assert [error["path"] for error in reply["errors"]] == ["arm[0].configure.damping"]
    event = heard.hears("device-protocol-unsupported", device_id=ARM)
    assert (event["data"]["feature"], event["data"]["firmware"], event["data"]["required"]) == ("damping", "7.4", "7.5")


def test_a_whole_config_sent_back_is_no_fault(client: Peer) -> None:
    full: dict[str, Any] = {"session": {"force_render_full_state": {}}}
    first = client.ask({**arm(configure={"preset": "arm_front_centered", "basis": "XZ-Y"}), **full})
    shown = first["arm"][0]["config"]

    reply = client.ask({**arm(configure=shown), **full})

    assert "errors" not in reply
    assert reply["arm"][0]["config"] == shown
