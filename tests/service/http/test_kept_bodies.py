"""What HTTP reads keep between two requests: the bodies are those that would be made now, and a change is in the next one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final
from unittest.mock import patch

import pytest

from actors.device.messages import SimulatedSpec
from actors.system import System
from actors.values.identity import Connection, Kind
from tests.support.clients.exchange import Reply, exchange
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from transport.wire.remembered import Remembered

DEVICES: Final = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A001"),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, "C001"),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, "B001"),
)
READS: Final = (
    "/devices",
    "/3.0/devices?vocabulary=inverse",
    "/devices?session=default",
    "/devices?session=:0",
    "/devices?session=*",
    "/devices?format=json",
    "/arm/A001",
    "/*/*",
    "/3.0/*/*",
    "/sessions",
    "/sessions/:0",
    "/sessions/*",
    "/ports",
    "/ports?format=json",
    "/ports/sim0",
)


def made_anew(_self: object, _key: object, _parts: object, make: Callable[[], Any]) -> Any:
    """`Remembered.get` that keeps nothing."""
    return make()


class Clients:
    """A stepped service with one session, and what the tests do to it."""

    def __init__(self, service: InProcessService) -> None:
        self.service = service
        self.peer = RawWebSocket(service.ws, None)
        self.first = int(self.peer.frame()["session_id"])

    def ask(self, method: str, path: str, body: object = None) -> Reply:
        return exchange(self.service.http, method, path, body)

    def read(self, path: str) -> Any:
        reply = self.ask("GET", path)
        assert reply.status == 200, reply.body
        return reply.json

    def write(self, method: str, path: str, body: object = None) -> Any:
        reply = self.ask(method, path, body)
        assert reply.status == 200, reply.body
        return reply.json

    def until(self, shows: Callable[[System], str], value: str) -> None:
        """Wait until a published snapshot has `value`."""
        eventually(lambda: shows(self.service.system) == value, f"{value} is published", pause_s=0.005)

    def versions(self) -> tuple[int, ...]:
        system = self.service.system
        return tuple(one.version for one in (system.inventory, system.sessions, system.ports, system.settings))

    def read_both(self, path: str) -> tuple[bytes, bytes] | None:
        """The body that is answered and the one that is made without anything kept; None when an actor published in between."""
        before = self.versions()
        kept = self.ask("GET", path).body
        with patch.object(Remembered, "get", made_anew):
            made = self.ask("GET", path).body
        return (kept, made) if self.versions() == before else None


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    settings = {"simulation/settle_time": 0.01}
    with InProcessService(
        tmp_path_factory.mktemp("state"), simulated=DEVICES, stepping=True, settings=settings
    ) as running:
        yield running


@pytest.fixture(scope="module")
def clients(service: InProcessService) -> Iterator[Clients]:
    found = Clients(service)
    yield found
    found.peer.drop()
    service.wait_for_sessions()


def message(clients: Clients) -> None:
    clients.peer.ask({})
    counts = clients.read(f"/sessions/{clients.first}")
    assert counts["frames_sent"] == counts["commands_received"] + 1


def second_session(clients: Clients) -> None:
    other = RawWebSocket(clients.service.ws, None)
    number = int(other.frame()["session_id"])
    eventually(lambda: clients.service.system.sessions.value.sessions[1:], "the table has it")
    assert [one["session_id"] for one in clients.read("/sessions")["sessions"]] == [clients.first, number]
    assert len(clients.read("/devices?session=*")["results"]) == 2
    clients.write("DELETE", f"/sessions/{number}")
    other.drop()
    clients.service.wait_for_sessions(left=1)
    assert [one["session_id"] for one in clients.read("/sessions")["sessions"]] == [clients.first]
    assert clients.ask("GET", f"/devices?session={number}").status == 404


def profile(clients: Clients) -> None:
    for method, body, shown in (("POST", {"name": "drill"}, "drill"), ("DELETE", None, "default")):
        clients.write(method, f"/sessions/{clients.first}/profile", body)
        assert clients.read("/sessions")["sessions"][0]["profile"] == {"name": shown}


def setting(clients: Clients) -> None:
    path = "/settings/serialization/explicit_fields"
    for method, body, shown in (("POST", True, True), ("DELETE", None, False)):
        clients.write(method, path, body)
        for read in ("/devices", "/devices?session=:0", "/devices?session=default"):
            assert ("vector" in clients.read(read)["arm"][0]["config"]["damping"]) is shown
        assert ("vector" in clients.read("/arm/A001")["config"]["damping"]) is shown


def force_gate(clients: Clients) -> None:
    path = "/settings/devices/A001/filters/force_gate/gain"
    before = clients.read("/arm/A001")["config"]["force_gate"]["gain"]
    for method, body, shown in (("POST", 0.75, 0.75), ("DELETE", None, before)):
        clients.write(method, path, body)
        assert clients.read("/devices")["arm"][0]["config"]["force_gate"]["gain"] == shown


def of_session(clients: Clients) -> None:
    seen, path = "/devices?session=:0", "/arm/A001/config/filters"
    for method, body, shown in (("POST", {"damping": {"scalar": 2.5}}, 2.5), ("DELETE", None, 0)):
        clients.write(method, path, body)
        assert clients.read(seen)["arm"][0]["config"]["damping"]["scalar"] == shown
        assert clients.read("/devices")["arm"][0]["config"]["damping"]["scalar"] == 0


def start_value(clients: Clients) -> None:
    seen, path = "/devices?session=default", "/arm/A001/config/basis?session=default"
    for method, body, shown in (("POST", {"permutation": "XZY"}, "XZY"), ("DELETE", None, "XYZ")):
        clients.write(method, path, body)
        clients.until(start_basis, shown)
        assert clients.read(seen)["arm"][0]["config"]["basis"] == {"permutation": shown}


def start_basis(system: System) -> str:
    return str(system.sessions.value.defaults.basis_of("A001"))


def workspace(clients: Clients) -> None:
    path = "/arm/A001/config/transform"
    before = clients.ask("GET", "/devices?session=:0").body
    clients.write("POST", path, {"transform": {"position": {"x": 0.25, "y": 0, "z": 0}}})
    shown = clients.read("/devices?session=:0")["arm"][0]["state"]["transform"]
    assert shown["position"]["x"] == 0.25
    clients.write("DELETE", path)
    assert clients.ask("GET", "/devices?session=:0").body == before


def handedness(clients: Clients) -> None:
    for method, body, shown in (("POST", {"handedness": "left"}, "left"), ("DELETE", None, "right")):
        clients.write(method, "/arm/A001/config/handedness", body)
        clients.until(hand, shown)
        for read in ("/devices", "/devices?session=:0"):
            assert clients.read(read)["arm"][0]["config"]["handedness"] == shown


def hand(system: System) -> str:
    return system.inventory.value.get("A001").wide.handedness


def device(clients: Clients) -> None:
    service = clients.service

    def comes() -> bool:
        service.step(10)
        return any(one.device_id == "D001" and one.ready for one in service.system.inventory.value.devices)

    def port() -> bool:
        return any(one.device_id == "D001" for one in service.system.ports.value.ports)

    with patch("transport.http.resources.simulation.FIRST_TICK_LOOK_S", 0.0):
        clients.write("POST", "/simulation/devices", {"type": "arm", "device_id": "D001"})
    assert [one["device_id"] for one in clients.read("/devices")["arm"]] == ["A001", "D001"]
    assert "D001" in clients.read("/sessions")["sessions"][0]["devices"]
    eventually(comes, "it is ready", pause_s=0.005)
    assert [one["status"]["ready"] for one in clients.read("/devices")["arm"]] == [True, True]
    eventually(port, "its port is known", pause_s=0.005)
    assert "D001" in [one["device_id"] for one in clients.read("/ports")["ports"]]
    clients.write("DELETE", "/simulation/devices/D001")
    assert [one["device_id"] for one in clients.read("/devices")["arm"]] == ["A001"]
    assert clients.ask("GET", "/arm/D001").status == 404
    assert "D001" not in clients.read("/sessions")["sessions"][0]["devices"]


def stop(clients: Clients) -> None:
    safety = "/settings/serialization/status_safety"
    clients.write("POST", safety, True)
    shown: list[object] = []
    for method in ("POST", "DELETE"):
        clients.write(method, "/stop")
        clients.service.step(2)
        shown.append(clients.read("/devices")["arm"][0]["status"]["safety"])
        assert clients.read("/arm/A001")["status"]["safety"] == shown[-1]
        assert clients.read("/devices?session=:0")["arm"][0]["status"]["safety"] == shown[-1]
    assert shown[0] != shown[1]
    clients.write("DELETE", safety)


def port_state(system: System) -> str:
    return system.ports.value.get("sim0").state


def blocked_port(clients: Clients) -> None:
    for method, body, shown in (("POST", ["sim0"], "blocked"), ("DELETE", None, "active")):
        clients.write(method, "/settings/devices/detection/blocked_ports", body)
        clients.until(port_state, shown)
        assert clients.read("/ports/sim0")["state"] == shown
        assert {one["port"]: one["state"] for one in clients.read("/ports")["ports"]}["sim0"] == shown

    def back() -> bool:
        clients.service.step(10)
        return any(one.device_id == "A001" and one.ready for one in clients.service.system.inventory.value.devices)

    eventually(back, "the device is back", pause_s=0.005)


def time(clients: Clients) -> None:
    before = clients.ask("GET", "/devices").body
    clients.service.step(500)
    assert clients.ask("GET", "/devices").body != before


CHANGES: Final[tuple[Callable[[Clients], None], ...]] = (
    message,
    second_session,
    profile,
    setting,
    force_gate,
    of_session,
    start_value,
    workspace,
    handedness,
    device,
    stop,
    time,
    blocked_port,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_change_is_in_the_next_body_which_is_the_one_made_anew(
    clients: Clients, change: Callable[[Clients], None]
) -> None:
    for path in READS:
        clients.read(path)

    change(clients)

    for path in READS:
        kept, made = eventually(partial(clients.read_both, path), "no actor publishes", pause_s=0.005)
        assert kept == made, path


@pytest.mark.parametrize(
    "path", ["/devices", "/devices?session=:0", "/devices?session=*", "/*/*", "/sessions", "/ports"]
)
def test_what_did_not_change_is_not_made_again(clients: Clients, path: str) -> None:
    clients.read(path)

    def get(self: Remembered[Any], key: Any, parts: Any, _make: Any) -> Any:
        def again() -> None:
            raise AssertionError(f"{key} is made again")

        return original(self, key, parts, again)

    original = Remembered[Any].get
    with patch.object(Remembered, "get", get):
        assert clients.ask("GET", path).status == 200


def test_time_in_a_list_of_devices_is_not_rounded(clients: Clients) -> None:
    """The tick's time stays decimal: as float32 it would be rounded to minutes."""
    clients.write("POST", "/settings/serialization/timestamps", True)

    def digits(path: str) -> int:
        body = clients.ask("GET", path).body
        return len(body.split(b'"time":')[1].split(b",")[0].split(b".")[1])

    assert [digits(path) for path in ("/devices", "/devices?session=:0", "/3.0/devices")] == [6, 6, 6]
    clients.write("DELETE", "/settings/serialization/timestamps")
