"""A thousand idle connections cost a good client nothing, and all resources are released."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Final

import psutil

from bench.support.machine import memory_mib
from tests.support.clients.hostile import Cast, Good, Worker
from tests.support.clients.peer import connected
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from transport.limits import Limits

CROWD: Final = 1_000
GROWTH_MIB: Final = 16.0
BEGINNINGS: Final = (
    b"",
    b"GET /version HT",
    b"POST /stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{",
    b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n",
)


def test_a_thousand_idle_connections_cost_a_good_client_nothing_and_are_given_back() -> None:
    with RunningService(simulate="arm") as service:
        process = psutil.Process(service.process.pid)
        (arm,) = (device["device_id"] for device in service.request("GET", "/devices")[1]["arm"])
        good = Good(Cast(service.ws, service.ws_v30, arm, arm, {}))
        with Worker("good", good.run), ExitStack() as crowd:
            assert good.opened.wait(60)
            before, used = process.num_fds(), memory_mib(process.pid, "RssAnon")
            for number in range(CROWD):
                idle = connected(service.http)
                crowd.callback(idle.close)
                idle.sendall(BEGINNINGS[number % len(BEGINNINGS)])
            at = good.frames
            eventually(lambda: good.frames > at + 200, "the good client's frames go on", pause_s=0.01, tries=3000)

            assert service.request("GET", "/version")[0] == 200
            kept = before + Limits().plain_connections + 8
            eventually(lambda: process.num_fds() <= kept, "only so many idle connections are kept", pause_s=0.02)
            crowd.close()
            eventually(lambda: process.num_fds() <= before + 2, "every descriptor is back", pause_s=0.02)
        assert memory_mib(process.pid, "RssAnon") < used + GROWTH_MIB
        assert service.is_running()
        assert "Traceback" not in service.log
