"""Full disk at start: sessions open and work, and the service reports what it cannot store."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.settings.state_directory import StateDirectory
from tests.support.clients.exchange import exchange
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService

REASON = os.strerror(errno.ENOSPC)


def refuse(_descriptor: int) -> None:
    raise OSError(errno.ENOSPC, REASON)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """Full, but for the token, until it is undone."""
    StateDirectory(tmp_path).token()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        yield patch


def test_full_disk_at_start_is_reported_by_readyz_and_sessions_open(disk: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with InProcessService(tmp_path, settings={"control/frequency": 1000}) as service:
        answer = exchange(service.http, "GET", "/readyz")
        assert answer.status == 503
        assert REASON in answer.json["error"]
        with RawWebSocket(service.ws) as first, RawWebSocket(service.ws) as second:
            ids = [peer.frame()["session_id"] for peer in (first, second)]
            assert ids[1] == ids[0] + 1
            assert "errors" not in first.ask({})

        disk.undo()
        with RawWebSocket(service.ws) as later:
            assert later.frame()["session_id"] > ids[1]
            assert "errors" not in later.ask({"session": {"configure": {"profile": {"name": "stored"}}}})
            assert exchange(service.http, "GET", "/readyz").status == 200


def test_profile_that_cannot_be_stored_is_named_in_the_frame(disk: pytest.MonkeyPatch, tmp_path: Path) -> None:
    declared = {"session": {"configure": {"profile": {"name": "drill"}}}}
    with InProcessService(tmp_path, settings={"control/frequency": 1000}) as service, RawWebSocket(service.ws) as peer:
        session_id = peer.frame()["session_id"]
        (error,) = peer.ask(declared)["errors"]
        assert error["path"] == "session.configure.profile"
        assert REASON in error["reason"]
        assert exchange(service.http, "GET", f"/sessions/{session_id}/profile").json["name"] == "drill"

        disk.undo()
        assert "errors" not in peer.ask({"session": {"configure": {"profile": {"name": "saw"}}}})
