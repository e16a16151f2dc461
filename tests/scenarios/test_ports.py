"""Connection-loop protection over real sockets: a flapping port is blocked until it is reset; others work on."""

from __future__ import annotations

import json
import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from websockets.sync.client import connect

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import Phase
from actors.port.messages import PORTS, PortClosed, PortOpened
from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import Reply, exchange
from tests.support.service.actor_faults import crash_and_restart, drain_actor
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem

ARM_PORT, GRIP_PORT = "sim0", "sim1"
LOOPS = 5
GAUGE = "hapticd_port_blocked"


@pytest.fixture
def system(tmp_path: Path) -> Iterator[RunningSystem]:
    with RunningSystem(tmp_path) as running:
        yield running


@contextmanager
def listening(system: RunningSystem) -> Generator[EventClient]:
    """A subscriber that hears everything from here on."""
    with EventClient(system.events) as listener:
        eventually(lambda: system.metric("hapticd_event_subscribers") == 1, "subscribed", pause_s=0.002, tries=5_000)
        yield listener


def flap(service: InProcessService, port: str = ARM_PORT, times: int = LOOPS) -> None:
    """The link of a port drops and opens again, so many times; return when everybody has heard of it."""
    directory = service.system.context.directory
    status = service.system.ports.value.get(port)
    for _ in range(times):
        directory.tell(PORTS, PortClosed(port))
        directory.tell(PORTS, PortOpened(port, status.path, status.device_id))
    settled(service, port)


def settled(service: InProcessService, port: str = ARM_PORT) -> None:
    """Return when guard, keeper of the ports and keeper of the devices have handled what they were told."""
    directory = service.system.context.directory
    for name in (PORTS, f"port/{port}", PORTS, DEVICES, PORTS):
        drain_actor(directory, name)


def shown(service: InProcessService, port: str = ARM_PORT) -> Any:
    """The port's record over HTTP."""
    reply = exchange(service.http, "GET", f"/ports/{port}")
    assert reply.status == 200, reply.body
    return reply.json


def reset(service: InProcessService, port: str = ARM_PORT) -> Reply:
    return exchange(service.http, "POST", f"/ports/{quote(port, safe='')}/reset")


def ids(service: InProcessService) -> list[str]:
    return [record.device_id for record in service.system.inventory.value.devices]


def gone(service: InProcessService) -> None:
    assert ids(service) == ["B001"]


def back(service: InProcessService) -> None:
    """Wait until the arm is there again and ready."""

    def ready() -> bool:
        record = service.system.inventory.value.find("A001")
        return record is not None and record.phase is Phase.READY

    eventually(ready, "the arm is back", pause_s=0.005, tries=4_000)


def test_connection_loop_blocks_the_port_in_http_events_and_metrics(system: RunningSystem) -> None:
    assert shown(system) == {
        "port": ARM_PORT,
        "path": ARM_PORT,
        "state": "active",
        "device_id": "A001",
        "loops": 0,
        "blocked_since": None,
        "reason": "",
    }
    assert system.metric(GAUGE, port=ARM_PORT) == 0
    with listening(system) as listener:
        flap(system)
        looping = listener.wait_for_event("device-connection-loop", port=ARM_PORT)
        blocked = listener.wait_for_event("port-blocked", port=ARM_PORT)
        listener.wait_for_event("device-disconnected", device_id="A001")
        assert len(listener.received_events("device-disconnected")) == 1

    gone(system)
    assert looping["data"] == {
        "device_id": "A001",
        "device_family": "arm",
        "port": ARM_PORT,
        "loops": LOOPS,
        "window_s": 10,
    }
    assert looping["level"] == "warning"
    assert blocked["data"] == {"port": ARM_PORT, "state": "blocked", "reason": "connection_loop"}
    assert blocked["level"] == "error"
    row = shown(system)
    assert row["blocked_since"].endswith("+00:00")
    assert {key: row[key] for key in ("state", "device_id", "loops", "reason")} == {
        "state": "blocked",
        "device_id": "A001",
        "loops": LOOPS,
        "reason": "connection_loop",
    }
    assert [(one["port"], one["state"]) for one in system.ask("GET", "/ports").json["ports"]] == [
        (ARM_PORT, "blocked"),
        (GRIP_PORT, "active"),
    ]
    page = system.ask("GET", "/metrics").body.decode()
    assert f'{GAUGE}{{port="{ARM_PORT}"}} 1.0' in page
    assert f'{GAUGE}{{port="{GRIP_PORT}"}} 0.0' in page
    assert system.ask("GET", "/readyz").status == 200


