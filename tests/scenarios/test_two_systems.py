"""Two systems in one process share no session id, setting, metric, event, stop, crash or shutdown."""

from __future__ import annotations

from pathlib import Path

from tests.support.clients.event_client import EventClient
from tests.support.clients.streaming_clients import StreamingClients
from tests.support.service.actor_faults import crash_and_restart
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem

CLIENTS = 2
FRAMES = 100
ZERO = (0.0, 0.0, 0.0)
KINDS = "session-opened,session-closed,session-updated,device-connected,device-disconnected,device-safety-triggered"
BASE = ("settings", "events", "fastpath", "devices", "sessions")


def test_two_systems_in_one_process_are_independent(tmp_path: Path) -> None:
    with (
        RunningSystem(tmp_path / "quiet") as quiet,
        EventClient(quiet.events, kinds=KINDS) as listener,
        StreamingClients(quiet.ws, CLIENTS) as undisturbed,
    ):
        listener.wait_for_event("session-opened", session_id=undisturbed.session_ids[-1])
        heard, actors = list(listener.events), {name: quiet.directory.ref(name) for name in quiet.directory.names()}
        started_ns = eventually(lambda: int(quiet.runtime.loop_state()["started_ns"]), "the loop shows when it began")
        with RunningSystem(tmp_path / "loud") as loud, StreamingClients(loud.ws, CLIENTS) as clients:
            assert clients.session_ids == undisturbed.session_ids
            assert quiet.runtime.slots() == loud.runtime.slots()

            assert loud.ask("POST", "/settings/simulation/seed", 7).status == 200
            assert loud.ask("POST", "/stop").status == 200
            for name in BASE:
                crash_and_restart(loud.directory, name)
            both_pass(clients, undisturbed)

            assert loud.force() == ZERO
            eventually(lambda: quiet.force() != ZERO, "the other is not stopped", pause_s=0.002, tries=5_000)
            assert quiet.ask("GET", "/stop").json["stopped"] is False
            assert quiet.ask("GET", "/settings/simulation/seed").json["data"]["value"] == 0
            for name in BASE:
                assert loud.metric("hapticd_actor_restarts_total", actor=name) == 1
                assert quiet.metric("hapticd_actor_restarts_total", actor=name) == 0

        undisturbed.wait_frames(FRAMES)
        assert {name: quiet.directory.ref(name) for name in quiet.directory.names()} == actors
        assert all(ref is not None and ref.is_alive() for ref in actors.values())
        assert int(quiet.runtime.loop_state()["started_ns"]) == started_ns
        newcomer = undisturbed.join(quiet.ws)
        listener.wait_for_event("session-opened", session_id=newcomer.session_id)
        assert listener.events[:-1] == heard


def both_pass(*crowds: StreamingClients) -> None:
    """Frames pass in all."""
    for clients in crowds:
        clients.wait_frames(FRAMES)
