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
from tests.support.boards.fake_links import ARM, GRIP, FakeLinks
from tests.support.service.actor_faults import crash_and_restart, raise_planned_crash, run_in_actor, running_actor
from tests.support.service.fake_port_service import FakePortService
from tests.support.service.in_process_service import ARM_AND_GRIP
from tests.support.service.polling import eventually
from transport.link.hid import HidDevice
from transport.link.protocols.spacemouse.device import found_spacemouse

PORT = "ttyACM0"
OTHER = replace(ARM, device_id="05C0", uuid="5" * 32)
PUSH = {"arm": [{"device_id": ARM.device_id, "commands": {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}}]}


# ---------------------------------------------------------------- coming


@pytest.mark.promise(153, "an arm settles for `devices/settle_time`, 5 s, unless its firmware names another time")
def test_plugged_in_device_is_found_settles_and_takes_commands(tmp_path: Path) -> None:
    with FakePortService(tmp_path, settings={"devices/settle_time": 5}) as setup:
        board = setup.machine.plug(replace(ARM, settle_s=None))
        setup.advance_until(lambda: setup.records, "it is found")
        with connect(setup.service.ws, proxy=None) as channel:
            (shown,) = json.loads(channel.recv())["arm"]
            assert (shown["config"]["connection"], shown["config"]["port"]) == ("serial", PORT)
            assert shown["status"]["ready"] is False
            assert shown["status"]["calibrated"] is False
            channel.send(json.dumps(PUSH))
            assert "settling" in json.loads(channel.recv())["errors"][0]["reason"]
            setup.advance(4.5)
            assert str(setup.record(ARM.device_id).phase) == "settling"
            assert board.link.exchanging == {ARM.device_id: setup.record(ARM.device_id).lease}
            setup.wait_ready(ARM)
            channel.send(json.dumps(PUSH))
            assert "errors" not in json.loads(channel.recv())
        connected = setup.events.wait_for_event("device-connected")

    assert connected["data"] == {
        "device_id": ARM.device_id,
        "device_family": "arm",
        "type": "arm",
        "connection": "serial",
        "port": PORT,
        "firmware": "7.5",
    }
    assert board.link.closed == 1


