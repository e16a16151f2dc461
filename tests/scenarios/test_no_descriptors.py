"""The service has no file descriptors left: sessions continue, one log line, later connections are accepted again."""

from __future__ import annotations

import resource
import sys
from contextlib import ExitStack
from typing import Final

import psutil
import pytest

from tests.support.clients.raw_websocket import RawWebSocket, connect_tcp
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

SPARE: Final = 5
CLIENTS: Final = 40
LINE: Final = "No new connection can be accepted"


@pytest.mark.skipif(sys.platform != "linux", reason="sets the limit of another process")
def test_shortage_of_descriptors_keeps_sessions_and_is_logged_once() -> None:
    with RunningService(simulate="arm") as service, ExitStack() as stack:
        process = psutil.Process(service.process.pid)
        peer = stack.enter_context(RawWebSocket(service.ws))
        peer.frame()
        before = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (process.num_fds() + SPARE, before[1]))
        with ExitStack() as clients:
            for _ in range(CLIENTS):
                clients.enter_context(connect_tcp(service.http))
            eventually(lambda: LINE in service.log, "the shortage is logged", pause_s=0.02)
            for _ in range(100):
                assert "errors" not in peer.ask({})
            # Half-open connections make room for those that wait.
            assert service.request("GET", "/version")[0] == 200
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
        assert service.request("GET", "/version")[0] == 200
        with RawWebSocket(service.ws) as later:
            assert later.frame()["session_id"] > 0
        assert service.log.count(LINE) == 1
        assert "Traceback" not in service.log
