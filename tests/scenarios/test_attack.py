"""All attacks at once for a few seconds: a good client gets each of its frames, and a stop is answered."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Final
from urllib.parse import urlsplit

from bench.support.machine import memory_mib
from tests.support.clients.attack_programs import PipelineAttack, SteadyClientProgram
from tests.support.clients.http_attack import connection_flood, get_loops, slow_readers
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

FRAMES: Final = 200
MOST_MIB: Final = 150


def test_steady_client_and_stop_are_served_during_all_attacks() -> None:
    with RunningService(simulate="arm") as service, ExitStack() as stack:
        port = urlsplit(service.http).port
        assert port is not None
        (arm,) = (device["device_id"] for device in service.request("GET", "/devices")[1]["arm"])
        steady = stack.enter_context(SteadyClientProgram(service.ws, arm, 500))
        attackers = [
            stack.enter_context(connection_flood(port)),
            stack.enter_context(slow_readers(port, 50)),
            stack.enter_context(get_loops(port, ("/metrics", "/openapi.json"), 2, processes=1)),
        ]
        ahead = stack.enter_context(PipelineAttack(service.ws, 30, 64))
        eventually(
            lambda: all(attack.counts()["connections"] for attack in attackers), "every attack has begun", pause_s=0.05
        )
        steady.report()
        frames = 0
        while frames < FRAMES:
            for method in ("POST", "DELETE"):
                assert service.request(method, "/stop")[0] == 200
            frames += steady.report()["frames"]

        assert ahead.stop() > 0
        assert memory_mib(service.process.pid, "VmHWM") < MOST_MIB
        assert "Traceback" not in service.log
