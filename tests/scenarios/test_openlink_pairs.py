"""Pairing of emulated boards, wired and wireless: automatic, swapped, manual, dissolved, after a restart."""

from __future__ import annotations

from pathlib import Path

from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.board_service import BoardService
from tests.support.service.polling import eventually

CHANGED = "device-pairing-changed"


def path(device_id: str) -> str:
    return f"/*/{device_id}/config/paired_with"


def test_boards_are_paired_automatically_and_either_half_can_be_swapped(tmp_path: Path) -> None:
    with BoardService(tmp_path, "arm:A1", "grip:G1", "compact:C1", "pen:P1", away=(2, 3)) as setup:
        setup.wait_for_pairs(A1="G1", G1="A1")

        setup.unplug(1, "G1")
        setup.plug(3, "P1")
        setup.wait_for_pairs(A1="P1", P1="A1")
        assert setup.wait_for_event(CHANGED, dropped="G1")["data"]["origin"] == "automatic"

        setup.unplug(0, "A1")
        setup.plug(2, "C1")
        setup.wait_for_pairs(C1="P1", P1="C1")
        assert setup.wait_for_event(CHANGED, dropped="A1")["data"]["device_id"] == "C1"


def test_board_plugged_in_before_the_old_one_is_removed_replaces_it(tmp_path: Path) -> None:
    with BoardService(tmp_path, "arm:A1", "grip:G1", "grip:G2", "compact:C1", away=(2, 3)) as setup:
        setup.wait_for_pairs(A1="G1", G1="A1")

        setup.plug(2, "G2")
        setup.wait_for_pairs(A1="G1", G1="A1", G2=None)
        setup.unplug(1, "G1")
        setup.wait_for_pairs(A1="G2", G2="A1")
        assert setup.wait_for_event(CHANGED, dropped="G1")["data"]["origin"] == "automatic"

        setup.plug(3, "C1")
        setup.unplug(0, "A1")
        setup.wait_for_pairs(C1="G2", G2="C1")


def test_sleeping_grip_is_shown_asleep_and_detached_in_frames(tmp_path: Path) -> None:
    with BoardService(tmp_path, "arm:A1", "receiver:W1") as setup:
        setup.wait_for_pairs(A1="W1", W1="A1")
        setup.wait_for_event("grip-attachment-changed", device_id="W1", attached=True)
        with RawWebSocket(setup.service.ws) as peer:
            peer.frame()

            def shown(awake: bool) -> bool:
                status = peer.ask({})["grip"][0]["status"]
                return bool(status["awake"] is awake and status["attached"] is awake)

            eventually(lambda: shown(True), "it is awake and attached", pause_s=0.01)
            setup.boards.set("asleep", 1, 1)
            setup.wait_for_event("grip-attachment-changed", device_id="W1", attached=False)
            eventually(lambda: shown(False), "it is asleep and detached", pause_s=0.01, tries=500)


def test_receiver_grip_is_swapped_for_another_and_for_a_wired_one(tmp_path: Path) -> None:
    with BoardService(tmp_path, "arm:A1", "receiver:W1,W2", "grip:G1", away=(1, 2)) as setup:
        setup.boards.set("here", 0, 1, 1)
        setup.plug(1, "W1")
        setup.wait_for_pairs(A1="W1", W1="A1")

        setup.boards.set("here", 0, 1, 0)
        setup.wait_for_event("device-disconnected", device_id="W1")
        setup.boards.set("here", 1, 1, 1)
        setup.wait_for_pairs(A1="W2", W2="A1")

        setup.boards.set("here", 0, 1, 1)
        setup.plug(2, "G1")
        setup.wait_for_pairs(A1="G1", G1="A1")


def test_manual_pair_survives_swaps_and_a_restart(tmp_path: Path) -> None:
    boards = ("arm:A1", "grip:G1", "compact:C1", "receiver:W1")
    with BoardService(tmp_path, *boards, away=(2, 3)) as setup:
        setup.wait_for_pairs(A1="G1", G1="A1")
        assert setup.ask_ok("POST", path("A1"), {"device_id": "G1"}) == {"paired_with": "G1", "origin": "manual"}

        setup.unplug(1, "G1")
        setup.plug(3, "W1")
        setup.wait_for_pairs(A1="G1", W1=None)
        setup.plug(1, "G1")
        setup.unplug(0, "A1")
        setup.plug(2, "C1")
        setup.wait_for_pairs(G1="A1", C1="W1", W1="C1")

        setup.stop()
        setup.boards.plug(0)
        setup.start()
        setup.wait_for_pairs(A1="G1", G1="A1", C1="W1", W1="C1")
        assert setup.ask_ok("GET", path("A1"))["origin"] == "manual"
        assert setup.ask_ok("GET", path("C1"))["origin"] == "automatic"


def test_two_arms_and_two_grips_make_two_pairs_that_can_be_crossed_and_dissolved(tmp_path: Path) -> None:
    with BoardService(tmp_path, "arm:A1", "grip:G1", "arm:A2", "receiver:W1", away=(2, 3)) as setup:
        setup.wait_for_pairs(A1="G1", G1="A1")
        setup.plug(2, "A2")
        setup.plug(3, "W1")
        setup.wait_for_pairs(A1="G1", G1="A1", A2="W1", W1="A2")
        # A handle that is attached later looks for another half.
        for handle in ("G1", "W1"):
            setup.wait_for_event("grip-attachment-changed", device_id=handle, attached=True)

        assert setup.ask_ok("POST", path("A1"), "W1") == {"paired_with": "W1", "origin": "manual"}
        setup.wait_for_pairs(A1="W1", W1="A1", A2=None, G1=None)
        assert setup.ask_ok("POST", path("A2"), "G1") == {"paired_with": "G1", "origin": "manual"}

        assert setup.ask_ok("DELETE", path("W1")) == {"paired_with": None}
        setup.wait_for_pairs(A1=None, W1=None, A2="G1", G1="A2")
        setup.unplug(3, "W1")
        setup.plug(3, "W1")
        setup.wait_for_pairs(A1="W1", W1="A1", A2="G1", G1="A2")
        assert setup.ask_ok("GET", path("A1"))["origin"] == "automatic"
