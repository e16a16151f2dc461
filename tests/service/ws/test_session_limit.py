"""The limit of open sessions: one more is refused at the handshake."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.clients.peer import Peer, connected, handshake
from tests.support.service.inside import ServiceInside
from tests.support.service.polling import eventually


def test_one_session_too_many_is_refused_at_the_handshake_until_another_goes(tmp_path: Path) -> None:
    settings = {"communication/max_sessions": 2, "simulation/settle_time": 0.01}
    with ServiceInside(tmp_path / "state", stepping=True, settings=settings) as service:
        with Peer(service.ws) as one, Peer(service.ws) as two:
            ids = [peer.frame()["session_id"] for peer in (one, two)]

            with connected(service.ws) as raw:
                raw.sendall(handshake(service.ws))
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
            with Peer(service.ws) as three:
                assert three.frame()["session_id"] > ids[1]
        service.sessions_gone()
