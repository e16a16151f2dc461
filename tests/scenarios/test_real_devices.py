"""Real devices on fake ports, over real sockets: they appear, settle, fail, return; detection and its settings."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from websockets.sync.client import connect

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import DeviceSilent
from actors.pairing.messages import Reason
from actors.port.link_interface import DeviceFacts, NoDeviceAnswers, PortUnusable
from actors.port.link_watch import LinkWatch
from actors.port.messages import DETECTION, PORTS, link_name
from actors.values.hardware import PortFault, Transport
from actors.values.identity import Firmware
from tests.support.boards.links import ARM, GRIP, FakeLinks
from tests.support.service.inside import ARM_AND_GRIP
from tests.support.service.living_actors import die, kill, living, tell_to_do
from tests.support.service.plugged import Plugged
from tests.support.service.polling import eventually
from transport.link.hid import HidDevice
from transport.link.protocols.spacemouse.device import found_spacemouse

PORT = "ttyACM0"
OTHER = replace(ARM, device_id="05C0", uuid="5" * 32)
PUSH = {"arm": [{"device_id": ARM.device_id, "commands": {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}}]}


# ---------------------------------------------------------------- coming


@pytest.mark.promise(153, "an arm settles for `devices/settle_time`, 5 s, unless its firmware names another time")
def test_a_device_that_is_plugged_in_is_found_settles_and_takes_commands(tmp_path: Path) -> None:
    with Plugged(tmp_path, settings={"devices/settle_time": 5}) as desk:
        board = desk.machine.plug(replace(ARM, settle_s=None))
        desk.until(lambda: desk.records, "it is found")
        with connect(desk.service.ws, proxy=None) as channel:
            (shown,) = json.loads(channel.recv())["arm"]
            assert (shown["config"]["connection"], shown["config"]["port"]) == ("serial", PORT)
            assert shown["status"]["ready"] is False
            assert shown["status"]["calibrated"] is False
            channel.send(json.dumps(PUSH))
            assert "settling" in json.loads(channel.recv())["errors"][0]["reason"]
            desk.passes(4.5)
            assert str(desk.record(ARM.device_id).phase) == "settling"
            assert board.link.exchanging == {ARM.device_id: desk.record(ARM.device_id).lease}
            desk.ready(ARM)
            channel.send(json.dumps(PUSH))
            assert "errors" not in json.loads(channel.recv())
        connected = desk.events.hears("device-connected")

    assert connected["data"] == {
        "device_id": ARM.device_id,
        "device_family": "arm",
        "type": "arm",
        "connection": "serial",
        "port": PORT,
        "firmware": "7.5",
    }
    assert board.link.closed == 1


def test_its_port_is_shown_with_it_and_counted(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM)
        desk.ready(ARM)
        assert desk.row() == {
            "port": PORT,
            "path": f"/dev/{PORT}",
            "state": "active",
            "device_id": ARM.device_id,
            "loops": 0,
            "blocked_since": None,
            "reason": "",
        }
        page = desk.ask("GET", "/metrics").body.decode()

    assert f'hapticd_port_open{{port="{PORT}"}} 1.0' in page
    assert f'hapticd_port_frames_received_total{{port="{PORT}"}} 7.0' in page
    assert f'hapticd_port_bytes_sent_total{{port="{PORT}"}} 11.0' in page


def test_with_a_real_device_nothing_is_simulated_unless_somebody_wants_it(tmp_path: Path) -> None:
    machine = FakeLinks()
    machine.plug(ARM)
    with Plugged(tmp_path / "one", machine, simulated=None) as desk:
        desk.ready(ARM)
        desk.passes(1.5)
        assert [one.device_id for one in desk.records] == [ARM.device_id]
    with Plugged(tmp_path / "two", simulated=None) as desk:
        assert [str(one.kind) for one in desk.records] == ["arm", "grip"]
        desk.machine.plug(ARM)
        desk.ready(ARM)
        assert [one.identity.simulated for one in desk.records] == [False, True, True]
    with Plugged(tmp_path / "three", machine, simulated=ARM_AND_GRIP) as desk:
        desk.ready(ARM)
        assert len(desk.records) == 3


def test_a_first_round_that_takes_too_long_is_not_waited_for(tmp_path: Path) -> None:
    machine = FakeLinks()
    machine.plug(ARM)
    with machine.slow(), Plugged(tmp_path, machine, simulated=None) as desk:
        desk.passes(1.1)
        assert [str(one.kind) for one in desk.records] == ["arm", "grip"]


def test_two_devices_that_say_the_same_id_get_two(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    twin = replace(ARM, uuid="7" * 32)
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM)
        desk.ready(ARM)
        desk.machine.plug(twin, port="ttyACM1")
        desk.until(lambda: len(desk.records) == 2, "both are here")
        first, second = (one.device_id for one in desk.records)
        desk.passes(0.2)
        desk.settled("ttyACM1")
        assert desk.row("ttyACM1")["device_id"] == second
        desk.machine.unplug("ttyACM1")
        desk.until(lambda: len(desk.records) == 1, "the second one is gone")

    assert first == ARM.device_id
    assert len(second) == 4
    assert f"is called {second} here" in caplog.text


# ---------------------------------------------------------------- going and coming back


def test_a_device_that_comes_back_has_its_id_its_place_its_values_and_its_handle(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM)
        desk.machine.plug(OTHER, port="ttyACM1")
        desk.machine.plug(GRIP, port="ttyACM2", receiver=True)
        desk.ready(ARM, OTHER, GRIP)
        order = [one.device_id for one in desk.records]
        arm = f"/arm/{ARM.device_id}/config"
        assert desk.ask("POST", f"{arm}/handedness", {"handedness": "left"}).status == 200
        assert desk.ask("POST", f"{arm}/paired_with", {"device_id": GRIP.device_id}).status == 200
        lease = desk.record(ARM.device_id).lease

        desk.machine.unplug()
        gone = desk.events.hears("device-disconnected", device_id=ARM.device_id)
        desk.settled()
        assert desk.row()["device_id"] is None
        board = desk.machine.plug(ARM)
        desk.ready(ARM, OTHER, GRIP)

        assert [one.device_id for one in desk.records] == order
        assert desk.record(ARM.device_id).lease.generation > lease.generation
        assert desk.ask("GET", f"{arm}/handedness").json == {"handedness": "left"}
        assert desk.ask("GET", f"{arm}/paired_with").json == {"paired_with": GRIP.device_id, "origin": "manual"}
        assert [(one[1].handedness, one[2]) for one in board.link.configured] == [("left", False)]
        assert desk.row()["loops"] == 1

    assert "the device was unplugged" in gone["message"]


def test_a_device_that_hangs_is_stale_then_gone_and_its_link_is_closed(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        (old,) = board.links
        board.refuses = PortUnusable(PortFault.IN_USE, "another program holds it")
        fall_silent(desk, ARM.device_id)
        desk.gone()
        desk.until(lambda: old.closed, "the link is closed")
        assert desk.open_slots() == 0
        board.refuses = None
        desk.ready(ARM)


def fall_silent(desk: Plugged, device_id: str) -> None:
    """As if its data stood still for so long that it counts as gone."""
    lease = desk.record(device_id).lease
    desk.service.system.context.directory.tell(
        f"device/{device_id}", DeviceSilent(lease.generation, gone=True, silent_ns=500_000_000)
    )


def test_a_device_in_another_socket_is_the_same_device(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM)
        desk.ready(ARM)
        desk.machine.plug(ARM, port="ttyACM1")
        desk.machine.unplug(broken=False)
        desk.until(lambda: desk.records and desk.record(ARM.device_id).identity.port == "ttyACM1", "it has moved")
        desk.ready(ARM)
        assert desk.open_slots() == 1


# ---------------------------------------------------------------- connection loops


def kill_for_good(desk: Plugged, name: str) -> None:
    """Once more than it is started again."""
    directory = desk.service.system.context.directory
    for _ in range(3):
        kill(directory, name)
    tell_to_do(living(directory, name), die)


def flap(desk: Plugged, times: int, pause_s: float = 1.0) -> None:
    """The cable comes off and is put back, so many times."""
    for _ in range(times):
        desk.machine.unplug()
        desk.gone(paced=True)
        desk.machine.plug(ARM)
        desk.until(lambda: desk.records or desk.row()["state"] == "blocked", "it is back or kept out", paced=True)
        desk.passes(pause_s, step_s=0.25)


def test_a_connection_loop_blocks_the_port_until_somebody_resets_it(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM)
        desk.ready(ARM)
        flap(desk, 5, pause_s=0.25)
        blocked = desk.events.hears("port-blocked", port=PORT)
        looping = desk.events.hears("device-connection-loop", port=PORT)
        desk.gone()
        assert desk.row()["state"] == "blocked"
        desk.passes(1.2)
        for name in (link_name(PORT), f"port/{PORT}", DETECTION, PORTS, DEVICES):
            kill(desk.service.system.context.directory, name)
            desk.passes(1.2)
            assert desk.records == ()
            assert desk.row()["state"] == "blocked"
        assert desk.open_slots() == 0

    assert blocked["data"] == {"port": PORT, "state": "blocked", "reason": "connection_loop"}
    assert looping["data"]["loops"] == 5
    assert len(desk.events.heard("device-connected")) == len(desk.events.heard("device-disconnected"))

    with Plugged(tmp_path, desk.machine) as again:
        again.passes(2)
        assert again.records == ()
        assert again.row()["state"] == "blocked"
        tries = again.machine.plug(ARM)
        again.passes(2)
        assert tries.tries == 0
        assert again.ask("POST", f"/ports/{PORT}/reset").json["state"] == "active"
        again.ready(ARM)
        assert again.row()["device_id"] == ARM.device_id


def test_a_link_that_breaks_once_too_often_is_blocked_before_its_device_connects(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        for _ in range(5):
            board.drop()
            desk.gone(paced=True)
            desk.until(lambda: desk.records or desk.row()["state"] == "blocked", "it is back or kept out", paced=True)
        desk.until(lambda: desk.row()["state"] == "blocked", "it is kept out")
        assert desk.records == ()
        assert desk.ask("POST", f"/ports/{PORT}/reset").status == 200
        desk.ready(ARM)
        desk.events.hears("port-state-changed", port=PORT)
        names = [event["name"] for event in desk.events.events]

    assert names.count("device-disconnected") == 5
    assert names[: names.index("port-blocked")].count("device-connected") == 5


def test_a_port_that_flaps_slowly_is_not_blocked(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM)
        desk.ready(ARM)
        flap(desk, 7, pause_s=2.5)
        assert desk.row()["state"] == "active"
        desk.ready(ARM)


def test_a_port_that_a_setting_blocks_is_closed_at_once(tmp_path: Path) -> None:
    route = "/settings/devices/detection/blocked_ports"
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        assert desk.ask("POST", route, [f"/dev/{PORT}"]).status == 200
        desk.gone()
        desk.until(lambda: board.link.closed, "the link is closed")
        desk.passes(3)
        assert len(board.links) == 1
        assert desk.ask("DELETE", route).status == 200
        desk.ready(ARM)


# ---------------------------------------------------------------- what cannot be used


@pytest.mark.parametrize("reason", list(PortFault))
def test_an_unusable_port_is_one_line_one_row_and_one_event(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, reason: PortFault
) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM, refuses=PortUnusable(reason, "do this and that"))
        desk.passes(30, step_s=0.5)
        event = desk.events.hears("port-state-changed", port=PORT)
        assert (desk.row()["state"], desk.row()["reason"]) == ("unusable", reason)
        assert len(desk.events.heard("port-state-changed")) == 1
        assert board.tries <= 4
        assert (board.tries == 1) is (reason is PortFault.NO_DRIVER)
        lines = [one for one in caplog.records if "do this and that" in one.getMessage()]
        assert [one.levelno for one in lines] == [logging.WARNING]
        page = desk.ask("GET", "/metrics").body.decode()
        assert f'hapticd_port_unusable{{port="{PORT}"}} 1.0' in page

        board.refuses = None
        assert desk.ask("POST", f"/ports/{PORT}/reset").json["state"] == "active"
        desk.ready(ARM)

    assert event["data"] == {"port": PORT, "state": "unusable", "reason": str(reason)}
    assert event["level"] == "warning"


def test_what_was_wrong_is_forgotten_with_the_cable_and_said_again_with_the_next(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        wrong = PortUnusable(PortFault.NO_DRIVER, "no open protocol")
        desk.machine.plug(refuses=wrong)
        desk.until(lambda: desk.events.heard("port-state-changed"), "it is said")
        desk.machine.unplug()
        desk.until(lambda: desk.row()["state"] == "active", "it is forgotten")
        desk.machine.plug(refuses=wrong)
        desk.until(lambda: len(desk.events.heard("port-state-changed")) == 2, "it is said again")


def test_who_does_not_answer_is_asked_once_a_period_and_found_within_one_when_it_does(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Plugged(tmp_path) as desk, caplog.at_level(logging.INFO):
        board = desk.machine.plug(ARM, refuses=NoDeviceAnswers("it is mute"))
        desk.passes(20)
        assert 18 <= board.tries <= 21
        assert desk.ask("GET", "/ports").json == {"ports": []}
        assert sum("it is mute" in one.getMessage() for one in caplog.records) == 1
        assert desk.events.heard("port-state-changed") == []

        board.refuses = None
        desk.passes(1.1)
        assert [one.device_id for one in desk.records] == [ARM.device_id]


# ---------------------------------------------------------------- what stands on the desk


def test_a_spacemouse_leaves_the_arm_to_a_grip_until_somebody_pairs_it(tmp_path: Path) -> None:
    mouse = found_spacemouse(HidDevice("hidraw3", "/dev/hidraw3", 0x256F, 0xC635, "", ""))
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM)
        desk.machine.plug(mouse, port="hidraw3", transport=Transport.USB)
        desk.ready(ARM, mouse)
        desk.passes(0.5)
        assert desk.record(ARM.device_id).paired_with is None

        desk.machine.plug(GRIP, port="ttyACM1")
        desk.ready(ARM, mouse, GRIP)
        desk.until(lambda: desk.record(ARM.device_id).paired_with == GRIP.device_id, "the grip has the arm")

        route = f"/pen/{mouse.device_id}/config/paired_with"
        assert desk.ask("POST", route, {"device_id": ARM.device_id}).status == 200
        desk.until(lambda: desk.record(ARM.device_id).paired_with == mouse.device_id, "it is paired by hand")


# ---------------------------------------------------------------- settings act at once


@pytest.mark.parametrize("transport", list(Transport))
def test_a_transport_that_is_switched_off_is_closed_at_once_and_found_again(
    tmp_path: Path, transport: Transport
) -> None:
    route = f"/settings/communication/{transport}/enabled"
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM, transport=transport)
        desk.ready(ARM)
        for _ in range(6):
            assert desk.ask("POST", route, False).status == 200
            desk.gone()
            desk.until(lambda: board.link.closed == 1, "closed")
            assert desk.open_slots() == 0
            assert desk.ask("POST", route, True).status == 200
            desk.ready(ARM)
        assert len(board.links) == 7
        assert desk.row()["state"] == "active", "it was done on purpose"
        assert desk.row()["loops"] == 0


def test_filters_close_what_they_do_not_let_through(tmp_path: Path) -> None:
    advanced = "/settings/devices/detection/advanced"
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM, vendor_id=0x16D0)
        desk.machine.plug(OTHER, port="ttyUSB1", vendor_id=0x0403)
        desk.ready(ARM, OTHER)
        desk.ask("POST", f"{advanced}/allowed_vendor_id_filter", ["16d0"])
        desk.ready(ARM)
        desk.ask("POST", f"{advanced}/port_name_substring_filter", ["USB"])
        desk.gone()
        desk.ask("DELETE", f"{advanced}/allowed_vendor_id_filter")
        desk.ready(OTHER)


def test_a_port_that_is_being_opened_keeps_nobody_waiting(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM)
        desk.ready(ARM)
        with desk.machine.slow():
            desk.machine.plug(OTHER, port="ttyACM1")
            desk.until(lambda: desk.machine.opening, "it is being opened")
            desk.machine.unplug()
            desk.gone()
            assert desk.ask("POST", "/settings/communication/serial/enabled", False).status == 200
            desk.until(lambda: not desk.machine.opening, "the opening was interrupted")
        assert desk.ask("POST", "/settings/communication/serial/enabled", True).status == 200
        desk.ready(OTHER)


# ---------------------------------------------------------------- deaths


@pytest.mark.parametrize(
    "name",
    [link_name(PORT), f"port/{PORT}", f"device/{ARM.device_id}", DETECTION, PORTS, DEVICES, "pairing", "settings"],
)
def test_an_actor_that_dies_leaves_the_link_as_it_is(tmp_path: Path, name: str) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        lease = desk.record(ARM.device_id).lease

        kill(desk.service.system.context.directory, name)
        desk.passes(1.5)

        assert len(board.links) == 1
        assert board.link.exchanging == {ARM.device_id: lease}
        assert desk.record(ARM.device_id).lease == lease
        desk.events.hears("device-connected")
        assert len(desk.events.heard("device-connected")) == 1
        desk.machine.unplug()
        desk.gone()
        assert board.link.closed == 1
        desk.machine.plug(ARM)
        desk.ready(ARM)
        assert desk.open_slots() == 1
    assert desk.machine.boards[0].link.closed == 1


def test_a_link_whose_actor_dies_before_anybody_has_looked_at_it_keeps_its_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(_watch: LinkWatch) -> None:
        """Nobody does."""

    monkeypatch.setattr(LinkWatch, "poll", look)
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        lease = desk.record(ARM.device_id).lease

        kill(desk.service.system.context.directory, link_name(PORT))
        desk.passes(0.5)

        assert board.link.exchanging == {ARM.device_id: lease}
        assert desk.record(ARM.device_id).lease == lease


def test_a_link_that_breaks_while_its_actor_is_dead_is_closed_by_the_next(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        board.drop()
        kill(desk.service.system.context.directory, link_name(PORT))
        desk.gone()
        desk.ready(ARM)
        assert [link.closed for link in board.links] == [1, 0]


def test_an_actor_that_keeps_dying_closes_its_link_and_leaves_the_port_alone(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        kill_for_good(desk, link_name(PORT))
        desk.gone()
        desk.passes(3)
        assert [link.closed for link in board.links] == [1]
        assert desk.open_slots() == 0
        desk.machine.unplug()
        desk.passes(1.2)
        desk.machine.plug(ARM)
        desk.ready(ARM)


def test_a_device_whose_actor_keeps_dying_leaves_its_port_closed(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        kill_for_good(desk, f"device/{ARM.device_id}")
        desk.gone()
        desk.passes(3)
        assert [link.closed for link in board.links] == [1]
        assert desk.open_slots() == 0
        assert len(desk.events.heard("device-disconnected")) == 1


# ---------------------------------------------------------------- receivers


def test_grips_come_and_go_behind_one_receiver(tmp_path: Path) -> None:
    second = replace(GRIP, device_id="1606", uuid="6" * 32)
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(port=PORT, receiver=True)
        desk.until(lambda: board.links, "the receiver is open")
        desk.until(lambda: desk.ask("GET", f"/ports/{PORT}").status == 200, "it is shown")
        assert desk.row()["device_id"] is None

        for _ in range(6):
            board.link.show(devices=(GRIP,))
            desk.ready(GRIP)
            board.link.show(devices=(GRIP, second))
            desk.ready(GRIP, second)
            assert desk.row()["device_id"] == GRIP.device_id
            assert set(board.link.exchanging) == {GRIP.device_id, second.device_id}
            board.link.show(devices=(second,))
            desk.ready(second)
            assert set(board.link.exchanging) == {second.device_id}
            board.link.show(devices=())
            desk.gone()

        assert desk.row()["state"] == "active"
        assert desk.row()["loops"] == 0
        assert (len(board.links), desk.open_slots()) == (1, 0)
        assert len(desk.events.heard("device-connected")) == len(desk.events.heard("device-disconnected")) == 12


def test_a_silent_grip_is_left_out_until_its_receiver_has_lost_it_too(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(GRIP, receiver=True)
        desk.ready(GRIP)

        fall_silent(desk, GRIP.device_id)
        desk.gone()
        desk.passes(2)
        assert desk.records == ()
        assert board.link.closed == 0
        board.link.show(devices=())
        board.link.seen()
        board.link.show(devices=(GRIP,))
        desk.ready(GRIP)


# ---------------------------------------------------------------- what devices say and do


def beats(desk: Plugged, times: int) -> None:
    """So many heartbeats of the grip, 20 ms apart."""
    board, links, runtime = desk.machine.boards[0], desk.service.system.links, desk.service.runtime
    for _ in range(times):
        board.link.show_device(GRIP.device_id, heartbeat_ns=runtime.now_ns())
        eventually(
            lambda: links.heartbeat(PORT, GRIP.device_id) == runtime.now_ns(), "heard", pause_s=0.002, tries=5_000
        )
        desk.service.wait(0.02)
        desk.settled()


def test_a_real_handle_is_attached_by_its_own_heartbeats(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        desk.machine.plug(GRIP, receiver=True)
        desk.ready(GRIP)
        beats(desk, 5)
        assert desk.record(GRIP.device_id).bond.attached is False
        beats(desk, 15)
        desk.events.hears("grip-attachment-changed", attached=True)
        desk.passes(0.3)
        desk.events.hears("grip-attachment-changed", attached=False)


@pytest.mark.parametrize("reason", [None, Reason.OSCILLATING_HALL, Reason.BLOCKED])
def test_a_calibration_runs_over_the_link_and_ends_as_the_device_says(tmp_path: Path, reason: Reason | None) -> None:
    route = f"/arm/{ARM.device_id}/calibration"
    with Plugged(tmp_path) as desk:
        desk.machine.plug(GRIP, receiver=True)
        board = desk.machine.plug(ARM, port="ttyACM1")
        desk.ready(ARM, GRIP)
        desk.until(lambda: desk.record(ARM.device_id).paired_with == GRIP.device_id, "they are paired")
        assert GRIP.calibrates is False
        assert desk.ask("POST", route).status == 409
        beats(desk, 15)
        assert desk.ask("POST", route).json["state"] == "running"
        # Time stands: the grip's heartbeats do too.
        eventually(lambda: board.link.runs, "it has begun", pause_s=0.002)
        board.link.end_calibration(ARM.device_id, reason)
        while desk.ask("GET", route).json["state"] == "running":
            beats(desk, 1)
        answer = desk.ask("GET", route).json
        failed = None if reason is None else desk.events.hears("device-calibration-failed", device_id=ARM.device_id)

    assert answer["state"] == ("calibrated" if reason is None else "failed")
    assert failed is None or failed["data"]["reason"] == str(reason)
    assert board.link.runs == [1]
    assert desk.machine.boards[0].link.runs == []


def test_a_real_device_falls_asleep_and_wakes_up_as_it_says(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(GRIP, receiver=True)
        desk.ready(GRIP)
        board.link.show_device(GRIP.device_id, awake=False)
        desk.until(lambda: desk.events.heard("device-sleep", awake=False), "it sleeps")
        desk.passes(1)
        assert str(desk.record(GRIP.device_id).phase) == "asleep"
        board.link.show_device(GRIP.device_id, awake=True)
        desk.ready(GRIP)
        desk.events.hears("device-sleep", awake=True)


def test_a_device_that_is_found_asleep_is_asleep_when_it_has_settled(tmp_path: Path) -> None:

    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        board.of = {ARM.device_id: DeviceFacts(awake=False)}
        desk.until(lambda: desk.events.heard("device-sleep", device_id=ARM.device_id, awake=False), "it sleeps")


def test_values_for_all_sessions_are_sent_to_the_device_and_saved_in_it(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        arm = f"/arm/{ARM.device_id}/config"
        assert desk.ask("POST", f"{arm}/gravity_compensation", {"enabled": True, "scaling_factor": 0.5}).status == 200
        assert desk.ask("POST", "/save_configuration", {"device_id": ARM.device_id}).status == 200
        desk.settled()

    assert [(name, wide.gravity_scale, save) for name, wide, save in board.link.configured] == [
        (ARM.device_id, 1.0, False),
        (ARM.device_id, 0.5, False),
        (ARM.device_id, 0.5, True),
    ]


def test_an_old_firmware_is_refused_by_its_number(tmp_path: Path) -> None:
    old = replace(ARM, firmware=Firmware(7, 3))
    with Plugged(tmp_path) as desk:
        desk.machine.plug(old)
        desk.ready(old)
        refused = desk.ask("POST", f"/arm/{ARM.device_id}/home_return")
        assert refused.status == 422
        unsupported = desk.events.hears("device-protocol-unsupported")

    assert (unsupported["data"]["firmware"], unsupported["data"]["required"]) == ("7.3", "7.4")
