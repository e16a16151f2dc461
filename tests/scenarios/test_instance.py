"""The random id of a running service: the same in `/version` and in every handshake, another one after a restart."""

from __future__ import annotations

import re
import socket
from urllib.parse import urlsplit

from tests.support.local.connection import LocalConnection
from tests.support.service.process import RunningService

TIMEOUT_S = 60.0


def handshake_instance(url: str) -> str:
    """Value of the header in the answer to a WebSocket handshake."""
    parts = urlsplit(url)
    request = (
        f"GET / HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    with (
        socket.create_connection((parts.hostname or "", parts.port or 0), TIMEOUT_S) as connection,
        connection.makefile("rb") as answer,
    ):
        connection.sendall(request.encode())
        head = b"".join(iter(answer.readline, b"\r\n")).decode()
    assert head.startswith("HTTP/1.1 101"), head
    (instance,) = re.findall(r"^X-Hapticd-Instance: (\S+)\r$", head, re.MULTILINE)
    return str(instance)


def version_instance(service: RunningService) -> str:
    status, version = service.request("GET", "/version")
    assert status == 200
    return str(version["instance"])


def test_version_handshakes_and_local_clients_name_one_instance_and_a_restart_another() -> None:
    with RunningService() as service:
        first = version_instance(service)
        assert re.fullmatch(r"[0-9a-f]{16}", first)
        assert {handshake_instance(url) for url in (service.ws, service.ws_v30, service.events)} == {first}
        with LocalConnection(service.state_dir) as client:
            assert client.opened["instance"] == first

        assert service.stop() == 0
        service.start()

        second = version_instance(service)
        assert second != first
        assert handshake_instance(service.ws) == second
