"""While a safety monitor is latched, a killed client, a crashed actor or a shutdown leaves no force behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from actors.session.actor import actor_name
from tests.support.clients.crowd import Client, Crowd
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.living_actors import kill
from tests.support.service.polling import PATIENCE_S, eventually
from tests.support.service.process import RunningService
from tests.support.service.safety_desk import ARM, SafetyDesk, push

ROOT: Final = Path(__file__).parents[2]
NS: Final = 1_000_000_000
GONE_S: Final = 0.075
BRAKE: Final = 5.0
NOTHING: Final = 1e-6
UP: Final = 0.5
EBRAKE, HARD, DROPPED = 1, 8, 16
ACTORS: Final = (
    "settings",
    "events",
    "fastpath",
    "ports",
    "devices",
    "pairing",
    "sessions",
    "detection",
    f"device/{ARM}",
)


@dataclass(frozen=True, slots=True)
class Latch:
    """A monitor: its bit, what it says when it acts and when it ends, and how a desk trips it and ends its cause."""

    name: str
    bit: int
    tells: tuple[str, ...]
    tells_its_end: tuple[str, ...]
    trip: Callable[[SafetyDesk], None]
    end: Callable[[SafetyDesk], None]

    def __str__(self) -> str:
        return self.name


def latched(desk: SafetyDesk, bit: int) -> bool:
    return bool(int(desk.service.state(ARM)["safety"]) & bit)


def until_latched(desk: SafetyDesk, bit: int) -> None:
    """Virtual time passes until a monitor acts."""

    def acts() -> bool:
        desk.service.step()
        return latched(desk, bit)

    eventually(acts, f"bit {bit} is set", tries=400, pause_s=0.002)


def throw(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, fault="throw")
    until_latched(desk, EBRAKE)
    desk.service.wait(0.6)


def push_it_aside(desk: SafetyDesk) -> None:
    desk.take(attached=False)
    desk.service.wait(0.7)
    desk.make("arm", ARM, fault="foreign_object")
    until_latched(desk, HARD)
    # Braked to rest the object and the hand balance, and half a second later it counts as gone.
    desk.service.wait(0.1)


def take_it_away(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, fault="none")
    desk.take(attached=True)


def let_go(desk: SafetyDesk) -> None:
    assert desk.ask("POST", "/settings/features/grip_hook/enabled", {"value": True}).status == 200
    desk.take(attached=False)
    until_latched(desk, DROPPED)
    desk.service.wait(0.06)


LATCHES: Final = (
    Latch(
        "e-brake",
        EBRAKE,
        ("ebrake_triggered",),
        ("ebrake_released",),
        throw,
        lambda desk: desk.make("arm", ARM, fault="none"),
    ),
    Latch(
        "foreign object, hard",
        HARD,
        ("fod_stage_changed idle guard", "fod_stage_changed guard hard", "ebrake_triggered"),
        ("fod_stage_changed hard idle", "ebrake_released"),
        push_it_aside,
        take_it_away,
    ),
    Latch("grip dropped", DROPPED, ("grip_dropped",), (), let_go, lambda desk: desk.take(attached=True)),
)


def told(desk: SafetyDesk) -> list[str]:
    """Every safety event of the arm, with its stages where it has them."""
    return [
        " ".join(str(event["data"][key]) for key in ("safety_type", "from", "to") if key in event["data"])
        for event in desk.events.heard("device-safety-triggered", device_id=ARM)
    ]


def tells(desk: SafetyDesk, *wanted: str) -> None:
    """Exactly these events, in any order of those that one look sees; whatever the hub was told before is heard by then."""
    eventually(lambda: len(told(desk)) >= len(wanted), f"events {wanted}", pause_s=0.005, tries=4_000)
    assert sorted(told(desk)) == sorted(wanted)


def strength(desk: SafetyDesk) -> float:
    """N at the arm besides what its brake makes of the speed."""
    state = desk.service.state(ARM)
    brake = BRAKE * np.array(state["velocity"]) if int(state["safety"]) & EBRAKE else np.zeros(3)
    return float(np.linalg.norm(np.array(state["force"]) + brake))


def most_in(desk: SafetyDesk, seconds: float) -> float:
    """The most that any tick puts out."""
    most = 0.0
    for _ in range(round(seconds * 1000)):
        desk.service.step()
        most = max(most, strength(desk))
    return most


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[SafetyDesk]:
    with SafetyDesk(tmp_path) as opened:
        opened.make("arm", ARM, hand={"path": "rest"})
        opened.take(attached=True)
        opened.service.wait(0.5)
        opened.events.events.clear()
        yield opened


@contextmanager
def pushing(url: str, *newtons: float) -> Generator[subprocess.Popen[str]]:
    """A client in a process of its own, which pushes."""
    words = [url, ARM, *map(str, newtons)]
    client = subprocess.Popen(
        [sys.executable, "-m", "tests.support.clients.pushing_client", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with client:
        try:
            assert client.stdout is not None
            assert client.stdout.readline() == "pushes\n"
            yield client
        finally:
            client.kill()


def idle(desk: SafetyDesk) -> bool:
    return int(desk.service.state(ARM)["mode"]) == 0


def commanded(desk: SafetyDesk) -> bool:
    """Whether somebody commands the arm, a tick later."""
    desk.service.step()
    return not idle(desk)


def killed(desk: SafetyDesk, client: subprocess.Popen[str]) -> None:
    """By SIGKILL, and what it had sent is read to its end; no time passes."""
    client.send_signal(signal.SIGKILL)
    assert client.wait(PATIENCE_S) == -signal.SIGKILL
    table = desk.service.system.sessions
    eventually(lambda: len(table.value.sessions) == 1, "its session is closed", pause_s=0.002, tries=5_000)


def seconds_until_idle(desk: SafetyDesk) -> float:
    """Until nobody commands the arm any more, on the loop's clock."""
    begun = desk.service.runtime.now_ns()
    while not idle(desk):
        desk.service.step()
        assert desk.service.runtime.now_ns() - begun < NS, "it is still commanded"
    return (desk.service.runtime.now_ns() - begun) / NS


