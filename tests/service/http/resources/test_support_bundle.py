"""`/support-bundle`: its files, one at a time, base64 in the envelope, and what is said when a part is away."""

from __future__ import annotations

import base64
import io
import json
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from actors.event.hub import EventHub
from actors.event.hub_state import HubState
from actors.event.messages import HUB, Emit
from fastpath.text.encoder import encode_json
from tests.service.edge_server import TIMEOUT_S, EdgeServer, Reply
from transport.bundle_archive import CONTENTS, README
from transport.http.support import Support


@pytest.fixture
def rig(rig: EdgeServer) -> EdgeServer:
    rig.edge.support.doctor = lambda _: "ok       realtime: granted\n"
    return rig


def unpacked(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        return {name: zipped.read(name).decode() for name in zipped.namelist()}


def test_bundle_has_its_fixed_files(rig: EdgeServer) -> None:
    rig.start_actor(EventHub.start(rig.context, encode_json, HubState()))
    rig.context.directory.tell(HUB, Emit("session-opened", {"session_id": 7, "profile": "x"}, "session 7 opened"))
    rig.add_session(7)
    reply = rig.get("/support-bundle")

    assert reply.status == 200
    assert reply.headers["content-type"] == "application/zip"
    assert reply.headers["content-disposition"].startswith('attachment; filename="hapticd-support-')
    found = unpacked(reply.body)
    assert list(found) == [README, *CONTENTS]
    assert found["doctor.txt"] == "ok       realtime: granted\n"
    assert json.loads(found["events.jsonl"])["name"] == "session-opened"
    assert json.loads(found["sessions.json"]) == {
        "session_count": 1,
        "sessions": [{"session_id": 7, "frames_sent": 12, "commands_received": 11}],
    }
    assert json.loads(found["settings.json"])["control/frequency"]["default"] > 0
    assert "hapticd_ready" in found["metrics.txt"]


def test_envelope_has_the_bundle_in_base64(rig: EdgeServer) -> None:
    reply = rig.get("/support-bundle?format=json")

    assert README in unpacked(base64.b64decode(reply.json["data"]))


def test_bundle_is_made_without_the_actor_of_events(rig: EdgeServer) -> None:
    found = unpacked(rig.get("/support-bundle").body)

    assert "Nobody answers" in json.loads(found["events.jsonl"])["error"]


def test_second_bundle_is_refused_while_the_first_is_made_and_other_requests_are_answered(rig: EdgeServer) -> None:
    begun, go = threading.Event(), threading.Event()

    def held(_support: Support) -> str:
        begun.set()
        assert go.wait(TIMEOUT_S)
        return "done"

    rig.edge.support.doctor = held
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(rig.get, "/support-bundle")
        assert begun.wait(TIMEOUT_S)
        try:
            second: Reply = rig.get("/support-bundle")
            assert rig.get("/version").status == 200
        finally:
            go.set()

    assert second.status == 503
    assert second.error == "A support bundle is being made already: ask again in a few seconds."
    assert second.headers["retry-after"] == "1"
    assert first.result().status == 200
    assert rig.get("/support-bundle").status == 200


def test_bundle_can_be_made_again_after_one_failed(rig: EdgeServer) -> None:
    doctor = rig.edge.support.doctor

    def broken(_support: Support) -> str:
        raise RuntimeError("a fault of the doctor")

    rig.edge.support.doctor = broken
    assert rig.get("/support-bundle").status == 500
    rig.edge.support.doctor = doctor

    assert rig.get("/support-bundle").status == 200
