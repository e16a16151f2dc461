"""Effective settings of one device, and vocabulary of error sentences."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from actors.device.messages import SimulatedSpec
from actors.values.identity import Connection, Kind
from tests.support.clients.exchange import exchange
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService

DEVICES = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A001"),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, "C001"),
)
WORDS = {"neutral": "compact_zup", "inverse": "minverse_zup"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    with InProcessService(tmp_path_factory.mktemp("state"), simulated=DEVICES, stepping=True) as running:
        yield running


def test_device_setting_shows_the_value_of_its_kind(service: InProcessService) -> None:
    of_type, of_device = (f"/settings/devices/{who}/filters/force_gate/gain" for who in ("arm", "A001"))
    assert exchange(service.http, "POST", of_type, 0.75).status == 200

    shown = exchange(service.http, "GET", of_device).json["data"]
    reset = exchange(service.http, "DELETE", of_device).json["data"]
    other = exchange(service.http, "GET", of_device.replace("A001", "C001")).json["data"]
    exchange(service.http, "DELETE", of_type)

    assert (shown["value"], shown["effective"], shown["default"]) == (0.75, 0.75, 0.3)
    assert reset == shown
    assert other["effective"] == 0.3


@pytest.mark.parametrize("vocabulary", ["neutral", "inverse"])
def test_refusal_names_presets_in_the_client_s_vocabulary(service: InProcessService, vocabulary: str) -> None:
    (other,) = set(WORDS.values()) - {WORDS[vocabulary]}
    path = f"/compact/C001/config/preset?session=default&vocabulary={vocabulary}"

    over_http = exchange(service.http, "POST", path, "compact_zupp").json["error"]
    with RawWebSocket(service.ws, {"vocabulary": vocabulary}) as peer:
        peer.frame()
        (error,) = peer.ask({"compact": [{"device_id": "C001", "configure": {"preset": "compact_zupp"}}]})["errors"]

    assert WORDS[vocabulary] in over_http
    assert other not in over_http
    assert other not in error["reason"]
    assert f"did you mean {WORDS[vocabulary]}?" in error["reason"]
