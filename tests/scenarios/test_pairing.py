"""Pairing over real sockets: automatic, swapped, manual, after a restart and after a crash of PairingManager."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.actor_faults import crash_and_restart
from tests.support.service.pairing_service import PairingService

ARM, GRIP = "A001", "B001"
CHANGED = "device-pairing-changed"


def path(device_id: str) -> str:
    return f"/*/{device_id}/config/paired_with"


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[PairingService]:
    with PairingService(tmp_path, "A001=arm", "B001=grip") as running:
        yield running


def test_arm_and_grip_are_paired_automatically_and_both_show_it(setup: PairingService) -> None:
    assert setup.pairs() == {ARM: GRIP, GRIP: ARM}
    assert setup.ask_ok("GET", path(GRIP)) == {"paired_with": ARM, "origin": "automatic"}
    assert setup.ask_ok("GET", "/inverse3/0/config/paired_with") == {"paired_with": GRIP, "origin": "automatic"}


def test_swapped_grip_replaces_the_old_one(setup: PairingService) -> None:
    setup.unplug(GRIP)
    assert setup.partner(ARM) == GRIP

    setup.plug("B002=grip")

    event = setup.wait_for_event(CHANGED, paired_with="B002")
    assert event["data"] == {
        "device_id": ARM,
        "device_family": "arm",
        "paired_with": "B002",
        "origin": "automatic",
        "dropped": GRIP,
    }
    assert (event["category"], event["level"]) == ("device", "info")
    assert setup.pairs() == {ARM: "B002", "B002": ARM}
    setup.plug("B001=grip")
    assert setup.pairs() == {ARM: "B002", "B002": ARM, GRIP: None}


def test_swapped_arm_replaces_the_old_one(setup: PairingService) -> None:
    setup.unplug(ARM)

    setup.plug("C001=compact")

    event = setup.wait_for_event(CHANGED, dropped=ARM)
    assert (event["data"]["device_id"], event["data"]["paired_with"]) == ("C001", GRIP)
    assert setup.pairs() == {GRIP: "C001", "C001": GRIP}


@pytest.mark.parametrize(
    ("first", "second", "left", "expected"),
    [
        ("B001", "B002=grip", ARM, {ARM: "B002", "B002": ARM}),
        ("A001", "C001=compact", GRIP, {GRIP: "C001", "C001": GRIP}),
    ],
)
def test_free_device_replaces_a_half_that_disconnects(
    setup: PairingService, first: str, second: str, left: str, expected: dict[str, str | None]
) -> None:
    setup.plug(second)
    assert setup.partner(left) == first

    setup.unplug(first)

    event = setup.wait_for_event(CHANGED, dropped=first)
    assert event["data"]["origin"] == "automatic"
    assert setup.pairs() == expected


def test_reconnected_half_rejoins_its_pair(setup: PairingService) -> None:
    setup.unplug(GRIP)
    setup.plug("B001=grip")

    assert setup.pairs() == {ARM: GRIP, GRIP: ARM}
    assert setup.received_events(CHANGED) == []


def test_replugged_cable_changes_no_pair(setup: PairingService) -> None:
    setup.simulate(GRIP, fault="unplug")
    setup.service.step(2)
    setup.drain()
    assert setup.pairs() == {ARM: GRIP}
    assert setup.calibration(ARM) == {"state": "locked"}

    setup.simulate(GRIP, fault="none")
    setup.drain()

    assert setup.pairs() == {ARM: GRIP, GRIP: ARM}
    assert setup.calibration(ARM) == {"state": "calibrated"}
    assert setup.received_events(CHANGED) == []


def test_manual_pair_is_not_changed_by_swaps(setup: PairingService) -> None:
    assert setup.ask_ok("POST", path(GRIP), {"device_id": ARM}) == {"paired_with": ARM, "origin": "manual"}
    setup.wait_for_event(CHANGED, device_id=ARM, paired_with=GRIP, origin="manual")

    setup.unplug(GRIP)
    setup.plug("B002=grip")
    assert setup.partner(ARM) == GRIP
    assert setup.partner("B002") is None
    setup.plug("B001=grip")
    setup.unplug(ARM)
    setup.plug("C001=compact")

    assert setup.pairs() == {GRIP: ARM, "B002": "C001", "C001": "B002"}
    assert setup.ask_ok("GET", path(GRIP))["origin"] == "manual"


def test_two_arms_and_two_grips_make_two_pairs_that_can_be_crossed(tmp_path: Path) -> None:
    with PairingService(tmp_path, "A001=arm", "A002=arm", "B001=grip", "B002=grip:wired") as setup:
        assert setup.pairs() == {"A001": "B001", "A002": "B002", "B001": "A001", "B002": "A002"}

        assert setup.ask_ok("POST", path("A001"), "B002") == {"paired_with": "B002", "origin": "manual"}
        assert setup.wait_for_event(CHANGED, device_id="A002")["data"]["paired_with"] is None
        assert setup.wait_for_event(CHANGED, device_id="A001")["data"]["dropped"] == "B001"
        assert setup.pairs() == {"A001": "B002", "A002": None, "B001": None, "B002": "A001"}
        assert setup.ask_ok("POST", path("A002"), {"device_id": "B001"})["paired_with"] == "B001"


@pytest.mark.parametrize("word", ["grip:wired", "grip:wireless", "pen"])
def test_every_handle_can_be_paired(tmp_path: Path, word: str) -> None:
    with PairingService(tmp_path, "C001=compact") as setup:
        setup.plug(f"B001={word}")

        assert setup.pairs() == {"C001": "B001", "B001": "C001"}


def test_attached_grip_is_paired_first(tmp_path: Path) -> None:
    with PairingService(tmp_path, "B001=grip", "B002=grip") as setup:
        setup.simulate("B001", attached=False)
        setup.advance(0.2)
        setup.wait_for_event("grip-attachment-changed", device_id="B001", attached=False)

        setup.plug("A001=arm")

        assert setup.pairs() == {"B001": None, "B002": ARM, ARM: "B002"}


@pytest.mark.parametrize("named", [ARM, GRIP])
def test_dissolved_pair_is_not_made_again_until_one_half_reconnects(setup: PairingService, named: str) -> None:
    assert setup.ask_ok("DELETE", path(named)) == {"paired_with": None}
    assert setup.wait_for_event(CHANGED)["data"]["paired_with"] is None
    assert setup.ask_ok("DELETE", path(named)) == {"paired_with": None}
    assert setup.pairs() == {ARM: None, GRIP: None}
    for automatic in (False, True):
        setup.ask_ok("POST", "/settings/devices/auto_pairing", body=automatic)
    setup.drain()
    assert setup.pairs() == {ARM: None, GRIP: None}

    setup.unplug(GRIP)
    setup.plug("B001=grip")

    assert setup.pairs() == {ARM: GRIP, GRIP: ARM}


def test_automatic_pairing_setting_applies_at_once(tmp_path: Path) -> None:
    with PairingService(tmp_path, "A001=arm", "B001=grip") as setup:
        setup.ask_ok("POST", "/settings/devices/auto_pairing", body=False)
        setup.unplug(GRIP)
        setup.plug("B002=grip")
        assert setup.pairs() == {ARM: GRIP, "B002": None}

        setup.ask_ok("DELETE", path(ARM))
        setup.ask_ok("POST", "/settings/devices/auto_pairing", body=True)

        setup.wait_for_event(CHANGED, paired_with="B002")
        assert setup.pairs() == {ARM: "B002", "B002": ARM}


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
def test_invalid_pair_is_refused_and_changes_nothing(
    crossed: PairingService, device_id: str, body: object, status: int, says: str
) -> None:
    before = crossed.pairs()

    reply = crossed.ask("POST", path(device_id), body)

    assert reply.status == status
    assert says in reply.json["error"]
    assert crossed.pairs() == before


@pytest.fixture(scope="module")
def crossed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PairingService]:
    """Two arms and two grips, one arm and one grip of them paired by hand."""
    folder = tmp_path_factory.mktemp("state")
    with PairingService(folder, "A001=arm", "A002=arm", "B001=grip", "B002=grip") as running:
        running.ask_ok("POST", path("A001"), "B002")
        yield running


def test_pairing_by_pattern_acts_on_every_match(crossed: PairingService) -> None:
    reply = crossed.ask("POST", path("A*"), {"device_id": "B002"})

    assert reply.status == 409
    first, second = reply.json["results"]
    assert first == {"device_id": "A001", "ok": True, "paired_with": "B002", "origin": "manual"}
    assert (second["device_id"], second["ok"]) == ("A002", False)
    assert crossed.ask("GET", path("A*")).json["results"][0]["device_id"] == "A001"


def test_manual_pair_survives_a_restart_and_a_dissolved_one_does_not(tmp_path: Path) -> None:
    devices = ("A001=arm", "B001=grip", "B002=grip")
    with PairingService(tmp_path, *devices) as setup:
        setup.ask_ok("POST", path(ARM), "B002")
    with PairingService(tmp_path, *devices) as setup:
        assert setup.pairs() == {ARM: "B002", GRIP: None, "B002": ARM}
        assert setup.ask_ok("GET", path(ARM))["origin"] == "manual"
        setup.ask_ok("DELETE", path(ARM))
    with PairingService(tmp_path, *devices) as setup:
        assert setup.ask_ok("GET", path(ARM)) == {"paired_with": GRIP, "origin": "automatic"}


def test_crashed_pairing_manager_keeps_every_pair(setup: PairingService) -> None:
    setup.plug("B002=grip")
    setup.ask_ok("POST", path(ARM), "B002")
    setup.ask_ok("DELETE", path(ARM))
    setup.plug("A002=arm")
    before = setup.pairs()
    assert before == {ARM: None, "B002": None, GRIP: "A002", "A002": GRIP}
    said = len(setup.received_events(CHANGED))

    crash_and_restart(setup.service.system.context.directory, "pairing")

    assert setup.pairs() == before
    assert len(setup.received_events(CHANGED)) == said
    setup.unplug("B002")
    setup.plug("B002=grip")
    assert setup.pairs() == {ARM: "B002", "B002": ARM, GRIP: "A002", "A002": GRIP}


def test_crashed_device_manager_and_device_actor_keep_every_pair(setup: PairingService) -> None:
    for name in ("devices", f"device/{ARM}"):
        crash_and_restart(setup.service.system.context.directory, name)

        assert setup.pairs() == {ARM: GRIP, GRIP: ARM}
    setup.unplug(GRIP)
    setup.plug("B002=grip")
    assert setup.pairs() == {ARM: "B002", "B002": ARM}
