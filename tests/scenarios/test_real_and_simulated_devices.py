"""Emulated boards and simulated devices in one service: listed, distinguished, paired, commanded, swapped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from actors.device.messages import SimulatedSpec
from actors.values.identity import Connection, Kind
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.board_service import BoardService
from tests.support.service.polling import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIMULATED: Final = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "S1"),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, "S2"),
    SimulatedSpec(Kind.PEN, Connection.SIMULATED, "S3"),
)
BOARDS: Final = ("arm:A1", "receiver:W1", "compact:C1", "pen:P1")
GROUPS: Final = ("arm", "compact", "grip", "pen")
PUSH: Final = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[BoardService]:
    with BoardService(tmp_path, *BOARDS, simulated=SIMULATED) as running:
        running.wait_ready("A1", "W1", "C1", "P1", "S1", "S2", "S3")
        yield running


def ids(frame: Any) -> dict[str, list[str]]:
    return {group: [entry["device_id"] for entry in frame[group]] for group in GROUPS}


@pytest.mark.promise(3)
def test_real_and_simulated_devices_are_listed_real_ones_first(setup: BoardService) -> None:
    """Simulated devices are recognised next to real ones: groups, indexes, ports, readiness."""
    with RawWebSocket(setup.service.ws) as peer:
        frame = peer.frame()
    listed = setup.ask_ok("GET", "/devices")

    expected = {"arm": ["A1", "S1"], "compact": ["C1"], "grip": ["W1", "S2"], "pen": ["P1", "S3"]}
    assert ids(frame) == ids(listed) == expected
    config = {entry["device_id"]: entry["config"] for group in GROUPS for entry in frame[group]}
    connections = {one: shown["connection"] for one, shown in config.items()}
    assert connections == {
        "A1": "serial",
        "C1": "serial",
        "W1": "wireless",
        "P1": "serial",
        "S1": "simulated",
        "S2": "wireless",
        "S3": "simulated",
    }
    assert {config[one]["port"] for one in ("S1", "S2", "S3")} == {"sim0", "sim1", "sim2"}
    assert all(entry["status"]["ready"] for group in GROUPS for entry in frame[group])
    assert setup.ask("GET", "/readyz").status == 200
    assert setup.ask_ok("GET", "/arm/0")["device_id"] == "A1"
    assert setup.ask_ok("GET", "/arm/1")["device_id"] == "S1"


def test_pairs_never_mix_real_and_simulated_devices(setup: BoardService) -> None:
    simulated = {"S1", "S2", "S3"}
    pairs = setup.pairs()

    assert pairs["S1"] in {"S2", "S3"}
    assert pairs["A1"] in {"W1", "P1"}
    assert pairs["C1"] in {"W1", "P1"}
    assert all(other is None or (one in simulated) is (other in simulated) for one, other in pairs.items())


def test_adding_and_removing_a_simulated_device_does_not_disturb_boards(setup: BoardService) -> None:
    added = setup.ask_ok("POST", "/simulation/devices", {"type": "arm", "device_id": "S4"})
    setup.wait_ready("S4")
    assert added["config"]["port"] == "sim3"
    with RawWebSocket(setup.service.ws) as peer:
        assert ids(peer.frame())["arm"] == ["A1", "S1", "S4"]

        def pushed() -> bool:
            frame = peer.ask({"arm": [{"device_id": one, "commands": PUSH} for one in ("A1", "S4")]})
            forces = {entry["device_id"]: entry["state"]["current_cursor_force"]["z"] for entry in frame["arm"]}
            return all(forces[one] > 0.5 for one in ("A1", "S4")) and any(setup.boards.see(0).motor)

        eventually(pushed, "both are pushed", pause_s=0.005)
        setup.ask_ok("DELETE", "/simulation/devices/S4")
        assert ids(peer.ask({}))["arm"] == ["A1", "S1"]
    assert setup.ask("POST", "/simulation/arm/A1", {"fault": "unplug"}).status == 404
    assert setup.ask("DELETE", "/simulation/devices/A1").status == 404


def test_unplugging_a_board_does_not_disturb_simulated_devices(setup: BoardService) -> None:
    kept = setup.service.device("S1").lease
    setup.unplug(0, "A1")
    assert setup.ask_ok("GET", "/arm/0")["device_id"] == "S1"

    setup.plug(0, "A1")
    assert setup.ask_ok("GET", "/arm/0")["device_id"] == "A1"
    assert setup.service.device("S1").lease == kept
    assert not setup.events.received_events("device-disconnected", device_id="S1")


def test_same_id_of_a_board_and_a_simulated_device_is_told_apart(tmp_path: Path) -> None:
    with BoardService(
        tmp_path, "arm:A1", "arm:A2", simulated=(SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A1"),)
    ) as setup:
        setup.wait_ready("A1", "A2")
        eventually(lambda: len(setup.service.system.inventory.value.devices) == 3, "all are there", pause_s=0.01)
        renamed = next(
            one.device_id for one in setup.service.system.inventory.value.devices if one.device_id not in {"A1", "A2"}
        )
        setup.wait_ready(renamed)

        assert setup.service.device("A1").identity.simulated
        assert not setup.service.device(renamed).identity.simulated
        assert setup.ask_ok("GET", f"/arm/{renamed}")["config"]["connection"] == "serial"
        refused = setup.ask("POST", "/simulation/devices", {"type": "arm", "device_id": "A2"})
        assert refused.status == 409


def test_boards_found_later_join_the_default_simulated_devices(tmp_path: Path) -> None:
    with BoardService(tmp_path, "arm:A1", "grip:G1", away=(0, 1), simulated=None) as setup:
        eventually(lambda: len(setup.pairs()) == 2, "an arm and a grip are simulated", pause_s=0.01)
        chosen = setup.pairs()
        setup.plug(0, "A1")
        setup.plug(1, "G1")

        setup.wait_for_pairs(A1="G1", G1="A1", **chosen)


def test_simulate_option_survives_a_restart_with_boards(setup: BoardService) -> None:
    before = ids(setup.ask_ok("GET", "/devices"))
    pairs = setup.pairs()
    setup.stop()
    setup.start()
    setup.wait_ready(*(one for group in before.values() for one in group))

    assert ids(setup.ask_ok("GET", "/devices")) == before
    assert {one: other for one, other in setup.pairs().items() if one.startswith("S")} == {
        one: other for one, other in pairs.items() if one.startswith("S")
    }
