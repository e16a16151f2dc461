"""Pairing over real sockets: automatic, swapped, manual, after a restart and after a crash of PairingManager."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.living_actors import kill
from tests.support.service.pairing_desk import PairingDesk

ARM, GRIP = "A001", "B001"
CHANGED = "device-pairing-changed"


def path(device_id: str) -> str:
    return f"/*/{device_id}/config/paired_with"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[PairingDesk]:
    with PairingDesk(tmp_path, "A001=arm", "B001=grip") as running:
        yield running


def test_an_arm_and_a_grip_are_paired_by_themselves_and_both_show_it(desk: PairingDesk) -> None:
    assert desk.pairs() == {ARM: GRIP, GRIP: ARM}
    assert desk.done("GET", path(GRIP)) == {"paired_with": ARM, "origin": "automatic"}
    assert desk.done("GET", "/inverse3/0/config/paired_with") == {"paired_with": GRIP, "origin": "automatic"}


def test_a_grip_that_is_swapped_takes_the_place_of_the_old_one(desk: PairingDesk) -> None:
    desk.unplug(GRIP)
    assert desk.partner(ARM) == GRIP

    desk.plug("B002=grip")

    event = desk.hears(CHANGED, paired_with="B002")
    assert event["data"] == {
        "device_id": ARM,
        "device_family": "arm",
        "paired_with": "B002",
        "origin": "automatic",
        "dropped": GRIP,
    }
    assert (event["category"], event["level"]) == ("device", "info")
    assert desk.pairs() == {ARM: "B002", "B002": ARM}
    desk.plug("B001=grip")
    assert desk.pairs() == {ARM: "B002", "B002": ARM, GRIP: None}


def test_an_arm_that_is_swapped_takes_the_place_of_the_old_one(desk: PairingDesk) -> None:
    desk.unplug(ARM)

    desk.plug("C001=compact")

    event = desk.hears(CHANGED, dropped=ARM)
    assert (event["data"]["device_id"], event["data"]["paired_with"]) == ("C001", GRIP)
    assert desk.pairs() == {GRIP: "C001", "C001": GRIP}


@pytest.mark.parametrize(
    ("first", "second", "left", "expected"),
    [
        ("B001", "B002=grip", ARM, {ARM: "B002", "B002": ARM}),
        ("A001", "C001=compact", GRIP, {GRIP: "C001", "C001": GRIP}),
    ],
)
def test_a_half_that_leaves_makes_room_for_a_free_one_that_is_there_already(
    desk: PairingDesk, first: str, second: str, left: str, expected: dict[str, str | None]
) -> None:
    desk.plug(second)
    assert desk.partner(left) == first

    desk.unplug(first)

    event = desk.hears(CHANGED, dropped=first)
    assert event["data"]["origin"] == "automatic"
    assert desk.pairs() == expected


def test_a_half_that_comes_back_finds_its_pair(desk: PairingDesk) -> None:
    desk.unplug(GRIP)
    desk.plug("B001=grip")

    assert desk.pairs() == {ARM: GRIP, GRIP: ARM}
    assert desk.heard(CHANGED) == []


def test_a_cable_that_is_pulled_and_put_back_changes_no_pair(desk: PairingDesk) -> None:
    desk.make(GRIP, fault="unplug")
    desk.service.step(2)
    desk.listened()
    assert desk.pairs() == {ARM: GRIP}
    assert desk.calibration(ARM) == {"state": "locked"}

    desk.make(GRIP, fault="none")
    desk.listened()

    assert desk.pairs() == {ARM: GRIP, GRIP: ARM}
    assert desk.calibration(ARM) == {"state": "calibrated"}
    assert desk.heard(CHANGED) == []


def test_a_pair_by_hand_is_not_changed_by_swaps(desk: PairingDesk) -> None:
    assert desk.done("POST", path(GRIP), {"device_id": ARM}) == {"paired_with": ARM, "origin": "manual"}
    desk.hears(CHANGED, device_id=ARM, paired_with=GRIP, origin="manual")

    desk.unplug(GRIP)
    desk.plug("B002=grip")
    assert desk.partner(ARM) == GRIP
    assert desk.partner("B002") is None
    desk.plug("B001=grip")
    desk.unplug(ARM)
    desk.plug("C001=compact")

    assert desk.pairs() == {GRIP: ARM, "B002": "C001", "C001": "B002"}
    assert desk.done("GET", path(GRIP))["origin"] == "manual"


def test_two_arms_and_two_grips_are_two_pairs_and_can_be_crossed(tmp_path: Path) -> None:
    with PairingDesk(tmp_path, "A001=arm", "A002=arm", "B001=grip", "B002=grip:wired") as desk:
        assert desk.pairs() == {"A001": "B001", "A002": "B002", "B001": "A001", "B002": "A002"}

        assert desk.done("POST", path("A001"), "B002") == {"paired_with": "B002", "origin": "manual"}
        assert desk.hears(CHANGED, device_id="A002")["data"]["paired_with"] is None
        assert desk.hears(CHANGED, device_id="A001")["data"]["dropped"] == "B001"
        assert desk.pairs() == {"A001": "B002", "A002": None, "B001": None, "B002": "A001"}
        assert desk.done("POST", path("A002"), {"device_id": "B001"})["paired_with"] == "B001"


@pytest.mark.parametrize("word", ["grip:wired", "grip:wireless", "pen"])
def test_every_handle_is_a_half(tmp_path: Path, word: str) -> None:
    with PairingDesk(tmp_path, "C001=compact") as desk:
        desk.plug(f"B001={word}")

        assert desk.pairs() == {"C001": "B001", "B001": "C001"}


def test_an_attached_grip_is_preferred(tmp_path: Path) -> None:
    with PairingDesk(tmp_path, "B001=grip", "B002=grip") as desk:
        desk.make("B001", attached=False)
        desk.passes(0.2)
        desk.hears("grip-attachment-changed", device_id="B001", attached=False)

        desk.plug("A001=arm")

        assert desk.pairs() == {"B001": None, "B002": ARM, ARM: "B002"}


@pytest.mark.parametrize("named", [ARM, GRIP])
def test_a_dissolved_pair_is_not_made_again_until_one_half_reconnects(desk: PairingDesk, named: str) -> None:
    assert desk.done("DELETE", path(named)) == {"paired_with": None}
    assert desk.hears(CHANGED)["data"]["paired_with"] is None
    assert desk.done("DELETE", path(named)) == {"paired_with": None}
    assert desk.pairs() == {ARM: None, GRIP: None}
    for automatic in (False, True):
        desk.done("POST", "/settings/devices/auto_pairing", body=automatic)
    desk.listened()
    assert desk.pairs() == {ARM: None, GRIP: None}

    desk.unplug(GRIP)
    desk.plug("B001=grip")

    assert desk.pairs() == {ARM: GRIP, GRIP: ARM}


def test_automatic_pairing_is_a_setting_that_acts_at_once(tmp_path: Path) -> None:
    with PairingDesk(tmp_path, "A001=arm", "B001=grip") as desk:
        desk.done("POST", "/settings/devices/auto_pairing", body=False)
        desk.unplug(GRIP)
        desk.plug("B002=grip")
        assert desk.pairs() == {ARM: GRIP, "B002": None}

        desk.done("DELETE", path(ARM))
        desk.done("POST", "/settings/devices/auto_pairing", body=True)

        desk.hears(CHANGED, paired_with="B002")
        assert desk.pairs() == {ARM: "B002", "B002": ARM}


@pytest.mark.parametrize(
    ("device_id", "body", "status", "says"),
    [
        ("A001", {"device_id": "B001"}, 409, "paired by hand"),
        ("A002", {"device_id": "B002"}, 409, "paired by hand"),
        ("A002", {"device_id": "A001"}, 400, "one side"),
        ("B001", "B002", 400, "one side"),
        ("A001", {"device_id": "A001"}, 400, "itself"),
        ("A001", {"device_id": "NONE"}, 404, "NONE"),
        ("A001", {"device_id": "x\u0000" * 2000}, 404, "x?x?"),
        ("NONE", {"device_id": "B001"}, 404, "NONE"),
        ("A001", {"device_id": 7}, 400, "device_id"),
        ("A001", {"device_id": ""}, 404, ""),
        ("A001", {}, 400, "device_id is missing"),
        ("A001", [], 400, "string"),
        ("A001", None, 400, "JSON body"),
    ],
)
def test_what_cannot_be_paired_is_refused_and_changes_nothing(
    crossed: PairingDesk, device_id: str, body: object, status: int, says: str
) -> None:
    before = crossed.pairs()

    reply = crossed.ask("POST", path(device_id), body)

    assert reply.status == status
    assert says in reply.json["error"]
    assert crossed.pairs() == before


@pytest.fixture(scope="module")
def crossed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PairingDesk]:
    """Two arms and two grips, one arm and one grip of them paired by hand."""
    folder = tmp_path_factory.mktemp("state")
    with PairingDesk(folder, "A001=arm", "A002=arm", "B001=grip", "B002=grip") as running:
        running.done("POST", path("A001"), "B002")
        yield running


def test_a_pattern_acts_on_every_match(crossed: PairingDesk) -> None:
    reply = crossed.ask("POST", path("A*"), {"device_id": "B002"})

    assert reply.status == 409
    first, second = reply.json["results"]
    assert first == {"device_id": "A001", "ok": True, "paired_with": "B002", "origin": "manual"}
    assert (second["device_id"], second["ok"]) == ("A002", False)
    assert crossed.ask("GET", path("A*")).json["results"][0]["device_id"] == "A001"


def test_a_pair_by_hand_survives_a_restart_and_a_dissolved_one_does_not(tmp_path: Path) -> None:
    devices = ("A001=arm", "B001=grip", "B002=grip")
    with PairingDesk(tmp_path, *devices) as desk:
        desk.done("POST", path(ARM), "B002")
    with PairingDesk(tmp_path, *devices) as desk:
        assert desk.pairs() == {ARM: "B002", GRIP: None, "B002": ARM}
        assert desk.done("GET", path(ARM))["origin"] == "manual"
        desk.done("DELETE", path(ARM))
    with PairingDesk(tmp_path, *devices) as desk:
        assert desk.done("GET", path(ARM)) == {"paired_with": GRIP, "origin": "automatic"}


def test_a_dead_pairing_manager_leaves_every_pair_as_it_was(desk: PairingDesk) -> None:
    desk.plug("B002=grip")
    desk.done("POST", path(ARM), "B002")
    desk.done("DELETE", path(ARM))
    desk.plug("A002=arm")
    before = desk.pairs()
    assert before == {ARM: None, "B002": None, GRIP: "A002", "A002": GRIP}
    said = len(desk.heard(CHANGED))

    kill(desk.service.system.context.directory, "pairing")

    assert desk.pairs() == before
    assert len(desk.heard(CHANGED)) == said
    desk.unplug("B002")
    desk.plug("B002=grip")
    assert desk.pairs() == {ARM: "B002", "B002": ARM, GRIP: "A002", "A002": GRIP}


def test_a_dead_device_manager_and_a_dead_device_leave_every_pair_as_it_was(desk: PairingDesk) -> None:
    for name in ("devices", f"device/{ARM}"):
        kill(desk.service.system.context.directory, name)

        assert desk.pairs() == {ARM: GRIP, GRIP: ARM}
    desk.unplug(GRIP)
    desk.plug("B002=grip")
    assert desk.pairs() == {ARM: "B002", "B002": ARM}
