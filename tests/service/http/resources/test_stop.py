"""`/stop`: acts whatever the body is, is on the disk before it is answered, and reports a failed write."""

from __future__ import annotations

import logging

import pytest

from actors.device.messages import MANAGER
from actors.kit.errors import Busy, HapticError, StateNotWritable
from actors.settings.ledger import Ledger
from actors.settings.messages import STORE
from actors.settings.state_directory import StateDirectory
from actors.values.identity import Kind
from tests.service.edge_server import EdgeServer, replace_by_failing

FREE: dict[str, object] = {"stopped": False, "everything": False, "devices": []}
HELD: dict[str, object] = {"stopped": True, "everything": True, "devices": ["049D", "05C0"]}


@pytest.fixture
def rig(rig: EdgeServer) -> EdgeServer:
    rig.add_device("049D")
    rig.add_device("05C0", Kind.COMPACT)
    rig.add_device("1605", Kind.GRIP)
    return rig


def test_a_stop_is_shown_and_released(rig: EdgeServer) -> None:
    assert rig.get("/stop").json == FREE
    assert rig.ask("POST", "/stop").json == HELD
    assert rig.get("/stop").json == HELD
    assert rig.ask("POST", "/stop").json == HELD
    assert rig.ask("DELETE", "/stop").json == FREE
    assert rig.get("/stop").json == FREE


def test_stop_answer_can_be_enveloped(rig: EdgeServer) -> None:
    assert rig.ask("POST", "/stop?format=json").json == {"ok": True, "error": None, "data": HELD}


def test_stop_is_on_disk_before_the_answer(rig: EdgeServer, folder: StateDirectory) -> None:
    rig.ask("POST", "/stop")

    assert Ledger.load(folder).section("stop") == {"everything": True, "device_ids": (), "released": ()}


@pytest.mark.parametrize("body", [b"", b"not json", b"\xff", b"null", b'{"device_id": "049D"}', b"[" * 5000])
def test_stop_is_accepted_with_any_body(rig: EdgeServer, body: bytes) -> None:
    assert rig.ask("POST", "/stop", raw=body).json == HELD


def test_stop_without_devices_applies_to_later_ones(rig: EdgeServer) -> None:
    rig.inventory.replace(type(rig.inventory.value)())

    assert rig.ask("POST", "/stop").json == {"stopped": True, "everything": True, "devices": []}
    rig.add_device("06AA")
    assert rig.get("/stop").json["everything"] is True


def test_single_device_can_be_stopped_alone(rig: EdgeServer) -> None:
    rig.ask("POST", "/arm/049D/stop")

    assert rig.get("/stop").json == {"stopped": True, "everything": False, "devices": ["049D"]}


FULL = StateNotWritable("/state", "disk full")


@pytest.mark.parametrize(
    ("method", "says", "error", "status"),
    [
        ("POST", "Everything is stopped, but", FULL, 507),
        ("DELETE", "The stop is released, but", FULL, 507),
        ("DELETE", "The stop is released, but", Busy(), 503),
    ],
    ids=["stop on a full disk", "release on a full disk", "release on a slow disk"],
)
def test_stop_with_a_failed_write_applies_and_says_so(
    rig: EdgeServer, method: str, says: str, error: HapticError, status: int
) -> None:
    replace_by_failing(rig, STORE, error)

    reply = rig.ask(method, "/stop")

    assert reply.status == status
    assert reply.error.startswith(says)
    assert set(rig.runtime.stopped.values()) == {method == "POST"}


@pytest.mark.parametrize("path", ["/stop", "/arm/049D/stop"])
def test_stop_is_answered_before_a_slow_disk_has_it(rig: EdgeServer, path: str) -> None:
    assert "stored" not in rig.ask("POST", path).json
    replace_by_failing(rig, STORE, Busy())

    reply = rig.ask("POST", path)

    assert reply.status == 200
    assert (reply.json["stopped"], reply.json["stored"]) == (True, False)
    assert rig.runtime.stopped["049D"]


def test_absent_stopped_device_is_still_named(rig: EdgeServer) -> None:
    rig.ask("POST", "/arm/049D/stop")
    here = rig.inventory.value
    rig.inventory.replace(type(here)(tuple(one for one in here.devices if one.device_id != "049D")))

    assert rig.get("/stop").json == {"stopped": True, "everything": False, "devices": ["049D"]}


def test_absent_device_stays_stopped_when_another_is_released(rig: EdgeServer) -> None:
    here = rig.inventory.value
    rig.ask("POST", "/stop")
    rig.inventory.replace(type(here)(tuple(one for one in here.devices if one.device_id != "049D")))
    rig.ask("DELETE", "/compact/05C0/stop")
    rig.inventory.replace(here)

    assert rig.get("/stop").json == {"stopped": True, "everything": True, "devices": ["049D"]}


def test_stop_works_without_the_device_manager(rig: EdgeServer) -> None:
    replace_by_failing(rig, MANAGER, Busy())

    assert rig.ask("POST", "/stop").json == HELD
    assert rig.get("/stop").json == HELD
    assert rig.ask("DELETE", "/stop").json == FREE


def test_each_stop_leaves_one_audit_line(rig: EdgeServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="hapticd.audit"):
        rig.ask("POST", "/stop")
        rig.ask("GET", "/stop")
        rig.ask("DELETE", "/stop")
        rig.ask("POST", "/compact/0/stop")
        rig.ask("DELETE", "/haptic*/*/stop")

    assert caplog.messages == [
        "peer=127.0.0.1 session=- stop of everything",
        "peer=127.0.0.1 session=- stop of everything released",
        "peer=127.0.0.1 session=- stop of 05C0",
        "peer=127.0.0.1 session=- stop of 049D, 05C0 released",
    ]
