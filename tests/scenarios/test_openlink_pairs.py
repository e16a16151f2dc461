"""Pairing of emulated boards, wired and wireless: automatic, swapped, manual, dissolved, after a restart."""

from __future__ import annotations

from pathlib import Path

from tests.support.clients.peer import Peer
from tests.support.service.board_desk import BoardDesk
from tests.support.service.polling import eventually

CHANGED = "device-pairing-changed"


def path(device_id: str) -> str:
    return f"/*/{device_id}/config/paired_with"


def test_boards_are_paired_by_themselves_and_either_half_can_be_swapped(tmp_path: Path) -> None:
    with BoardDesk(tmp_path, "arm:A1", "grip:G1", "compact:C1", "pen:P1", away=(2, 3)) as desk:
        desk.paired(A1="G1", G1="A1")

        desk.unplug(1, "G1")
        desk.plug(3, "P1")
        desk.paired(A1="P1", P1="A1")
        assert desk.hears(CHANGED, dropped="G1")["data"]["origin"] == "automatic"

        desk.unplug(0, "A1")
        desk.plug(2, "C1")
        desk.paired(C1="P1", P1="C1")
        assert desk.hears(CHANGED, dropped="A1")["data"]["device_id"] == "C1"


def test_a_board_that_is_plugged_in_before_the_old_one_is_pulled_out_takes_its_place(tmp_path: Path) -> None:
    with BoardDesk(tmp_path, "arm:A1", "grip:G1", "grip:G2", "compact:C1", away=(2, 3)) as desk:
        desk.paired(A1="G1", G1="A1")

        desk.plug(2, "G2")
        desk.paired(A1="G1", G1="A1", G2=None)
        desk.unplug(1, "G1")
        desk.paired(A1="G2", G2="A1")
        assert desk.hears(CHANGED, dropped="G1")["data"]["origin"] == "automatic"

        desk.plug(3, "C1")
        desk.unplug(0, "A1")
        desk.paired(C1="G2", G2="C1")


def test_a_grip_that_falls_asleep_is_shown_asleep_and_detached_in_frames(tmp_path: Path) -> None:
    with BoardDesk(tmp_path, "arm:A1", "receiver:W1") as desk:
        desk.paired(A1="W1", W1="A1")
        desk.hears("grip-attachment-changed", device_id="W1", attached=True)
        with Peer(desk.service.ws) as peer:
            peer.frame()

            def shown(awake: bool) -> bool:
                status = peer.ask({})["grip"][0]["status"]
                return bool(status["awake"] is awake and status["attached"] is awake)

            eventually(lambda: shown(True), "it is awake and attached", pause_s=0.01)
            desk.boards.set("asleep", 1, 1)
            desk.hears("grip-attachment-changed", device_id="W1", attached=False)
            eventually(lambda: shown(False), "it is asleep and detached", pause_s=0.01, tries=500)


def test_a_grip_behind_a_receiver_is_swapped_for_another_and_for_a_wired_one(tmp_path: Path) -> None:
    with BoardDesk(tmp_path, "arm:A1", "receiver:W1,W2", "grip:G1", away=(1, 2)) as desk:
        desk.boards.set("here", 0, 1, 1)
        desk.plug(1, "W1")
        desk.paired(A1="W1", W1="A1")

        desk.boards.set("here", 0, 1, 0)
        desk.hears("device-disconnected", device_id="W1")
        desk.boards.set("here", 1, 1, 1)
        desk.paired(A1="W2", W2="A1")

        desk.boards.set("here", 0, 1, 1)
        desk.plug(2, "G1")
        desk.paired(A1="G1", G1="A1")


def test_a_pair_of_boards_by_hand_is_not_changed_by_swaps_and_survives_a_restart(tmp_path: Path) -> None:
    boards = ("arm:A1", "grip:G1", "compact:C1", "receiver:W1")
    with BoardDesk(tmp_path, *boards, away=(2, 3)) as desk:
        desk.paired(A1="G1", G1="A1")
        assert desk.done("POST", path("A1"), {"device_id": "G1"}) == {"paired_with": "G1", "origin": "manual"}

        desk.unplug(1, "G1")
        desk.plug(3, "W1")
        desk.paired(A1="G1", W1=None)
        desk.plug(1, "G1")
        desk.unplug(0, "A1")
        desk.plug(2, "C1")
        desk.paired(G1="A1", C1="W1", W1="C1")

        desk.stop()
        desk.boards.plug(0)
        desk.start()
        desk.paired(A1="G1", G1="A1", C1="W1", W1="C1")
        assert desk.done("GET", path("A1"))["origin"] == "manual"
        assert desk.done("GET", path("C1"))["origin"] == "automatic"


def test_two_arms_and_two_grips_are_two_pairs_that_can_be_crossed_and_dissolved(tmp_path: Path) -> None:
    with BoardDesk(tmp_path, "arm:A1", "grip:G1", "arm:A2", "receiver:W1", away=(2, 3)) as desk:
        desk.paired(A1="G1", G1="A1")
        desk.plug(2, "A2")
        desk.plug(3, "W1")
        desk.paired(A1="G1", G1="A1", A2="W1", W1="A2")
        # A handle that is attached later looks for another half.
        for handle in ("G1", "W1"):
            desk.hears("grip-attachment-changed", device_id=handle, attached=True)

        assert desk.done("POST", path("A1"), "W1") == {"paired_with": "W1", "origin": "manual"}
        desk.paired(A1="W1", W1="A1", A2=None, G1=None)
        assert desk.done("POST", path("A2"), "G1") == {"paired_with": "G1", "origin": "manual"}

        assert desk.done("DELETE", path("W1")) == {"paired_with": None}
        desk.paired(A1=None, W1=None, A2="G1", G1="A2")
        desk.unplug(3, "W1")
        desk.plug(3, "W1")
        desk.paired(A1="W1", W1="A1", A2="G1", G1="A2")
        assert desk.done("GET", path("A1"))["origin"] == "automatic"
