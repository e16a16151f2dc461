"""Emulated boards and simulated devices in one service: listed, distinguished, paired, commanded, swapped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from actors.device.messages import SimulatedSpec
from actors.values.identity import Connection, Kind
from tests.support.clients.peer import Peer
from tests.support.service.board_desk import BoardDesk
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
def desk(tmp_path: Path) -> Iterator[BoardDesk]:
    with BoardDesk(tmp_path, *BOARDS, simulated=SIMULATED) as running:
        running.ready("A1", "W1", "C1", "P1", "S1", "S2", "S3")
        yield running


def ids(frame: Any) -> dict[str, list[str]]:
    return {group: [entry["device_id"] for entry in frame[group]] for group in GROUPS}


@pytest.mark.promise(3)
def test_real_and_simulated_devices_are_shown_together_real_ones_first(desk: BoardDesk) -> None:
    """Simulated devices are recognised next to real ones: groups, indexes, ports, readiness."""
    with Peer(desk.service.ws) as peer:
        frame = peer.frame()
    listed = desk.done("GET", "/devices")

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
    assert desk.ask("GET", "/readyz").status == 200
    assert desk.done("GET", "/arm/0")["device_id"] == "A1"
    assert desk.done("GET", "/arm/1")["device_id"] == "S1"


def test_pairs_never_mix_real_and_simulated_devices(desk: BoardDesk) -> None:
    simulated = {"S1", "S2", "S3"}
    pairs = desk.pairs()

    assert pairs["S1"] in {"S2", "S3"}
    assert pairs["A1"] in {"W1", "P1"}
    assert pairs["C1"] in {"W1", "P1"}
    assert all(other is None or (one in simulated) is (other in simulated) for one, other in pairs.items())


def test_a_simulated_device_comes_and_goes_beside_boards_that_work_on(desk: BoardDesk) -> None:
    added = desk.done("POST", "/simulation/devices", {"type": "arm", "device_id": "S4"})
    desk.ready("S4")
    assert added["config"]["port"] == "sim3"
    with Peer(desk.service.ws) as peer:
        assert ids(peer.frame())["arm"] == ["A1", "S1", "S4"]

        def pushed() -> bool:
            frame = peer.ask({"arm": [{"device_id": one, "commands": PUSH} for one in ("A1", "S4")]})
            forces = {entry["device_id"]: entry["state"]["current_cursor_force"]["z"] for entry in frame["arm"]}
            return all(forces[one] > 0.5 for one in ("A1", "S4")) and any(desk.boards.see(0).motor)

        eventually(pushed, "both are pushed", pause_s=0.005)
        desk.done("DELETE", "/simulation/devices/S4")
        assert ids(peer.ask({}))["arm"] == ["A1", "S1"]
    assert desk.ask("POST", "/simulation/arm/A1", {"fault": "unplug"}).status == 404
    assert desk.ask("DELETE", "/simulation/devices/A1").status == 404


def test_a_board_comes_and_goes_beside_simulated_devices_that_stay(desk: BoardDesk) -> None:
    kept = desk.service.device("S1").lease
    desk.unplug(0, "A1")
    assert desk.done("GET", "/arm/0")["device_id"] == "S1"

    desk.plug(0, "A1")
    assert desk.done("GET", "/arm/0")["device_id"] == "A1"
    assert desk.service.device("S1").lease == kept
    assert not desk.events.heard("device-disconnected", device_id="S1")


def test_a_board_and_a_simulated_device_of_one_id_are_told_apart(tmp_path: Path) -> None:
    with BoardDesk(
        tmp_path, "arm:A1", "arm:A2", simulated=(SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A1"),)
    ) as desk:
        desk.ready("A1", "A2")
        eventually(lambda: len(desk.service.system.inventory.value.devices) == 3, "all are there", pause_s=0.01)
        renamed = next(
            one.device_id for one in desk.service.system.inventory.value.devices if one.device_id not in {"A1", "A2"}
        )
        desk.ready(renamed)

        assert desk.service.device("A1").identity.simulated
        assert not desk.service.device(renamed).identity.simulated
        assert desk.done("GET", f"/arm/{renamed}")["config"]["connection"] == "serial"
        refused = desk.ask("POST", "/simulation/devices", {"type": "arm", "device_id": "A2"})
        assert refused.status == 409


def test_boards_that_come_later_stand_beside_what_was_simulated_in_their_place(tmp_path: Path) -> None:
    with BoardDesk(tmp_path, "arm:A1", "grip:G1", away=(0, 1), simulated=None) as desk:
        eventually(lambda: len(desk.pairs()) == 2, "an arm and a grip are simulated", pause_s=0.01)
        chosen = desk.pairs()
        desk.plug(0, "A1")
        desk.plug(1, "G1")

        desk.paired(A1="G1", G1="A1", **chosen)


def test_what_is_chosen_stays_over_a_restart_with_boards_and_simulated_devices(desk: BoardDesk) -> None:
    before = ids(desk.done("GET", "/devices"))
    pairs = desk.pairs()
    desk.stop()
    desk.start()
    desk.ready(*(one for group in before.values() for one in group))

    assert ids(desk.done("GET", "/devices")) == before
    assert {one: other for one, other in desk.pairs().items() if one.startswith("S")} == {
        one: other for one, other in pairs.items() if one.startswith("S")
    }
