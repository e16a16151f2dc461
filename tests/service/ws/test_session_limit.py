"""The limit of open sessions: one more is refused at the handshake."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.clients.raw_websocket import RawWebSocket, connect_tcp, handshake_request
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually


def test_session_over_the_limit_is_refused_until_another_closes(tmp_path: Path) -> None:
    settings = {"communication/max_sessions": 2, "simulation/settle_time": 0.01}
    with InProcessService(tmp_path / "state", stepping=True, settings=settings) as service:
        with RawWebSocket(service.ws) as one, RawWebSocket(service.ws) as two:
            ids = [peer.frame()["session_id"] for peer in (one, two)]

            with connect_tcp(service.ws) as raw:
                raw.sendall(handshake_request(service.ws))
                head, _, body = raw.recv(65536).partition(b"\r\n\r\n")
            assert head.split()[1] == b"503"
            assert b"retry-after: 1" in head.lower()
            assert json.loads(body) == {
                "ok": False,
                "error": "All 2 session slots are taken: close a session and try again.",
                "data": None,
            }

            assert [peer.ask({})["session_id"] for peer in (one, two)] == ids
            one.close()
            eventually(lambda: len(service.system.sessions.value.sessions) == 1, "one has gone", pause_s=0.005)
            service.step(2)
            with RawWebSocket(service.ws) as three:
                assert three.frame()["session_id"] > ids[1]
        service.wait_for_sessions()
