"""Thousands of requests generated from the OpenAPI description: no check fails, no answer is 5xx.

Each route has a service of its own, which starts from an empty state directory. `make test` sends forty cases to each route,
`make fuzz` five hundred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
import requests
from hypothesis import settings as hypothesis_settings
from schemathesis.generation import GenerationMode

from tests.support.service.process import RunningService
from tests.support.service.running_system import RunningSystem
from tests.support.wire.case_constraints import DEVICES
from tests.support.wire.openapi_cases import ONE_KEY, CaseSessions, load_description, one_setting, play, restored
from transport.http.app import HTTP_ROUTES
from transport.http.openapi import path_of
from transport.http.schema.settings import keys

FUZZED: Final = hypothesis_settings().max_examples > 1_000
# Valid and invalid cases of each route, and of one setting.
OF_ROUTE: Final = (375, 125) if FUZZED else (30, 10)
ONE_SETTING: Final = (30, 10) if FUZZED else (2, 1)

# A part of the suite, chosen with -k, says nothing about the share of answers.
ENOUGH: Final = 1_000

PORTS: Final = (
    "communication/http/port",
    "communication/websocket/port",
    "communication/websocket/legacy_port",
    "communication/events/port",
)
PREVIEWS: Final = {"features/session_force_scale/enabled": True, "features/scene/enabled": True}
# Devices that come and go all the time would end in a blocked port, and all further answers would be about that alone.
UNBLOCKED: Final = {**PREVIEWS, "devices/detection/block_on_loop": False}


@dataclass(slots=True)
class Played:
    """The description, with services to send its cases to, and how they were answered so far."""

    folder: Path
    api: Any = None
    answered: Counter[int] = field(default_factory=Counter[int])

    def play(self, method: str, *paths: str, cases: tuple[int, int] = OF_ROUTE) -> None:
        """Send so many valid and invalid cases to each path of one service; valid ones in place of those that there are not."""
        with ExitStack() as stack:
            state = stack.enter_context(TemporaryDirectory(dir=self.folder))
            chosen = UNBLOCKED if paths[0].startswith("/simulation/") else PREVIEWS
            service = stack.enter_context(RunningSystem(Path(state), simulated=DEVICES, settings=chosen))
            clients = stack.enter_context(CaseSessions(service))
            session = stack.enter_context(requests.Session())
            if self.api is None:
                self.api = load_description(service.http)
            self.api.config.update(base_url=service.http)
            for path in paths:
                operation = self.api[path][method]
                valid, invalid = cases
                send = partial(self._send, clients, session, restored(service, path))
                sent = play(operation, GenerationMode.NEGATIVE, invalid, send)
                play(operation, GenerationMode.POSITIVE, valid + invalid - sent, send)

    def _send(self, clients: CaseSessions, session: requests.Session, restore: Callable[[], None], case: Any) -> None:
        clients.reconnect()
        answer = case.call(session=session)
        self.answered[answer.status_code // 100] += 1
        assert answer.headers["cache-control"] == ["no-store"]
        case.validate_response(answer)
        restore()


def operations() -> Iterator[Any]:
    """One parameter for each route."""
    for route in HTTP_ROUTES:
        if (route.method, path_of(route)) != ("POST", ONE_KEY):
            yield pytest.param(path_of(route), route.method, id=f"{route.method} {route.shape}")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    found = Played(tmp_path_factory.mktemp("services"))
    yield found
    done, total = found.answered[2], found.answered.total()
    assert found.answered[5] == 0
    assert total < ENOUGH or done * 2 >= total, f"{done} of {total} cases were answered 2xx"


@pytest.fixture(autouse=True)
def nothing_failed(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A request that fails inside is logged with its traceback."""
    yield
    assert [record.getMessage() for record in caplog.get_records("call") if record.exc_info] == []


@pytest.mark.parametrize(("path", "method"), list(operations()))
def test_every_route_matches_its_description(played: Played, path: str, method: str) -> None:
    played.play(method, path)


def test_every_setting_accepts_its_described_values(played: Played) -> None:
    played.play("POST", *(one_setting(key) for key in keys()), cases=ONE_SETTING)


