"""Kill the service with SIGKILL and restart it: acknowledged values are restored, session ids are never reused."""

from __future__ import annotations

import http.client
import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.process import RunningService

KILLS = 5
SOAK_KILLS = 50
TIMEOUT_S = 60.0
FULL: dict[str, Any] = {"session": {"force_render_full_state": {}}}
SOLID = {
    "position": {"x": 0.5, "y": -0.25, "z": 0.125},
    "rotation": {"w": 0, "x": 0, "y": 1, "z": 0},
    "scale": {"x": 2, "y": 4, "z": 8},
}


def settled(service: RunningService, method: str, path: str, body: object = None) -> Any:
    """The answer, which is a success."""
    status, answer = service.request(method, path, body)
    assert status == 200, answer
    return answer


# ---------------------------------------------------------------- one of everything


def test_profiles_versions_settings_and_start_values_are_restored_and_ids_not_reused(tmp_path: Path) -> None:
    ids: list[int] = []
    with RunningService(state_dir=tmp_path) as service:
        with RawWebSocket(service.ws) as client:
            first = client.frame()
            ids.append(first["session_id"])
            arm = f"/arm/{first['arm'][0]['device_id']}"
            wanted = {"profile": {"name": "café:1"}, "required_sdk_version": "3.4.19"}
            assert "errors" not in client.ask({"session": {"configure": wanted}})
            settled(service, "POST", "/settings/presets/freeform_profiles", ["clay*"])
            settled(service, "POST", "/settings", {"simulation/seed": 77, "sessions/command_timeout": 0.25})
            settled(service, "POST", f"{arm}/config/basis?session=default", "XZ-Y")
            settled(service, "POST", f"{arm}/config/mount?session=default", {"transform": SOLID})
            settled(
                service, "POST", f"{arm}/config/filters?session=default", {"damping": {"scalar": 3}, "force_gate": 1}
            )
            settled(service, "POST", f"{arm}/state/transform?session=default", {"scale": 2})
            settled(service, "POST", f"/sessions/{ids[0]}/profile", {"name": "café:1"})
            service.kill()

        for _ in range(2):
            service.start()
            with RawWebSocket(service.ws, {"session_id": ids[0]}) as client, RawWebSocket(service.ws) as newcomer:
                again, new = client.frame(), newcomer.frame()
                ids.append(new["session_id"])
                shown = settled(service, "GET", f"/sessions/{ids[0]}")
                for frame in (again, new):
                    entry = frame["arm"][0]
                    assert entry["config"]["mount"] == SOLID
                    assert entry["config"]["basis"] == {"permutation": "XZ-Y"}
                    assert entry["config"]["preset"] == "custom"
                    assert (entry["config"]["damping"], entry["config"]["force_gate"]) == ({"scalar": 3}, {"gain": 1})
                    assert entry["state"]["transform"] == {"scale": {"x": 2, "y": 2, "z": 2}}
                service.kill()
            assert again["session_id"] == ids[0]
            assert (shown["profile"], shown["required_sdk_version"]) == ({"name": "café:1"}, "3.4.19")

        service.start()
        assert settled(service, "GET", "/settings/presets/freeform_profiles")["data"]["effective"] == ["clay*"]
        assert settled(service, "GET", "/settings/simulation/seed")["data"]["effective"] == 77
        assert settled(service, "GET", "/settings/sessions/command_timeout")["data"]["effective"] == 0.25
    assert ids == sorted(set(ids))
    assert min(ids) > 0


# ---------------------------------------------------------------- a stream of writes


class Writer(threading.Thread):
    """Writes over one connection as fast as it is answered, until the service dies; what was acknowledged, and what was under way."""

    def __init__(self, base: str, rng: random.Random) -> None:
        super().__init__(name="writer")
        self._netloc = urlsplit(base).netloc
        self._rng = rng
        self.acknowledged: list[tuple[str, Any]] = []
        self.under_way: tuple[str, Any] | None = None
        self.begun = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        connection = http.client.HTTPConnection(self._netloc, timeout=TIMEOUT_S)
        try:
            for path, value in self._writes():
                self.under_way = (path, value)
                connection.request("POST", path, json.dumps(value))
                answer = connection.getresponse()
                body = answer.read()
                assert answer.status == 200, body
                self.acknowledged.append((path, value))
                self.under_way = None
                self.begun.set()
        except (OSError, http.client.HTTPException):
            pass
        except BaseException as error:  # noqa: BLE001 - the test's thread raises it
            self.failure = error
        finally:
            self.begun.set()
            connection.close()

    def _writes(self) -> Iterator[tuple[str, Any]]:
        while True:
            number = self._rng.randrange(2**20)
            yield self._rng.choice(
                (
                    ("/settings/simulation/seed", number),
                    ("/settings/control/statistics_period", 1 + number % 60),
                    ("/settings/devices/haptic*/filters/force_scale/gain", number % 256 / 256),
                    ("/arm/0/config/filters/force_gate?session=default", {"gain": number % 256 / 1000}),
                    ("/arm/0/config/basis?session=default", {"permutation": ("XYZ", "YZX", "XZ-Y")[number % 3]}),
                )
            )


def found(service: RunningService, path: str) -> Any:
    """What a GET shows of what the writer wrote there."""
    answer = settled(service, "GET", path)
    return answer["data"]["value"] if path.startswith("/settings") else answer


def outlives(folder: Path, kills: int, seed: int) -> int:
    """Kill the service so often in the midst of its writes; how many were acknowledged. AssertionError when one is lost."""
    rng = random.Random(seed)
    expected: dict[str, Any] = {}
    acknowledged = 0
    with RunningService(state_dir=folder, settings={"control/frequency": 1000}) as service:
        for _ in range(kills):
            writer = Writer(service.http, rng)
            writer.start()
            assert writer.begun.wait(TIMEOUT_S)
            writer.join(rng.uniform(0, 0.15))
            service.kill()
            writer.join(TIMEOUT_S)
            assert writer.failure is None, writer.failure

            acknowledged += len(writer.acknowledged)
            expected.update(writer.acknowledged)
            service.start()
            for path, value in expected.items():
                now = found(service, path)
                if writer.under_way is not None and writer.under_way[0] == path and now == writer.under_way[1]:
                    expected[path] = now
                assert now == expected[path], f"{path} was acknowledged with {value}"
    assert list(folder.glob("*.broken-*")) == []
    return acknowledged


def test_acknowledged_writes_survive_five_kills(tmp_path: Path) -> None:
    assert outlives(tmp_path, KILLS, 1) > KILLS


@pytest.mark.soak
def test_acknowledged_writes_survive_fifty_kills(tmp_path: Path) -> None:
    assert outlives(tmp_path, SOAK_KILLS, 2) > SOAK_KILLS