def test_reset_restores_the_device(system: RunningSystem, caplog: pytest.LogCaptureFixture) -> None:
    flap(system)
    with listening(system) as listener, caplog.at_level(logging.INFO, "hapticd.audit"):
        reply = reset(system)
        listener.wait_for_event("port-state-changed", port=ARM_PORT, state="active", reason="reset")
        listener.wait_for_event("device-connected", device_id="A001")
        back(system)
        assert reset(system).json == shown(system)
        assert len(listener.received_events("port-state-changed")) == 1

    assert reply.status == 200
    assert (reply.json["state"], reply.json["loops"], reply.json["blocked_since"]) == ("active", 0, None)
    assert system.metric(GAUGE, port=ARM_PORT) == 0
    lines = [record.getMessage() for record in caplog.records if record.name == "hapticd.audit"]
    assert lines == [f"peer=127.0.0.1 session=- reset of port {ARM_PORT}"] * 2


@pytest.mark.parametrize("name", [f"port/{ARM_PORT}", PORTS, DEVICES, "settings"])
def test_port_stays_blocked_after_any_actor_crashes(system: RunningSystem, name: str) -> None:
    flap(system)
    before = shown(system)

    crash_and_restart(system.directory, name)
    flap(system, times=1)
    assert shown(system) == before
    gone(system)

    assert reset(system).status == 200
    back(system)


@pytest.mark.parametrize("name", [f"port/{ARM_PORT}", PORTS])
def test_crash_during_a_connection_loop_keeps_the_count(system: RunningSystem, name: str) -> None:
    flap(system, times=LOOPS - 1)
    assert shown(system)["loops"] == LOOPS - 1

    crash_and_restart(system.directory, name)
    flap(system, times=1)
    assert shown(system)["state"] == "blocked"


@pytest.mark.promise(140, "a blocked port stays blocked over a restart of the service")
def test_port_stays_blocked_after_a_restart(tmp_path: Path) -> None:
    with RunningSystem(tmp_path) as system:
        flap(system)
        before = shown(system)

    with InProcessService(tmp_path, settled=False, settings={"simulation/settle_time": 0.05}) as again:
        assert shown(again) == before
        eventually(lambda: exchange(again.http, "GET", "/readyz").status == 200, "ready without the arm")
        gone(again)
        assert reset(again).status == 200
        back(again)

    with RunningSystem(tmp_path) as free:
        assert shown(free)["state"] == "active"


def test_slow_reconnects_are_not_blocked(tmp_path: Path) -> None:
    with InProcessService(tmp_path, stepping=True, settings={"control/frequency": 100}) as service:
        for _ in range(3 * LOOPS):
            flap(service, times=1)
            service.wait(2.51)
        assert shown(service)["state"] == "active"
        service.wait(10)
        service.system.timekeeper.run_once()
        settled(service)
        assert shown(service)["loops"] == 0
        assert ids(service) == ["A001", "B001"]


def test_port_still_looping_after_the_reset_is_blocked_again(system: RunningSystem) -> None:
    flap(system)
    first = shown(system)
    assert reset(system).status == 200
    back(system)

    flap(system, times=LOOPS - 1)
    assert shown(system)["state"] == "active"
    flap(system, times=LOOPS)
    assert shown(system)["state"] == "blocked"
    assert shown(system)["blocked_since"] > first["blocked_since"]