# ---------------------------------------------------------------- routes that take the devices, the loop or the ports away


@pytest.fixture(scope="module")
def alone() -> Iterator[RunningService]:
    with RunningService() as service:
        yield service


@pytest.mark.parametrize("key", PORTS)
@pytest.mark.parametrize("port", [1, 0, 65_535])
def test_stored_port_applies_at_the_next_start(alone: RunningService, key: str, port: int) -> None:
    status, body = alone.request("POST", f"/settings/{key}", port)

    assert (status, body["data"]["value"], body["data"]["metadata"]["locked"]) == (200, port, True)
    assert alone.request("GET", "/readyz")[0] == 200
    assert alone.request("DELETE", f"/settings/{key}")[0] == 200


@pytest.mark.parametrize("key", PORTS)
@pytest.mark.parametrize("port", [-1, 65_536, 1.5, "10001", True, [], {}, 10**30])
def test_invalid_port_is_refused_with_a_sentence(alone: RunningService, key: str, port: object) -> None:
    status, body = alone.request("POST", f"/settings/{key}", port)

    assert status == 400
    assert key in body["error"]


@pytest.mark.parametrize("path", ["/settings/communication/serial/enabled", "/serial_enable"])
def test_serial_ports_are_disabled_and_enabled(alone: RunningService, path: str) -> None:
    for wanted in (False, True):
        body = {"enable": wanted} if path == "/serial_enable" else wanted
        assert alone.request("POST", path, body)[0] == 200
        assert alone.request("GET", "/settings/communication/serial/enabled")[1]["data"]["effective"] is wanted
        assert alone.request("GET", "/readyz")[0] == 200


def test_a_starved_loop_still_answers(alone: RunningService) -> None:
    assert alone.request("POST", "/simulation/loop", {"ratio": 0.5}) == (200, {"ratio": 0.5})
    assert alone.request("POST", "/simulation/loop", {"ratio": 1.5})[0] == 400
    assert alone.request("POST", "/simulation/loop", {"ratio": 1}) == (200, {"ratio": 1})
    assert alone.request("GET", "/readyz")[0] == 200


def test_two_devices_are_paired_manually_and_parted(alone: RunningService) -> None:
    devices = alone.request("GET", "/devices")[1]
    arm, grip = devices["arm"][0]["device_id"], devices["grip"][0]["device_id"]
    path = f"/arm/{arm}/config/paired_with"

    for body in ({"device_id": grip}, grip):
        assert alone.request("POST", path, body) == (200, {"paired_with": grip, "origin": "manual"})
        assert alone.request("GET", f"/grip/{grip}/config/paired_with")[1]["paired_with"] == arm
    for body, status in (({"device_id": arm}, 400), ({"device_id": "nope"}, 404), ({}, 400), (7, 400), ([], 400)):
        refused, answer = alone.request("POST", path, body)
        assert (refused, answer["ok"]) == (status, False)
        assert answer["error"]
    assert alone.request("DELETE", path)[1]["paired_with"] is None


def test_simulated_device_is_added_listed_and_removed(alone: RunningService) -> None:
    status, record = alone.request("POST", "/simulation/devices", {"type": "pen", "device_id": "0F0F"})
    assert (status, record["device_id"]) == (200, "0F0F")
    assert alone.request("POST", "/simulation/devices", {"type": "pen", "device_id": "0F0F"})[0] == 409
    assert alone.request("POST", "/simulation/devices", {"type": "chair"})[0] == 400
    assert alone.request("POST", "/simulation/pen/0F0F", {"attached": False})[0] == 200
    faulty: tuple[object, ...] = ({}, {"fault": "rain"}, {"battery_level": 2}, [], {"hand": {"stiffness": -1}})
    for body in faulty:
        assert alone.request("POST", "/simulation/arm/0", body)[0] == 400, body
    assert alone.request("DELETE", "/simulation/devices/0F0F")[0] == 200
    assert alone.request("DELETE", "/simulation/devices/0F0F")[0] == 404
