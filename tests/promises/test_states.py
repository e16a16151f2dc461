"""Promises about states and transitions of presets, calibrations, sessions and devices, tested on a running service."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from tests.emulators.boards import Boards
from tests.promises.conftest import Join
from tests.support.boards.board_links import BoardsAt
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

FULL: Final[dict[str, Any]] = {"session": {"force_render_full_state": {}}}
# Phase of a board in its SETTLE messages.
SETTLING: Final = 2
SETTLE_S: Final = 5.0
WATCHDOG_NS: Final = 50_000_000
# Breathing, red, green, blue.
AMBER: Final = [3, 255, 128, 0]
MOUNT: Final = {"position": {"x": 0.25, "y": 0, "z": 0}}
MISSPELT: Final = {"positon": {"x": 0.25, "y": 0, "z": 0}}


def configure(client: RawWebSocket, device_id: str, **parts: object) -> Any:
    """The frame that answers a `configure` of the arm."""
    return client.ask({"arm": [{"device_id": device_id, "configure": parts}], **FULL})


def preset_of(frame: Any) -> str:
    """The arm's preset in a full frame."""
    return str(frame["arm"][0]["config"]["preset"])


# ---------------------------------------------------------------- presets


@pytest.mark.promise(145)
@pytest.mark.parametrize("channel", ["session", "http"])
def test_mount_makes_the_preset_custom(http: HttpClient, join: Join, channel: str) -> None:
    """A mount that is sent explicitly makes the preset `custom`, over the session channel and over HTTP."""
    client, first = join()
    device_id = first["arm"][0]["device_id"]
    assert preset_of(configure(client, device_id, preset="arm_front")) == "arm_front"

    if channel == "session":
        configure(client, device_id, mount=MOUNT)
    else:
        assert http.post(f"/arm/0/config/mount?session={first['session_id']}", MOUNT).status == 200

    assert preset_of(client.ask(FULL)) == "custom"


@pytest.mark.promise(146)
@pytest.mark.parametrize("mount", [MISSPELT, {"transform": MISSPELT}], ids=["flat", "wrapped"])
@pytest.mark.parametrize("channel", ["session", "http"])
def test_mount_without_a_valid_member_keeps_the_preset(
    http: HttpClient, join: Join, channel: str, mount: object
) -> None:
    """A mount in which nothing is valid is refused and leaves preset and mount as they are."""
    client, first = join()
    device_id = first["arm"][0]["device_id"]
    before = configure(client, device_id, preset="arm_front_centered")["arm"][0]["config"]

    if channel == "session":
        assert configure(client, device_id, mount=mount)["errors"]
    else:
        reply = http.post(f"/arm/0/config/mount?session={first['session_id']}", mount)
        assert reply.status == 400, reply.json
        assert "positon" in reply.json["error"]

    assert client.ask(FULL)["arm"][0]["config"] == before


@pytest.mark.promise(147)
def test_built_in_preset_replaces_custom(join: Join) -> None:
    """`configure.preset` with a built-in value leaves `custom`."""
    client, first = join()
    device_id = first["arm"][0]["device_id"]
    assert preset_of(configure(client, device_id, mount=MOUNT)) == "custom"

    shown = configure(client, device_id, preset="arm_front")

    assert (preset_of(shown), shown["arm"][0]["config"]["mount"]) == ("arm_front", {})


# ---------------------------------------------------------------- calibration


@pytest.mark.promise(150)
def test_calibration_is_locked_until_a_grip_is_attached(http: HttpClient) -> None:
    """Calibration stays locked until a grip is attached; then device and grip calibrate together."""
    grip = http.get("/compact/0/config/paired_with").data["paired_with"]
    path = "/compact/0/calibration"

    def attach(attached: bool) -> None:
        assert http.post(f"/simulation/grip/{grip}", {"attached": attached}).status == 200
        shown = f"/grip/{grip}"
        eventually(
            lambda: http.get(shown).data["status"]["attached"] is attached, f"attached: {attached}", pause_s=0.01
        )

    attach(False)
    try:
        eventually(lambda: http.post(path).status == 409, "calibration is locked", pause_s=0.01)
        assert http.get(path).data == {"state": "locked"}
    finally:
        attach(True)
    eventually(lambda: http.post(path).status == 200, "calibration proceeds", pause_s=0.01)
    assert http.get(f"/grip/{grip}/calibration").data == {"state": "running"}
    eventually(lambda: http.get(path).data == {"state": "calibrated"}, "it is calibrated", pause_s=0.01)