def test_port_row_and_metrics_show_the_device(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        assert setup.row() == {
            "port": PORT,
            "path": f"/dev/{PORT}",
            "state": "active",
            "device_id": ARM.device_id,
            "loops": 0,
            "blocked_since": None,
            "reason": "",
        }
        page = setup.ask("GET", "/metrics").body.decode()

    assert f'hapticd_port_open{{port="{PORT}"}} 1.0' in page
    assert f'hapticd_port_frames_received_total{{port="{PORT}"}} 7.0' in page
    assert f'hapticd_port_bytes_sent_total{{port="{PORT}"}} 11.0' in page


def test_no_device_is_simulated_by_default_beside_a_real_one(tmp_path: Path) -> None:
    machine = FakeLinks()
    machine.plug(ARM)
    with FakePortService(tmp_path / "one", machine, simulated=None) as setup:
        setup.wait_ready(ARM)
        setup.advance(1.5)
        assert [one.device_id for one in setup.records] == [ARM.device_id]
    with FakePortService(tmp_path / "two", simulated=None) as setup:
        assert [str(one.kind) for one in setup.records] == ["arm", "grip"]
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        assert [one.identity.simulated for one in setup.records] == [False, True, True]
    with FakePortService(tmp_path / "three", machine, simulated=ARM_AND_GRIP) as setup:
        setup.wait_ready(ARM)
        assert len(setup.records) == 3


def test_slow_first_scan_does_not_delay_the_start(tmp_path: Path) -> None:
    machine = FakeLinks()
    machine.plug(ARM)
    with machine.slow(), FakePortService(tmp_path, machine, simulated=None) as setup:
        setup.advance(1.1)
        assert [str(one.kind) for one in setup.records] == ["arm", "grip"]


def test_duplicate_id_is_made_unique(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    twin = replace(ARM, uuid="7" * 32)
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        setup.machine.plug(twin, port="ttyACM1")
        setup.advance_until(lambda: len(setup.records) == 2, "both are here")
        first, second = (one.device_id for one in setup.records)
        setup.advance(0.2)
        setup.drain("ttyACM1")
        assert setup.row("ttyACM1")["device_id"] == second
        setup.machine.unplug("ttyACM1")
        setup.advance_until(lambda: len(setup.records) == 1, "the second one is gone")

    assert first == ARM.device_id
    assert len(second) == 4
    assert f"is called {second} here" in caplog.text


# ---------------------------------------------------------------- going and coming back


def test_reconnected_device_keeps_id_index_configuration_and_pair(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM)
        setup.machine.plug(OTHER, port="ttyACM1")
        setup.machine.plug(GRIP, port="ttyACM2", receiver=True)
        setup.wait_ready(ARM, OTHER, GRIP)
        order = [one.device_id for one in setup.records]
        arm = f"/arm/{ARM.device_id}/config"
        assert setup.ask("POST", f"{arm}/handedness", {"handedness": "left"}).status == 200
        assert setup.ask("POST", f"{arm}/paired_with", {"device_id": GRIP.device_id}).status == 200
        lease = setup.record(ARM.device_id).lease

        setup.machine.unplug()
        gone = setup.events.wait_for_event("device-disconnected", device_id=ARM.device_id)
        setup.drain()
        assert setup.row()["device_id"] is None
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM, OTHER, GRIP)

        assert [one.device_id for one in setup.records] == order
        assert setup.record(ARM.device_id).lease.generation > lease.generation
        assert setup.ask("GET", f"{arm}/handedness").json == {"handedness": "left"}
        assert setup.ask("GET", f"{arm}/paired_with").json == {"paired_with": GRIP.device_id, "origin": "manual"}
        assert [(one[1].handedness, one[2]) for one in board.link.configured] == [("left", False)]
        assert setup.row()["loops"] == 1

    assert "the device was unplugged" in gone["message"]


def test_hanging_device_becomes_stale_then_disconnected_and_its_link_closed(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        (old,) = board.links
        board.refuses = PortUnusable(PortFault.IN_USE, "another program holds it")
        fall_silent(setup, ARM.device_id)
        setup.wait_gone()
        setup.advance_until(lambda: old.closed, "the link is closed")
        assert setup.open_slots() == 0
        board.refuses = None
        setup.wait_ready(ARM)


def fall_silent(setup: FakePortService, device_id: str) -> None:
    """As if its data stood still for so long that it counts as gone."""
    lease = setup.record(device_id).lease
    setup.service.system.context.directory.tell(
        f"device/{device_id}", DeviceSilent(lease.generation, gone=True, silent_ns=500_000_000)
    )


def test_device_moved_to_another_port_is_the_same_device(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        setup.machine.plug(ARM, port="ttyACM1")
        setup.machine.unplug(broken=False)
        setup.advance_until(
            lambda: setup.records and setup.record(ARM.device_id).identity.port == "ttyACM1", "it has moved"
        )
        setup.wait_ready(ARM)
        assert setup.open_slots() == 1


# ---------------------------------------------------------------- connection loops


def kill_for_good(setup: FakePortService, name: str) -> None:
    """Once more than it is started again."""
    directory = setup.service.system.context.directory
    for _ in range(3):
        crash_and_restart(directory, name)
    run_in_actor(running_actor(directory, name), raise_planned_crash)


def flap(setup: FakePortService, times: int, pause_s: float = 1.0) -> None:
    """The cable comes off and is put back, so many times."""
    for _ in range(times):
        setup.machine.unplug()
        setup.wait_gone(paced=True)
        setup.machine.plug(ARM)
        setup.advance_until(
            lambda: setup.records or setup.row()["state"] == "blocked", "it is back or kept out", paced=True
        )
        setup.advance(pause_s, step_s=0.25)


def test_connection_loop_blocks_the_port_until_reset(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        flap(setup, 5, pause_s=0.25)
        blocked = setup.events.wait_for_event("port-blocked", port=PORT)
        looping = setup.events.wait_for_event("device-connection-loop", port=PORT)
        setup.wait_gone()
        assert setup.row()["state"] == "blocked"
        setup.advance(1.2)
        for name in (link_name(PORT), f"port/{PORT}", DETECTION, PORTS, DEVICES):
            crash_and_restart(setup.service.system.context.directory, name)
            setup.advance(1.2)
            assert setup.records == ()
            assert setup.row()["state"] == "blocked"
        assert setup.open_slots() == 0

    assert blocked["data"] == {"port": PORT, "state": "blocked", "reason": "connection_loop"}
    assert looping["data"]["loops"] == 5
    assert len(setup.events.received_events("device-connected")) == len(
        setup.events.received_events("device-disconnected")
    )

    with FakePortService(tmp_path, setup.machine) as again:
        again.advance(2)
        assert again.records == ()
        assert again.row()["state"] == "blocked"
        tries = again.machine.plug(ARM)
        again.advance(2)
        assert tries.tries == 0
        assert again.ask("POST", f"/ports/{PORT}/reset").json["state"] == "active"
        again.wait_ready(ARM)
        assert again.row()["device_id"] == ARM.device_id


def test_broken_link_over_the_limit_is_blocked_before_its_device_connects(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        for _ in range(5):
            board.drop()
            setup.wait_gone(paced=True)
            setup.advance_until(
                lambda: setup.records or setup.row()["state"] == "blocked", "it is back or kept out", paced=True
            )
        setup.advance_until(lambda: setup.row()["state"] == "blocked", "it is kept out")
        assert setup.records == ()
        assert setup.ask("POST", f"/ports/{PORT}/reset").status == 200
        setup.wait_ready(ARM)
        setup.events.wait_for_event("port-state-changed", port=PORT)
        names = [event["name"] for event in setup.events.events]

    assert names.count("device-disconnected") == 5
    assert names[: names.index("port-blocked")].count("device-connected") == 5


def test_slowly_reconnecting_port_is_not_blocked(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        flap(setup, 7, pause_s=2.5)
        assert setup.row()["state"] == "active"
        setup.wait_ready(ARM)


def test_blocking_setting_closes_the_port_at_once(tmp_path: Path) -> None:
    route = "/settings/devices/detection/blocked_ports"
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        assert setup.ask("POST", route, [f"/dev/{PORT}"]).status == 200
        setup.wait_gone()
        setup.advance_until(lambda: board.link.closed, "the link is closed")
        setup.advance(3)
        assert len(board.links) == 1
        assert setup.ask("DELETE", route).status == 200
        setup.wait_ready(ARM)


# ---------------------------------------------------------------- what cannot be used


@pytest.mark.parametrize("reason", list(PortFault))
def test_unusable_port_makes_one_log_line_one_row_and_one_event(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, reason: PortFault
) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM, refuses=PortUnusable(reason, "do this and that"))
        setup.advance(30, step_s=0.5)
        event = setup.events.wait_for_event("port-state-changed", port=PORT)
        assert (setup.row()["state"], setup.row()["reason"]) == ("unusable", reason)
        assert len(setup.events.received_events("port-state-changed")) == 1
        assert board.tries <= 4
        assert (board.tries == 1) is (reason is PortFault.NO_DRIVER)
        lines = [one for one in caplog.records if "do this and that" in one.getMessage()]
        assert [one.levelno for one in lines] == [logging.WARNING]
        page = setup.ask("GET", "/metrics").body.decode()
        assert f'hapticd_port_unusable{{port="{PORT}"}} 1.0' in page

        board.refuses = None
        assert setup.ask("POST", f"/ports/{PORT}/reset").json["state"] == "active"
        setup.wait_ready(ARM)

    assert event["data"] == {"port": PORT, "state": "unusable", "reason": str(reason)}
    assert event["level"] == "warning"


def test_port_error_is_cleared_by_unplugging_and_reported_again(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        wrong = PortUnusable(PortFault.NO_DRIVER, "no open protocol")
        setup.machine.plug(refuses=wrong)
        setup.advance_until(lambda: setup.events.received_events("port-state-changed"), "it is said")
        setup.machine.unplug()
        setup.advance_until(lambda: setup.row()["state"] == "active", "it is forgotten")
        setup.machine.plug(refuses=wrong)
        setup.advance_until(lambda: len(setup.events.received_events("port-state-changed")) == 2, "it is said again")


def test_silent_port_is_retried_each_period_and_found_when_it_answers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with FakePortService(tmp_path) as setup, caplog.at_level(logging.INFO):
        board = setup.machine.plug(ARM, refuses=NoDeviceAnswers("it is mute"))
        setup.advance(20)
        assert 18 <= board.tries <= 21
        assert setup.ask("GET", "/ports").json == {"ports": []}
        assert sum("it is mute" in one.getMessage() for one in caplog.records) == 1
        assert setup.events.received_events("port-state-changed") == []

        board.refuses = None
        setup.advance(1.1)
        assert [one.device_id for one in setup.records] == [ARM.device_id]


# ---------------------------------------------------------------- what stands on the desk


def test_spacemouse_is_not_paired_automatically(tmp_path: Path) -> None:
    mouse = found_spacemouse(HidDevice("hidraw3", "/dev/hidraw3", 0x256F, 0xC635, "", ""))
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM)
        setup.machine.plug(mouse, port="hidraw3", transport=Transport.USB)
        setup.wait_ready(ARM, mouse)
        setup.advance(0.5)
        assert setup.record(ARM.device_id).paired_with is None

        setup.machine.plug(GRIP, port="ttyACM1")
        setup.wait_ready(ARM, mouse, GRIP)
        setup.advance_until(lambda: setup.record(ARM.device_id).paired_with == GRIP.device_id, "the grip has the arm")

        route = f"/pen/{mouse.device_id}/config/paired_with"
        assert setup.ask("POST", route, {"device_id": ARM.device_id}).status == 200
        setup.advance_until(lambda: setup.record(ARM.device_id).paired_with == mouse.device_id, "it is paired by hand")


# ---------------------------------------------------------------- settings act at once


@pytest.mark.parametrize("transport", list(Transport))
def test_disabled_transport_is_closed_at_once_and_reopened(tmp_path: Path, transport: Transport) -> None:
    route = f"/settings/communication/{transport}/enabled"
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM, transport=transport)
        setup.wait_ready(ARM)
        for _ in range(6):
            assert setup.ask("POST", route, False).status == 200
            setup.wait_gone()
            setup.advance_until(lambda: board.link.closed == 1, "closed")
            assert setup.open_slots() == 0
            assert setup.ask("POST", route, True).status == 200
            setup.wait_ready(ARM)
        assert len(board.links) == 7
        assert setup.row()["state"] == "active", "it was done on purpose"
        assert setup.row()["loops"] == 0


def test_filters_close_excluded_ports(tmp_path: Path) -> None:
    advanced = "/settings/devices/detection/advanced"
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM, vendor_id=0x16D0)
        setup.machine.plug(OTHER, port="ttyUSB1", vendor_id=0x0403)
        setup.wait_ready(ARM, OTHER)
        setup.ask("POST", f"{advanced}/allowed_vendor_id_filter", ["16d0"])
        setup.wait_ready(ARM)
        setup.ask("POST", f"{advanced}/port_name_substring_filter", ["USB"])
        setup.wait_gone()
        setup.ask("DELETE", f"{advanced}/allowed_vendor_id_filter")
        setup.wait_ready(OTHER)


def test_opening_a_port_blocks_no_other_actor(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        with setup.machine.slow():
            setup.machine.plug(OTHER, port="ttyACM1")
            setup.advance_until(lambda: setup.machine.opening, "it is being opened")
            setup.machine.unplug()
            setup.wait_gone()
            assert setup.ask("POST", "/settings/communication/serial/enabled", False).status == 200
            setup.advance_until(lambda: not setup.machine.opening, "the opening was interrupted")
        assert setup.ask("POST", "/settings/communication/serial/enabled", True).status == 200
        setup.wait_ready(OTHER)


# ---------------------------------------------------------------- deaths


@pytest.mark.parametrize(
    "name",
    [link_name(PORT), f"port/{PORT}", f"device/{ARM.device_id}", DETECTION, PORTS, DEVICES, "pairing", "settings"],
)
def test_crashed_link_actor_keeps_its_link_open(tmp_path: Path, name: str) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        lease = setup.record(ARM.device_id).lease

        crash_and_restart(setup.service.system.context.directory, name)
        setup.advance(1.5)

        assert len(board.links) == 1
        assert board.link.exchanging == {ARM.device_id: lease}
        assert setup.record(ARM.device_id).lease == lease
        setup.events.wait_for_event("device-connected")
        assert len(setup.events.received_events("device-connected")) == 1
        setup.machine.unplug()
        setup.wait_gone()
        assert board.link.closed == 1
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        assert setup.open_slots() == 1
    assert setup.machine.boards[0].link.closed == 1


def test_link_actor_crash_before_the_first_poll_keeps_the_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(_watch: LinkWatch) -> None:
        """Nobody does."""

    monkeypatch.setattr(LinkWatch, "poll", look)
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        lease = setup.record(ARM.device_id).lease

        crash_and_restart(setup.service.system.context.directory, link_name(PORT))
        setup.advance(0.5)

        assert board.link.exchanging == {ARM.device_id: lease}
        assert setup.record(ARM.device_id).lease == lease


def test_link_broken_during_an_actor_crash_is_closed_by_the_next_actor(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        board.drop()
        crash_and_restart(setup.service.system.context.directory, link_name(PORT))
        setup.wait_gone()
        setup.wait_ready(ARM)
        assert [link.closed for link in board.links] == [1, 0]


def test_repeatedly_crashing_link_actor_closes_its_link_without_blocking_the_port(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        kill_for_good(setup, link_name(PORT))
        setup.wait_gone()
        setup.advance(3)
        assert [link.closed for link in board.links] == [1]
        assert setup.open_slots() == 0
        setup.machine.unplug()
        setup.advance(1.2)
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)


def test_repeatedly_crashing_device_actor_closes_its_port(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        kill_for_good(setup, f"device/{ARM.device_id}")
        setup.wait_gone()
        setup.advance(3)
        assert [link.closed for link in board.links] == [1]
        assert setup.open_slots() == 0
        assert len(setup.events.received_events("device-disconnected")) == 1


# ---------------------------------------------------------------- receivers


def test_receiver_grips_connect_and_disconnect(tmp_path: Path) -> None:
    second = replace(GRIP, device_id="1606", uuid="6" * 32)
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(port=PORT, receiver=True)
        setup.advance_until(lambda: board.links, "the receiver is open")
        setup.advance_until(lambda: setup.ask("GET", f"/ports/{PORT}").status == 200, "it is shown")
        assert setup.row()["device_id"] is None

        for _ in range(6):
            board.link.show(devices=(GRIP,))
            setup.wait_ready(GRIP)
            board.link.show(devices=(GRIP, second))
            setup.wait_ready(GRIP, second)
            assert setup.row()["device_id"] == GRIP.device_id
            assert set(board.link.exchanging) == {GRIP.device_id, second.device_id}
            board.link.show(devices=(second,))
            setup.wait_ready(second)
            assert set(board.link.exchanging) == {second.device_id}
            board.link.show(devices=())
            setup.wait_gone()

        assert setup.row()["state"] == "active"
        assert setup.row()["loops"] == 0
        assert (len(board.links), setup.open_slots()) == (1, 0)
        assert (
            len(setup.events.received_events("device-connected"))
            == len(setup.events.received_events("device-disconnected"))
            == 12
        )


def test_silent_grip_stays_removed_until_its_receiver_loses_it(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(GRIP, receiver=True)
        setup.wait_ready(GRIP)

        fall_silent(setup, GRIP.device_id)
        setup.wait_gone()
        setup.advance(2)
        assert setup.records == ()
        assert board.link.closed == 0
        board.link.show(devices=())
        board.link.wait_polled()
        board.link.show(devices=(GRIP,))
        setup.wait_ready(GRIP)


# ---------------------------------------------------------------- what devices say and do


def beats(setup: FakePortService, times: int) -> None:
    """So many heartbeats of the grip, 20 ms apart."""
    board, links, runtime = setup.machine.boards[0], setup.service.system.links, setup.service.runtime
    for _ in range(times):
        board.link.show_device(GRIP.device_id, heartbeat_ns=runtime.now_ns())
        eventually(
            lambda: links.heartbeat(PORT, GRIP.device_id) == runtime.now_ns(), "heard", pause_s=0.002, tries=5_000
        )
        setup.service.wait(0.02)
        setup.drain()


def test_real_handle_is_attached_by_its_heartbeats(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(GRIP, receiver=True)
        setup.wait_ready(GRIP)
        beats(setup, 5)
        assert setup.record(GRIP.device_id).bond.attached is False
        beats(setup, 15)
        setup.events.wait_for_event("grip-attachment-changed", attached=True)
        setup.advance(0.3)
        setup.events.wait_for_event("grip-attachment-changed", attached=False)


@pytest.mark.parametrize("reason", [None, Reason.OSCILLATING_HALL, Reason.BLOCKED])
def test_calibration_runs_over_the_link_and_ends_with_the_device_s_result(
    tmp_path: Path, reason: Reason | None
) -> None:
    route = f"/arm/{ARM.device_id}/calibration"
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(GRIP, receiver=True)
        board = setup.machine.plug(ARM, port="ttyACM1")
        setup.wait_ready(ARM, GRIP)
        setup.advance_until(lambda: setup.record(ARM.device_id).paired_with == GRIP.device_id, "they are paired")
        assert GRIP.calibrates is False
        assert setup.ask("POST", route).status == 409
        beats(setup, 15)
        assert setup.ask("POST", route).json["state"] == "running"
        # Time stands: the grip's heartbeats do too.
        eventually(lambda: board.link.runs, "it has begun", pause_s=0.002)
        board.link.end_calibration(ARM.device_id, reason)
        while setup.ask("GET", route).json["state"] == "running":
            beats(setup, 1)
        answer = setup.ask("GET", route).json
        failed = (
            None
            if reason is None
            else setup.events.wait_for_event("device-calibration-failed", device_id=ARM.device_id)
        )

    assert answer["state"] == ("calibrated" if reason is None else "failed")
    assert failed is None or failed["data"]["reason"] == str(reason)
    assert board.link.runs == [1]
    assert setup.machine.boards[0].link.runs == []


def test_real_device_reports_sleep_and_wake_up(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(GRIP, receiver=True)
        setup.wait_ready(GRIP)
        board.link.show_device(GRIP.device_id, awake=False)
        setup.advance_until(lambda: setup.events.received_events("device-sleep", awake=False), "it sleeps")
        setup.advance(1)
        assert str(setup.record(GRIP.device_id).phase) == "asleep"
        board.link.show_device(GRIP.device_id, awake=True)
        setup.wait_ready(GRIP)
        setup.events.wait_for_event("device-sleep", awake=True)


def test_device_found_asleep_is_asleep_after_settling(tmp_path: Path) -> None:

    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        board.of = {ARM.device_id: DeviceFacts(awake=False)}
        setup.advance_until(
            lambda: setup.events.received_events("device-sleep", device_id=ARM.device_id, awake=False), "it sleeps"
        )


def test_device_wide_values_are_sent_to_the_device_and_saved(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        arm = f"/arm/{ARM.device_id}/config"
        assert setup.ask("POST", f"{arm}/gravity_compensation", {"enabled": True, "scaling_factor": 0.5}).status == 200
        assert setup.ask("POST", "/save_configuration", {"device_id": ARM.device_id}).status == 200
        setup.drain()

    assert [(name, wide.gravity_scale, save) for name, wide, save in board.link.configured] == [
        (ARM.device_id, 1.0, False),
        (ARM.device_id, 0.5, False),
        (ARM.device_id, 0.5, True),
    ]


def test_old_firmware_is_refused_by_its_version(tmp_path: Path) -> None:
    old = replace(ARM, firmware=Firmware(7, 3))
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(old)
        setup.wait_ready(old)
        refused = setup.ask("POST", f"/arm/{ARM.device_id}/home_return")
        assert refused.status == 422
        unsupported = setup.events.wait_for_event("device-protocol-unsupported")

    assert (unsupported["data"]["firmware"], unsupported["data"]["required"]) == ("7.3", "7.4")
