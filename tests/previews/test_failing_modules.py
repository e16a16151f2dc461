"""A module that raises is closed for that session only; other sessions and other modules continue."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from actors.modules.hfx import Effects
from actors.modules.module import LISTED, Device, Part, Place, WordTable
from actors.modules.registry import ModuleRegistry
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService


class Torn(Part):
    """Fails in the step that the command names."""

    def __init__(self) -> None:
        self.shown: object = 0

    def take(self, place: Place, word: str, value: object, device: Device | None) -> None:
        del place, word, device
        if value == "take":
            raise RuntimeError("torn")
        self.shown = {"state": object(), "long": "x" * 5000}.get(str(value), value)

    def state(self, device: Any) -> dict[str, object]:
        return {"torn": self.shown, "not_mine": 1} if device.has_motors else {}

    def close(self) -> None:
        raise RuntimeError("torn")


class TornModule:
    name = "torn"
    setting = LISTED
    words = WordTable(commands=("tear",), state=("torn",))

    def read(self, sent: Any) -> object:
        if sent.value == "read":
            raise RuntimeError("torn")
        return sent.value

    def open(self, session: Any) -> Part:
        del session
        return Torn()


def tear(client: RawWebSocket, where: str) -> Any:
    return client.ask({"arm": [{"device_id": "A001", "commands": {"tear": where}}]})


@pytest.mark.parametrize("where", ["read", "take", "state", "long"])
def test_failing_module_affects_no_other_session_or_module(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    modules = ModuleRegistry([TornModule(), Effects()])
    with (
        InProcessService(tmp_path, stepping=True, modules=modules) as service,
        RawWebSocket(service.ws) as client,
        RawWebSocket(service.ws) as other,
        caplog.at_level(logging.ERROR),
    ):
        http = HttpClient(service.http)
        http.post("/settings/features/modules/enabled", {"value": ["torn"]})
        http.post("/settings/features/hfx/enabled", {"value": True})
        client.frame()
        other.frame()
        assert tear(client, "fine")["arm"][0]["state"]["torn"] == "fine"

        frame = tear(client, where)

        fails_in_frame = where in {"state", "long"}
        assert ("errors" in frame) is not fails_in_frame
        assert ("torn" in frame["arm"][0]["state"]) is (where == "read")
        assert frame["arm"][0]["state"]["hfx"] == {}
        assert "not_mine" not in frame["arm"][0]["state"]
        assert tear(other, "fine")["arm"][0]["state"]["torn"] == "fine"
        if where != "read":
            assert "module torn is not there" in tear(client, "fine")["errors"][0]["reason"]
        http.post("/settings/features/modules/enabled", {"value": []})
        assert "torn" not in client.ask({})["arm"][0]["state"]
        http.post("/settings/features/modules/enabled", {"value": ["torn"]})
        assert "torn" in client.ask({})["arm"][0]["state"]
    assert any("module torn failed" in message for message in caplog.messages)
