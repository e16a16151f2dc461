"""`/devices`: coordinate space, vocabulary and shape of the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from actors.control.messages import GapCounters
from actors.device.messages import Inventory
from actors.session.messages import SessionConfig
from actors.settings.messages import SettingsView
from fastpath.arena.runtime import Lease, Runtime
from tests.service.edge_server import EdgeServer
from transport.http.resources import devices
from transport.wire.device_texts import DeviceTexts
from transport.wire.vocabulary import Vocabulary


def fake_devices_json(
    _texts: DeviceTexts,
    inventory: Inventory,
    runtime: Runtime,
    vocabulary: Vocabulary,
    settings: SettingsView,
    version: str,
    start: SessionConfig | None,
    more: Mapping[str, bytes],
) -> bytes:
    del runtime, more
    settings.flag("serialization/explicit_fields")
    ids = [record.device_id for record in inventory.devices]
    return json.dumps(
        {"devices": ids, "words": vocabulary.name, "version": version, "start": start is not None}
    ).encode()


def no_gaps(_runtime: Runtime, _lease: Lease) -> GapCounters:
    return GapCounters()


@pytest.fixture
def rig(rig: EdgeServer, monkeypatch: pytest.MonkeyPatch) -> EdgeServer:
    monkeypatch.setattr(DeviceTexts, "devices_json", fake_devices_json)
    monkeypatch.setattr(devices, "read_gaps", no_gaps)
    rig.add_device("049D")
    rig.add_session(5, "sim")
    rig.add_session(7, "sim")
    return rig


@pytest.mark.parametrize(
    ("path", "words", "version", "start"),
    [
        ("/devices", "neutral", "3.1", False),
        ("/devices?vocabulary=inverse", "inverse", "3.1", False),
        ("/3.0/devices", "neutral", "3.0", False),
        ("/devices?session=default", "neutral", "3.1", True),
    ],
)
def test_devices_are_in_device_space_or_that_of_a_new_session(
    rig: EdgeServer, path: str, words: str, version: str, start: bool
) -> None:
    assert rig.get(path).json == {"devices": ["049D"], "words": words, "version": version, "start": start}


def test_devices_answer_can_be_enveloped(rig: EdgeServer) -> None:
    assert rig.get("/devices?format=json").json["data"]["devices"] == ["049D"]


@pytest.mark.parametrize(
    ("selector", "session_id"), [("7", 7), ("%237", 7), (":0", 5), ("sim:1", 7), (":-1", 7), ("%3Asim%3A0", 5)]
)
def test_devices_are_in_the_space_of_the_selected_session(rig: EdgeServer, selector: str, session_id: int) -> None:
    shown = rig.get(f"/3.0/devices?session={selector}&vocabulary=inverse").json

    assert shown == {"seen_by": session_id, "words": "inverse", "version": "3.0"}


@pytest.mark.parametrize(
    ("selector", "status"),
    [("8", 404), ("nobody", 404), ("no*", 404), ("", 400), ("default:0", 404), (":default", 404)],
)
def test_selector_without_a_session_is_refused(rig: EdgeServer, selector: str, status: int) -> None:
    reply = rig.get(f"/devices?session={selector}")

    assert reply.status == status
    assert reply.error


@pytest.mark.parametrize("selector", ["sim", "*", "s%2A"])
def test_selector_of_several_sessions_gives_a_result_for_each(rig: EdgeServer, selector: str) -> None:
    assert rig.get(f"/devices?session={selector}").json == {
        "results": [
            {"session_id": session_id, "ok": True, "seen_by": session_id, "words": "neutral", "version": "3.1"}
            for session_id in (5, 7)
        ]
    }


def test_pattern_with_one_match_selects_that_session(rig: EdgeServer) -> None:
    rig.add_session(11, "alone")

    assert rig.get("/devices?session=al*").json == rig.get("/devices?session=11").json


def test_disconnected_session_is_404(rig: EdgeServer) -> None:
    rig.add_session(9, channel=False)

    assert rig.get("/devices?session=9").status == 404