def test_the_force_of_a_client_that_is_killed_is_gone_in_75_ms(desk: SafetyDesk) -> None:
    with pushing(desk.service.ws, 0, UP, 0) as client:

        def pushes() -> bool:
            desk.service.step()
            return strength(desk) >= UP

        eventually(pushes, "its force is put out", tries=4_000, pause_s=0.002)
        killed(desk, client)

    assert seconds_until_idle(desk) <= GONE_S
    assert most_in(desk, 0.2) == 0
    assert desk.frame()["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}
    assert told(desk) == []


@pytest.mark.parametrize("latch", LATCHES, ids=str)
def test_the_force_of_a_client_that_is_killed_does_not_come_back_with_the_release(
    desk: SafetyDesk, latch: Latch
) -> None:
    with pushing(desk.service.ws, 0, UP, 0) as client:
        latch.trip(desk)
        eventually(partial(commanded, desk), "it commands", tries=4_000, pause_s=0.002)
        assert latched(desk, latch.bit)
        killed(desk, client)

    assert seconds_until_idle(desk) <= GONE_S
    assert latched(desk, latch.bit)
    assert strength(desk) < NOTHING
    tells(desk, *latch.tells)

    latch.end(desk)
    assert most_in(desk, 4) < NOTHING
    assert int(desk.service.state(ARM)["safety"]) == 0
    assert strength(desk) == 0
    tells(desk, *latch.tells, *latch.tells_its_end)


@pytest.mark.parametrize("latch", LATCHES, ids=str)
def test_an_actor_that_is_killed_ends_no_latch_and_tells_nothing_twice(desk: SafetyDesk, latch: Latch) -> None:
    latch.trip(desk)
    tells(desk, *latch.tells)
    for name in (*ACTORS, actor_name(desk.first["session_id"])):
        kill(desk.service.system.context.directory, name)
        for _ in range(5):
            desk.frame(push(y=UP))
            assert most_in(desk, 0.002) < NOTHING, name
        assert latched(desk, latch.bit), name

    latch.end(desk)
    desk.service.wait(4)
    assert int(desk.service.state(ARM)["safety"]) == 0
    desk.streams(0.1, push(y=UP))
    assert desk.frame(push(y=UP))["state"]["current_cursor_force"]["y"] == pytest.approx(UP)
    tells(desk, *latch.tells, *latch.tells_its_end)


# ---------------------------------------------------------------- the whole process


def simulate(service: RunningService, kind: str, device_id: str, **change: object) -> None:
    status, answer = service.request("POST", f"/simulation/{kind}/{device_id}", change)
    assert status == 200, answer


def thrown(service: RunningService, client: Client) -> Callable[[], bool]:
    simulate(service, "arm", client.first["arm"][0]["device_id"], fault="throw")
    return lambda: bool(safety(client)["ebrake"])


def pushed_aside(service: RunningService, client: Client) -> Callable[[], bool]:
    simulate(service, "grip", client.first["grip"][0]["device_id"], attached=False)
    simulate(service, "arm", client.first["arm"][0]["device_id"], fault="foreign_object")
    return lambda: safety(client)["fod_stage"] == "hard"


def dropped(service: RunningService, client: Client) -> Callable[[], bool]:
    simulate(service, "grip", client.first["grip"][0]["device_id"], attached=False)
    return lambda: client.frame["arm"][0]["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}


def safety(client: Client) -> Any:
    return client.frame["arm"][0]["status"]["safety"]


@pytest.mark.parametrize("trip", [thrown, pushed_aside, dropped])
def test_a_latched_service_that_is_asked_to_stop_ends_in_zero_force_and_exit_code_0(
    tmp_path: Path, trip: Callable[[RunningService, Client], Callable[[], bool]]
) -> None:
    settings = {"serialization/status_safety": "true", "control/frequency": 1000}
    if trip is dropped:
        settings["features/grip_hook/enabled"] = "true"
    service = RunningService(
        command=[sys.executable, "-m", "tests.support.service.watched_service"],
        state_dir=tmp_path,
        settings={**FREE_PORTS, **settings},
        environment={"PYTHONPATH": str(ROOT)},
    )
    with service, Crowd(service.ws, 1, UP) as crowd:
        (client,) = crowd.clients
        eventually(lambda: client.frame["arm"][0]["state"]["current_cursor_force"]["z"] > 0, "it pushes", pause_s=0.01)
        acts = trip(service, client)
        eventually(acts, "the monitor acts", pause_s=0.001, tries=10_000)

        os.kill(service.process.pid, signal.SIGTERM)
        assert service.process.wait(PATIENCE_S) == 0
        client.goodbye()
        service.wait()
    (line,) = [line for line in service.log.splitlines() if line.startswith("outcome ")]
    left = json.loads(line.removeprefix("outcome "))
    assert left["forces"] == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert left["running"] is False
