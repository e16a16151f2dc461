"""Promises about frame sizes, network binding, versions and number texts, tested on a running service."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import psutil
import pytest

from tests.promises.conftest import Join, StartService
from tests.support.clients.event_client import EventClient
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.wire.doc_page import DOCS, sections

FULL: Final[dict[str, Any]] = {"session": {"force_render_full_state": {}}}
LIMIT_BYTES: Final = 4096
ANYWHERE: Final = {"0.0.0.0", "::"}
LOOPBACK: Final = {"127.0.0.1", "::1"}
OLD_MESSAGES: Final = [
    block.text for section in sections("migration.md") for block in section.blocks if block.kind == "json old"
]
NUMBER: Final = re.compile(r"(?<=[:\[,])-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
SHORT_EXPONENT: Final = re.compile(r"-?[0-9](?:\.[0-9]*[1-9])?E-?[1-9][0-9]*")


def configure(client: RawWebSocket, device_id: str, **parts: object) -> Any:
    """The full frame that answers a `configure` of the arm."""
    frame = client.ask({"arm": [{"device_id": device_id, "configure": parts}], **FULL})
    assert "errors" not in frame
    return frame


# ---------------------------------------------------------------- sizes


@pytest.mark.promise(223)
@pytest.mark.parametrize("url", ["ws", "ws_v30"])
def test_default_frames_stay_within_4_kilobytes(start_service: StartService, url: str) -> None:
    """With an arm, a compact and two grips a frame, full or not, is at most 4,096 bytes: from the first word on, or with fixed words."""
    service = start_service("arm,compact,grip,grip:wired")
    for group, query in (("arm", {}), ("inverse3", {}), ("arm", {"vocabulary": "neutral"})):
        with RawWebSocket(getattr(service, url), query) as client:
            client.frame()
            client.send({group: [], "session": {"force_render_full_state": {}}})
            full = client.text()
            client.send({})
            plain = client.text()

        assert json.loads(full)[group]
        assert len(plain) < len(full) <= LIMIT_BYTES


# ---------------------------------------------------------------- network


def listening(service: RunningService) -> set[str]:
    """Addresses that the process of the service listens on."""
    connections = psutil.Process(service.process.pid).net_connections("tcp")
    return {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}


@pytest.mark.promise(225)
def test_service_listens_on_localhost_by_default(service: RunningService) -> None:
    """Without a setting the service listens on loopback addresses only."""
    assert listening(service)
    assert listening(service) <= LOOPBACK


@pytest.mark.promise(226)
def test_service_listens_on_all_interfaces_on_request(start_service: StartService) -> None:
    """`communication/bind_all_interfaces` makes every listener one for all interfaces."""
    service = start_service("arm", settings={"communication/bind_all_interfaces": True})

    assert listening(service)
    assert listening(service) <= ANYWHERE


# ---------------------------------------------------------------- versions


@pytest.mark.promise(227)
@pytest.mark.parametrize("url", ["ws", "ws_v30"])
@pytest.mark.parametrize("text", OLD_MESSAGES)
def test_old_message_is_accepted(service: RunningService, join: Join, text: str, url: str) -> None:
    """What clients of 3.4 sent is still taken: each old form of docs/migration.md, on both ports, without an entry in `errors`."""
    client, first = join(getattr(service, url))
    arms = first["arm"]
    device_id = next(iter(arms)) if isinstance(arms, dict) else arms[0]["device_id"]
    client.send_text(text.replace("049D", device_id))

    assert "errors" not in client.frame()


@pytest.mark.promise(228)
def test_version_is_of_the_line_3_5(http: HttpClient) -> None:
    """`GET /` answers a version of the line 3.5."""
    assert re.fullmatch(r"3\.5\.\d+", http.get("/").data["interface"])


@pytest.mark.promise(235)
def test_forms_to_be_removed_in_4_0_still_work(service: RunningService, join: Join) -> None:
    """`values`, scheduled for removal in 4.0, still acts, raises `command-deprecated`, and docs/migration.md says when it goes."""
    client, first = join()
    device_id = first["arm"][0]["device_id"]
    push = {"arm": [{"device_id": device_id, "commands": {"set_cursor_force": {"values": [0, 0, 0.5]}}}]}

    def pushed() -> bool:
        state = client.ask(push)["arm"][0]["state"]
        return bool(state["control_mode"] == "force" and state["current_cursor_force"]["z"] > 0.1)

    eventually(pushed, "the force acts", pause_s=0.005)
    with EventClient(service.events, since="1970-01-01T00:00:00Z") as events:
        assert events.wait_for_event("command-deprecated", command="set_cursor_force")
    assert "old forms are removed in 4.0 at the earliest" in (DOCS / "migration.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------- texts


@pytest.mark.promise(229)
@pytest.mark.parametrize(
    ("method", "area"),
    [(method, area) for area in ("config/mount", "state/transform") for method in ("GET", "POST", "DELETE")]
    + [("PATCH", "state/transform")],
)
def test_rotation_is_ordered_in_every_echo(service: RunningService, join: Join, method: str, area: str) -> None:
    """Echoes of `config/mount` and `state/transform` have `rotation` as w, x, y, z and all three components."""
    path = f"/arm/0/{area}?session={join()[1]['session_id']}"
    body = {"position": {"x": 0.5, "y": 0, "z": 0}} if method in {"POST", "PATCH"} else None

    status, text = service.request_raw(method, path, body)

    assert status == 200
    assert list(json.loads(text)["transform"]) == ["position", "rotation", "scale"]
    assert list(json.loads(text)["transform"]["rotation"]) == ["w", "x", "y", "z"]


def text_of(client: RawWebSocket, device_id: str, transform: object, mount: object) -> str:
    """Text of a frame under this workspace transform and mount of the arm."""
    entry = {
        "device_id": device_id,
        "configure": {"mount": mount},
        "commands": {"set_transform": {"transform": transform}},
    }
    client.send({"arm": [entry], **FULL})
    text = client.text().decode()
    assert "errors" not in json.loads(text)
    return text


@pytest.mark.promise(230)
@pytest.mark.parametrize("url", ["ws", "ws_v30"])
def test_exponents_are_short(service: RunningService, join: Join, url: str) -> None:
    """Numbers with an exponent have the short form, `1E-7`, in v3.0 and v3.1."""
    client, first = join(getattr(service, url))
    device_id = next(iter(first["arm"])) if isinstance(first["arm"], dict) else first["arm"][0]["device_id"]
    text = text_of(
        client,
        device_id,
        {"position": {"x": 1e-7, "y": 1e-10, "z": -1.5e-8}},
        {"position": {"x": 2.5e-9, "y": 1, "z": 1}},
    )

    shown = {number for number in NUMBER.findall(text) if "e" in number.lower()}
    assert {"1E-7", "1E-10", "-1.5E-8", "2.5E-9"} <= shown
    assert all(SHORT_EXPONENT.fullmatch(number) for number in shown)


@pytest.mark.promise(231)
@pytest.mark.parametrize("url", ["ws", "ws_v30"])
def test_sixteen_million_has_its_short_text(service: RunningService, join: Join, url: str) -> None:
    """16777216 is written `1.6777216E7`: a cursor that mount and workspace put there."""
    client, first = join(getattr(service, url))
    device_id = next(iter(first["arm"])) if isinstance(first["arm"], dict) else first["arm"][0]["device_id"]
    # The mount puts the arm at x = 1e6 m whatever the hand does, the workspace scales that.
    far = {"position": {"x": 1e6, "y": 0, "z": 0}, "scale": {"x": 1e-6, "y": 1, "z": 1}}
    text = text_of(client, device_id, {"scale": {"x": 16.777216, "y": 1, "z": 1}}, far)

    assert '"cursor_position":{"x":1.6777216E7,' in text
    assert "16777216" not in text


# ---------------------------------------------------------------- mounts


@pytest.mark.promise(232)
@pytest.mark.parametrize("shift", [{"x": 0, "y": 0.025, "z": 0}])
def test_custom_mount_restores_an_offset(join: Join, shift: dict[str, float]) -> None:
    """The offset of a former centred preset is restored with an explicit mount."""
    client, first = join()
    device_id = first["arm"][0]["device_id"]
    centred = configure(client, device_id, preset="arm_front_centered")["arm"][0]
    mount = centred["config"]["mount"]["position"]
    former = {axis: mount[axis] + shift[axis] for axis in "xyz"}

    moved = configure(client, device_id, mount={"position": former})["arm"][0]

    assert moved["config"]["preset"] == "custom"
    assert moved["config"]["mount"]["position"] == pytest.approx(former, abs=1e-6)


@pytest.mark.promise(233)
def test_mounts_are_changed_and_reset_without_a_crash(http: HttpClient, join: Join) -> None:
    """A mount that is changed and reset again and again, over both channels at once, leaves the service as it was."""
    client, first = join()
    device_id = first["arm"][0]["device_id"]
    path = f"/arm/0/config/mount?session={first['session_id']}"
    for number in range(50):
        configure(client, device_id, mount={"position": {"x": number / 100, "y": 0, "z": 0}})
        assert http.post(path, {"scale": 2}).status == 200
        assert http.delete(path).status == 200

    assert client.ask(FULL)["arm"][0]["config"]["mount"] == {}
    assert http.get("/readyz").status == 200
