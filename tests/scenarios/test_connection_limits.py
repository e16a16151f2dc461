"""A thousand idle connections cost a good client nothing, and all resources are released."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Final

import psutil

from bench.support.machine import memory_mib
from tests.support.clients.bad_client_kinds import ClientTargets, ClientThread, GoodClient
from tests.support.clients.raw_websocket import connect_tcp
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from transport.limits import EdgeLimits

CLIENTS: Final = 1_000
GROWTH_MIB: Final = 16.0
BEGINNINGS: Final = (
    b"",
    b"GET /version HT",
    b"POST /stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{",
    b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n",
)


def test_thousand_idle_connections_do_not_slow_a_good_client_and_are_released() -> None:
    with RunningService(simulate="arm") as service:
        process = psutil.Process(service.process.pid)
        (arm,) = (device["device_id"] for device in service.request("GET", "/devices")[1]["arm"])
        good = GoodClient(ClientTargets(service.ws, service.ws_v30, arm, arm, {}))
        with ClientThread("good", good.run), ExitStack() as clients:
            assert good.opened.wait(60)
            before, used = process.num_fds(), memory_mib(process.pid, "RssAnon")
            for number in range(CLIENTS):
                idle = connect_tcp(service.http)
                clients.callback(idle.close)
                idle.sendall(BEGINNINGS[number % len(BEGINNINGS)])
            at = good.frames
            eventually(lambda: good.frames > at + 200, "the good client's frames go on", pause_s=0.01, tries=3000)

            assert service.request("GET", "/version")[0] == 200
            kept = before + EdgeLimits().plain_connections + 8
            eventually(lambda: process.num_fds() <= kept, "only so many idle connections are kept", pause_s=0.02)
            clients.close()
            eventually(lambda: process.num_fds() <= before + 2, "every descriptor is back", pause_s=0.02)
        assert memory_mib(process.pid, "RssAnon") < used + GROWTH_MIB
        assert service.is_running()
        assert "Traceback" not in service.log
