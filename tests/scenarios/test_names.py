"""Names of devices over real sockets: everywhere beside the id, in every selector, after a replug and a restart; and the sign of a device."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import pytest

from tests.support.clients.exchange import exchange
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

HAPTICD = str(Path(sys.executable).with_name("hapticd"))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[RunningService]:
    with RunningService(simulate="arm,arm,grip", state_dir=tmp_path / "state") as running:
        yield running


def ids(service: RunningService, kind: str) -> list[str]:
    return [one["device_id"] for one in service.request("GET", "/devices")[1][kind]]


def name(service: RunningService, device_id: str, wanted: object) -> tuple[int, Any]:
    return service.request("POST", f"/*/{device_id}/config/name", wanted)


def hapticd(service: RunningService, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HAPTICD, *words, "--url", service.http], capture_output=True, text=True, check=False)


# ---------------------------------------------------------------- names


def test_name_is_shown_beside_the_id_and_means_the_device_in_every_selector(service: RunningService) -> None:
    left, right = ids(service, "arm")

    assert name(service, left, {"name": "left arm"}) == (200, {"name": "left arm"})
    assert name(service, right, "Right arm")[0] == 200

    shown = {one["device_id"]: one["config"].get("name") for one in service.request("GET", "/devices")[1]["arm"]}
    assert shown == {left: "left arm", right: "Right arm"}
    for selector in ("left arm", "LEFT ARM", "left*"):
        assert service.request("GET", f"/*/{quote(selector)}/config/name")[1]["name"] == "left arm"
    stopped = service.request("POST", "/arm/right%20arm/stop")[1]
    assert stopped == {"device_id": right, "stopped": True}
    assert service.request("GET", "/arm/*arm/config/handedness")[1]["results"][1]["device_id"] == right
    assert service.request("GET", "/grip/left%20arm/config/name")[0] == 404
    assert "name" not in service.request("GET", "/devices")[1]["grip"][0]["config"]


def test_full_frame_shows_the_name_and_takes_it_back_as_configuration(service: RunningService) -> None:
    left = ids(service, "arm")[0]
    name(service, left, "left arm")
    with RawWebSocket(service.ws) as peer:
        first = peer.frame()
        config = next(one["config"] for one in first["arm"] if one["device_id"] == left)
        assert config["name"] == "left arm"

        def errors(wanted: object) -> list[Any]:
            frame = peer.ask({"arm": [{"device_id": left, "configure": {"name": wanted}}]})
            found: list[Any] = frame.get("errors", [])
            return found

        assert errors("left arm") == []
        (refusal,) = errors("right arm")
    assert f"POST /arm/{left}/config/name" in refusal["reason"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (None, 400),
        ("", 400),
        ({"name": ""}, 400),
        ({"name": None}, 400),
        ({"name": 7}, 400),
        ({}, 400),
        ([], 400),
        ("x" * 5000, 400),
        ("a/b", 400),
        ("arm", 400),
        ("12", 400),
        ("left\u0000", 400),
        ({"name": {"name": "left"}}, 400),
    ],
)
def test_bad_name_is_refused_with_a_sentence_and_changes_nothing(
    service: RunningService, body: object, status: int
) -> None:
    left = ids(service, "arm")[0]
    name(service, left, "first")
    answered, refusal = name(service, left, body)
    assert answered == status, refusal
    assert refusal["error"]
    assert service.request("GET", f"/arm/{left}/config/name")[1] == {"name": "first"}


def test_name_of_another_device_is_a_conflict_also_for_several_at_once(service: RunningService) -> None:
    left, right = ids(service, "arm")
    name(service, left, "left")
    status, refusal = name(service, right, "LEFT")
    assert (status, left in refusal["error"]) == (409, True)
    assert name(service, right, left)[0] == 409
    status, answer = service.request("POST", "/arm/*/config/name", "both")
    assert status == 409
    assert [one["ok"] for one in answer["results"]] == [True, False]


def test_name_stays_with_the_device_over_a_replug_and_a_kill(service: RunningService, tmp_path: Path) -> None:
    left = ids(service, "arm")[0]
    assert name(service, left, "left arm")[0] == 200
    service.request("POST", f"/simulation/arm/{left}", {"fault": "unplug"})
    eventually(lambda: left not in ids(service, "arm"), "it is unplugged")
    service.request("POST", f"/simulation/arm/{left}", {"fault": "none"})
    eventually(lambda: left in ids(service, "arm"), "it is back")
    assert service.request("GET", f"/arm/{left}/config/name")[1] == {"name": "left arm"}
    service.kill()
    with RunningService(simulate="arm,arm,grip", state_dir=tmp_path / "state") as again:
        assert again.request("GET", "/arm/left%20arm/config/name")[1] == {"name": "left arm"}
        assert again.request("DELETE", "/arm/left%20arm/config/name") == (200, {"name": None})
        assert again.request("GET", "/arm/left%20arm/config/name")[0] == 404


def test_commands_give_take_and_show_names(service: RunningService) -> None:
    left, right = ids(service, "arm")
    assert hapticd(service, "name", left, "left arm").stdout == f"{left}: left arm\n"
    assert hapticd(service, "stop", "left arm").stdout == f"{left} is stopped\n"
    assert "left arm" in hapticd(service, "devices").stdout
    assert f"arm {left} left arm" in hapticd(service, "status").stdout
    assert hapticd(service, "name", "arm").stdout == f"{left}: left arm\n{right}: no name\n"
    refused = hapticd(service, "name", right, "left arm")
    assert (refused.returncode, left in refused.stderr) == (4, True), refused
    assert hapticd(service, "name", "LEFT ARM", "--remove").stdout == "LEFT ARM: no name\n"
    assert hapticd(service, "name", left, "x", "--remove").returncode == 2


# ---------------------------------------------------------------- the sign


class Watcher:
    """A session that looks at the force of a device until it is told to end."""

    def __init__(self, service: RunningService, device_id: str) -> None:
        self._peer = RawWebSocket(service.ws)
        self._peer.frame()
        self._device_id = device_id
        self._over = threading.Event()
        self.forces: list[float] = []
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._peer.close()

    def _look(self) -> None:
        while not self._over.is_set():
            frame = self._peer.ask({})
            (state,) = [one["state"] for one in frame["arm"] if one["device_id"] == self._device_id]
            self.forces.append(float(state["current_cursor_force"]["z"]))


def test_identified_device_vibrates_within_bounds_and_then_rests(service: RunningService) -> None:
    left, right = ids(service, "arm")
    with Watcher(service, left) as felt, Watcher(service, right) as other:
        status, answer = service.request("POST", f"/arm/{left}/identify")
    assert (status, answer) == (200, {"device_id": left, "identified": True})
    assert 0.1 < max(felt.forces) <= 1.001
    assert -1.001 <= min(felt.forces) < -0.1
    assert not any(other.forces)
    eventually(lambda: service.request("GET", "/sessions")[1]["session_count"] == 0, "no session is left")
    with Watcher(service, left) as after:
        eventually(lambda: len(after.forces) > 50, "frames")
    assert not any(after.forces)


def test_device_that_cannot_vibrate_says_why(service: RunningService) -> None:
    left = ids(service, "arm")[0]
    service.request("POST", f"/arm/{left}/stop")
    status, refusal = service.request("POST", f"/arm/{left}/identify")
    assert (status, "is stopped: resume it first" in refusal["error"]) == (409, True)
    assert service.request("POST", "/grip/*/identify")[0] == 422
    assert service.request("POST", "/arm/none/identify")[0] == 404
    service.request("POST", f"/simulation/arm/{left}", {"fault": "unplug"})
    assert service.request("POST", f"/arm/{left}/identify")[0] == 404


def test_device_unplugged_or_stopped_in_its_sign_ends_it(service: RunningService) -> None:
    left, right = ids(service, "arm")
    answers: list[int] = []

    def ask(device_id: str) -> threading.Thread:
        def run() -> None:
            answers.append(exchange(service.http, "POST", f"/arm/{device_id}/identify").status)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    with Watcher(service, left) as felt:
        first = ask(left)
        eventually(lambda: any(felt.forces), "it vibrates")
        assert service.request("POST", f"/arm/{left}/identify")[0] == 409
        service.request("POST", "/stop")
        begun = len(felt.forces)
        eventually(lambda: len(felt.forces) > begun + 20, "frames")
        assert not any(felt.forces[begun + 5 :])
        first.join()
    service.request("DELETE", "/stop")
    second = ask(right)
    eventually(lambda: service.request("GET", "/sessions")[1]["session_count"] > 0, "its session is open")
    service.request("POST", f"/simulation/arm/{right}", {"fault": "unplug"})
    second.join()
    assert answers == [200, 404]
    assert hapticd(service, "identify", left).stdout == f"{left} has vibrated three times\n"
