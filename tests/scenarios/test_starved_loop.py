"""A loop starved over HTTP raises each rate event once and recovers when ticks are allowed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.control import timekeeper
from actors.control.messages import RateStage
from tests.support.clients.event_client import Event, EventClient
from tests.support.clients.exchange import exchange
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem

KINDS = "control-rate-low,control-rate-critical"
# Slow enough that every tick runs on a busy machine too.
SLOW = {"control/frequency": 400}
# Windows of 0.4 s instead of 1 s: the rule is the same, the test is short.
TURNS = 80
# Of what a busy machine may spoil: a hole of 0.12 s makes of a low rate a critical one.
ATTEMPTS = 20


@pytest.mark.promise(202, "A loop that is too slow raises `control-rate-low`, then `control-rate-critical`")
def test_starved_loop_raises_low_then_critical_and_nothing_on_recovery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timekeeper, "FACTS_EVERY", TURNS)
    with RunningSystem(tmp_path, settings=SLOW) as system, EventClient(system.events, kinds=KINDS) as listener:

        def left(ratio: float) -> None:
            assert exchange(system.http, "POST", "/simulation/loop", {"ratio": ratio}).json == {"ratio": ratio}

        def stage() -> RateStage:
            return system.system.loop_watch.value.stage

        def told() -> list[Event]:
            """What is said while more and more ticks are left out, until all run again."""
            before, criticals = len(listener.events), len(listener.received_events("control-rate-critical"))
            left(0.7)
            eventually(lambda: stage() is not RateStage.ENOUGH, "the rate is low", pause_s=0.01)
            left(0.3)
            eventually(
                lambda: len(listener.received_events("control-rate-critical")) > criticals,
                "it is critical",
                pause_s=0.01,
            )
            left(1)
            eventually(lambda: stage() is RateStage.ENOUGH, "the rate is back", pause_s=0.01)
            return listener.events[before:]

        def each_once() -> list[Event] | None:
            events = told()
            names = [event["name"] for event in events]
            return events if names == ["control-rate-low", "control-rate-critical"] else None

        low, critical = eventually(each_once, "it is low, then critical, each once", tries=ATTEMPTS, pause_s=0)
        assert (low["category"], low["level"]) == ("system", "warning")
        assert (critical["category"], critical["level"]) == ("system", "error")
        for event, most in ((low, 0.9), (critical, 0.5)):
            assert event["data"]["target_hz"] == 400
            assert set(event["data"]) == {"target_hz", "measured_hz"}
            assert event["data"]["measured_hz"] < most * 400


def test_a_loop_without_devices_is_not_starved(tmp_path: Path) -> None:
    with RunningSystem(tmp_path, simulated=()) as system:
        refused = exchange(system.http, "POST", "/simulation/loop", {"ratio": 0.5})
        whole = exchange(system.http, "POST", "/simulation/loop", {"ratio": 1})

        assert refused.status == 409
        assert "--simulate" in refused.json["error"]
        assert (whole.status, whole.json) == (200, {"ratio": 1})