def test_simulated_connection_loop_without_blocking_is_reported(tmp_path: Path) -> None:
    settings = {"devices/detection/block_on_loop": False, "devices/detection/loop_threshold": 2}
    with RunningSystem(tmp_path, settings=settings) as system, listening(system) as listener:
        flap(system, times=3)
        assert listener.wait_for_event("device-connection-loop", port=ARM_PORT)["data"]["loops"] == 2
        assert shown(system)["state"] == "active"
        assert (len(listener.received_events("device-connection-loop")), listener.received_events("port-blocked")) == (
            1,
            [],
        )


def test_unknown_port_is_named(system: RunningSystem) -> None:
    for method, path in (("GET", "/ports/sim9"), ("POST", "/ports/sim9/reset"), ("POST", "/ports/%2Fdev%2Fsim0/reset")):
        reply = system.ask(method, path)
        assert reply.status == 404
        assert "There is no port" in reply.json["error"]


def test_port_may_be_named_by_its_path(system: RunningSystem) -> None:
    system.directory.tell(PORTS, PortOpened("ttyACM0", "/dev/ttyACM0", None))
    settled(system, "ttyACM0")
    flap(system, "ttyACM0")
    assert shown(system, "%2Fdev%2FttyACM0")["state"] == "blocked"
    reply = reset(system, "/dev/ttyACM0")
    assert (reply.status, reply.json["port"], reply.json["state"]) == (200, "ttyACM0", "active")


def test_blocking_setting_blocks_ports_and_only_it_unblocks_them(system: RunningSystem) -> None:
    route = "/settings/devices/detection/blocked_ports"
    with listening(system) as listener:
        assert system.ask("POST", route, [ARM_PORT, "/dev/ttyACM7"]).status == 200
        assert listener.wait_for_event("port-blocked", port=ARM_PORT)["data"]["reason"] == "configuration"
        eventually(lambda: ids(system) == ["B001"], "the arm is gone", pause_s=0.005)
        assert shown(system)["reason"] == "configuration"
        assert shown(system, "ttyACM7")["path"] == "/dev/ttyACM7"
        refused = reset(system)
        assert refused.status == 409
        assert "devices/detection/blocked_ports" in refused.json["error"]

        assert system.ask("DELETE", route).status == 200
        listener.wait_for_event("port-state-changed", port=ARM_PORT, state="active")
        back(system)
    assert system.ask("GET", "/ports/ttyACM7").status == 404


def test_simulated_device_may_be_removed_and_added_without_limit(system: RunningSystem) -> None:
    for _ in range(LOOPS + 2):
        assert system.ask("DELETE", "/simulation/devices/A001").status == 200
        assert system.ask("POST", "/simulation/devices", {"type": "arm", "device_id": "A001"}).status == 200
        settled(system)

    assert shown(system)["state"] == "active"
    assert shown(system)["loops"] == 0
    assert "A001" in ids(system)


def test_client_gets_one_frame_per_message_throughout(system: RunningSystem) -> None:
    with connect(system.ws, proxy=None) as channel:
        first = json.loads(channel.recv())
        assert first["arm"][0]["device_id"] == "A001"

        def frame(message: object) -> Any:
            channel.send(json.dumps(message))
            return json.loads(channel.recv(30))

        push = {"arm": [{"device_id": "A001", "commands": {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}}]}
        assert "errors" not in frame(push)
        flap(system)
        lost = frame(push)
        assert lost["arm"] == []
        assert "A001" in json.dumps(lost["errors"])
        assert [one["device_id"] for one in frame({})["grip"]] == ["B001"]
        reset(system)
        back(system)
        assert "errors" not in frame(push)
        assert frame({})["arm"][0]["device_id"] == "A001"
        with pytest.raises(TimeoutError):
            channel.recv(0)
