"""Force that gaps of the loop interrupt is told: event, log line, metrics, `/readyz` and `/devices`; frames do not show it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from actors.control import timekeeper
from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import exchange
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem

KIND = "device-force-interrupted"
# 2.5 ms periods: slow enough for a busy machine, and one tick in 40 is 100 ms after the one before.
SLOW = {"control/frequency": 400, "sessions/command_timeout": 0.5}
STARVED = 0.025
# Facts after 0.4 s instead of 1 s.
TURNS = 80
FORCE = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 0.5}}}
FIELDS = {"interrupted_s", "force_lost", "gaps", "longest_ms"}


def sample(page: str, name: str, **labels: str) -> float:
    """The value of a sample on the metrics page."""
    (found,) = (
        one.value
        for family in text_string_to_metric_families(page)
        for one in family.samples
        if one.name == name and labels.items() <= one.labels.items()
    )
    return float(found)


def test_interrupted_force_is_told_once_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(timekeeper, "FACTS_EVERY", TURNS)
    with (
        caplog.at_level(logging.WARNING, "actors.control.actor"),
        RunningSystem(tmp_path, settings=SLOW) as system,
        EventClient(system.events, kinds=KIND) as listener,
        connect(f"{system.ws}/", compression=None, proxy=None) as client,
    ):
        client.recv()
        arm = system.arm.device_id

        def frame(commands: object) -> Any:
            client.send(json.dumps({"arm": [{"device_id": arm, "commands": commands}]}))
            return json.loads(client.recv())

        def get(path: str) -> Any:
            return exchange(system.http, "GET", path).json

        before = frame({})
        assert set(get("/devices")["arm"][0]["interruptions"]) == FIELDS
        assert exchange(system.http, "POST", "/simulation/loop", {"ratio": STARVED}).status == 200

        def told() -> bool:
            frame(FORCE)
            return bool(listener.received_events(KIND, cause="ticks_left_out"))

        eventually(told, "the lost force is told", pause_s=0.02, tries=1_000)

        event = listener.received_events(KIND, cause="ticks_left_out")[0]
        assert (event["category"], event["level"]) == ("device", "warning")
        assert event["data"]["device_id"] == arm
        assert event["data"]["gaps"] >= 1
        assert event["data"]["interrupted_s"] > 0
        assert 0 < event["data"]["force_lost"] <= 1
        assert event["data"]["longest_ms"] > 50

        ready = exchange(system.http, "GET", "/readyz")
        assert (ready.status, ready.json["status"]) == (200, "ready")
        (shown,) = ready.json["interruptions"]
        assert (shown["device_id"], shown["cause"]) == (arm, "ticks_left_out")

        (entry,) = get("/devices")["arm"]
        assert entry["interruptions"]["interrupted_s"] > 0
        assert 0 < entry["interruptions"]["force_lost"] <= 1
        assert set(get(f"/arm/{arm}")["interruptions"]) == FIELDS
        assert get("/3.0/devices")["arm"][arm]["interruptions"]["gaps"] >= 1
        assert "interruptions" not in get("/devices")["grip"][0]

        page = exchange(system.http, "GET", "/metrics").body.decode()
        assert sample(page, "hapticd_force_interrupted_seconds_total", device_id=arm) > 0
        assert sample(page, "hapticd_force_gap_seconds_bucket", device_id=arm, le="+Inf") >= 1

        after = frame(FORCE)
        assert set(after) == set(before)
        assert set(after["arm"][0]) == set(before["arm"][0])
        assert "interruptions" not in json.dumps(after)

        assert exchange(system.http, "POST", "/simulation/loop", {"ratio": 1}).status == 200
    lines = [record.getMessage() for record in caplog.records if "without its force" in record.getMessage()]
    assert len(lines) == len(listener.received_events(KIND)) == 1
    assert arm in lines[0]
