"""A module that plays vibrations: felt at the device, limited, not detected as oscillation, and ended with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from actors.modules.hfx import Effects
from actors.modules.module import LISTED, Device, Part, Place, WordTable
from actors.modules.registry import ModuleRegistry
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService

ARM: Final = "A001"
ENABLED: Final = "/settings/features/modules/enabled"


class Buzz(Part):
    """Plays along z what the command says, until it is switched off."""

    def __init__(self) -> None:
        self.playing: dict[str, Device] = {}

    def take(self, place: Place, word: str, value: object, device: Device | None) -> None:
        del place, word
        assert isinstance(value, dict)
        assert device is not None
        device.writer.set_effect(0, (0.0, 0.0, value["newtons"]), value["hertz"])
        self.playing[device.device_id] = device

    def close(self) -> None:
        for device in self.playing.values():
            device.writer.set_effect(0)


class BuzzModule:
    name = "buzz"
    setting = LISTED
    words = WordTable(commands=("buzz",))

    def read(self, sent: Any) -> object:
        return sent.value

    def open(self, session: Any) -> Part:
        del session
        return Buzz()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[InProcessService]:
    modules = ModuleRegistry([BuzzModule(), Effects()])
    with InProcessService(tmp_path, stepping=True, modules=modules) as running:
        http = HttpClient(running.http)
        assert http.post(ENABLED, {"value": ["buzz"]}).status == 200
        assert http.post(f"/simulation/arm/{ARM}", {"hand": {"path": "rest"}}).status == 200
        running.wait(1)
        yield running


def buzz(client: RawWebSocket, newtons: float, hertz: float) -> Any:
    return client.ask({"arm": [{"device_id": ARM, "commands": {"buzz": {"newtons": newtons, "hertz": hertz}}}]})


def felt(service: InProcessService, ticks: int = 600) -> float:
    """N at most along z within some ticks."""
    most = 0.0
    for _ in range(ticks):
        service.step()
        most = max(most, abs(float(service.state(ARM)["force"][2])))
    return most


def test_vibration_plays_without_commands_and_ends_with_its_session(service: InProcessService) -> None:
    with RawWebSocket(service.ws) as client, RawWebSocket(service.ws) as other:
        quiet = client.frame()
        assert felt(service, 10) < 1e-9
        frame = buzz(client, 0.9, 120.0)
        assert "errors" not in frame
        service.wait(0.3)

        assert felt(service) == pytest.approx(0.9, rel=0.05)
        shown, unlike = client.ask({})["arm"][0], other.ask({})["arm"][0]
        assert shown["state"]["control_mode"] == "idle"
        assert set(shown["state"]) == set(quiet["arm"][0]["state"]) == set(unlike["state"])
        state = service.state(ARM)
        assert (int(state["oscillations"]), float(state["severity"])) == (0, 0)
    service.wait_for_sessions()
    service.step(2)
    assert felt(service, 10) < 1e-9


def test_too_strong_vibration_is_limited(service: InProcessService) -> None:
    with RawWebSocket(service.ws) as client:
        client.frame()
        buzz(client, 2.0, 60.0)
        service.wait(0.3)

        # 10 mW at 0.2 kg.
        assert felt(service) == pytest.approx(np.sqrt(0.010 * 2 * 0.2 * 2 * np.pi * 60), rel=0.05)


def test_disabling_the_module_ends_its_vibration(service: InProcessService) -> None:
    with RawWebSocket(service.ws) as client:
        client.frame()
        buzz(client, 0.9, 120.0)
        service.wait(0.1)
        assert felt(service, 100) > 0.5

        assert HttpClient(service.http).post(ENABLED, {"value": []}).status == 200
        client.ask({})
        service.step(2)
        assert felt(service, 10) < 1e-9
        (error,) = buzz(client, 0.9, 120.0)["errors"]
        assert "put buzz in features/modules/enabled first" in error["reason"]
        assert felt(service, 10) < 1e-9


def test_stop_silences_the_vibration(service: InProcessService) -> None:
    with RawWebSocket(service.ws) as client:
        client.frame()
        buzz(client, 0.9, 120.0)
        service.wait(0.1)

        assert HttpClient(service.http).post("/stop", {}).status == 200
        service.step(2)
        assert felt(service, 100) == 0