# ---------------------------------------------------------------- sessions


@pytest.mark.promise(151)
def test_session_keeps_its_values_over_a_reconnect(http: HttpClient, join: Join) -> None:
    """A session that reconnects under its id has the same profile and required SDK version."""
    client, first = join()
    session_id = first["session_id"]
    client.ask({"session": {"configure": {"profile": {"name": "bittern"}, "required_sdk_version": "3.4.19"}}})
    client.close()
    eventually(lambda: http.get(f"/sessions/{session_id}").status == 404, "the session has ended", pause_s=0.005)

    _, again = join(session_id=session_id)

    record = http.get(f"/sessions/{session_id}").data
    assert again["session_id"] == session_id
    assert (record["profile"], record["required_sdk_version"]) == ({"name": "bittern"}, "3.4.19")


# ---------------------------------------------------------------- settling


@pytest.mark.promise(152)
def test_settling_arm_is_kept_connected(tmp_path: Path) -> None:
    """A settling arm gets commands all the time: its watchdog does not trip and its LED is amber."""
    settings = {"control/frequency": 1000, "devices/detection/period": 100}
    with Boards("arm:A1") as boards:
        boards.set("settle_ms", 1000)
        links = BoardsAt(boards.path())
        with InProcessService(tmp_path, simulated=(), settings=settings, links=links, settled=False) as service:
            http = HttpClient(service.http)

            def settling() -> bool:
                return http.get("/arm/A1").status == 200 and boards.see().phase == SETTLING

            eventually(settling, "the arm settles", pause_s=0.005)
            eventually(lambda: boards.see().led == AMBER, "its LED is amber", pause_s=0.005)
            commands = boards.see().commands
            kept = eventually(
                lambda: seen if (seen := boards.see()).commands > commands + 50 else None, "commands come", pause_s=0.01
            )
            assert kept.phase == SETTLING
            assert http.get("/arm/A1").data["status"]["ready"] is False
            eventually(lambda: http.get("/arm/A1").data["status"]["ready"], "it is ready", pause_s=0.01)
            seen = boards.see()

    # A machine that gives nobody a turn for longer than the watchdog is not the service's.
    assert seen.trips == 0 or seen.gap_ns > WATCHDOG_NS


@pytest.mark.promise(154)
def test_simulated_arm_settles_as_long_as_the_setting_says(tmp_path: Path) -> None:
    """A simulated arm settles for `simulation/settle_time`: with 5 s as long as a real one, and its commands are refused meanwhile."""
    push = {"arm": [{"device_id": "5EC5", "commands": {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}}]}
    with InProcessService(tmp_path, stepping=True, settings={"control/frequency": 100}) as service:
        http = HttpClient(service.http)
        assert http.post("/settings/simulation/settle_time", SETTLE_S).status == 200
        assert http.post("/simulation/devices", {"type": "arm", "device_id": "5EC5"}).status == 200
        begun_ns = int(service.state("A001")["time_ns"])

        def settled_s() -> float | None:
            """Virtual time since the arm came, None while it settles."""
            service.wait(0.05)
            elapsed = (int(service.state("A001")["time_ns"]) - begun_ns) * 1e-9
            return elapsed if http.get("/arm/5EC5").data["status"]["ready"] else None

        with RawWebSocket(service.ws) as client:
            client.frame()
            assert "settling" in client.ask(push)["errors"][0]["reason"]
            # Time passes in steps, each of which everybody hears of before the next.
            elapsed = eventually(settled_s, "the arm is ready", tries=1_000, pause_s=0.01)
            assert SETTLE_S - 0.1 <= elapsed < 2 * SETTLE_S
            assert "errors" not in client.ask(push)
