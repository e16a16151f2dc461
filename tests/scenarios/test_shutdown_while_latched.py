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
from tests.support.clients.streaming_clients import StreamingClient, StreamingClients
from tests.support.service.actor_faults import crash_and_restart
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.process import RunningService
from tests.support.service.safety_service import ARM, SafetyService, force_command

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
    trip: Callable[[SafetyService], None]
    end: Callable[[SafetyService], None]

    def __str__(self) -> str:
        return self.name


def latched(setup: SafetyService, bit: int) -> bool:
    return bool(int(setup.service.state(ARM)["safety"]) & bit)


def until_latched(setup: SafetyService, bit: int) -> None:
    """Virtual time passes until a monitor acts."""

    def acts() -> bool:
        setup.service.step()
        return latched(setup, bit)

    eventually(acts, f"bit {bit} is set", tries=400, pause_s=0.002)


def throw(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, fault="throw")
    until_latched(setup, EBRAKE)
    setup.service.wait(0.6)


def push_it_aside(setup: SafetyService) -> None:
    setup.set_attached(attached=False)
    setup.service.wait(0.7)
    setup.simulate("arm", ARM, fault="foreign_object")
    until_latched(setup, HARD)
    # Braked to rest the object and the hand balance, and half a second later it counts as gone.
    setup.service.wait(0.1)


def take_it_away(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, fault="none")
    setup.set_attached(attached=True)


def let_go(setup: SafetyService) -> None:
    assert setup.ask("POST", "/settings/features/grip_hook/enabled", {"value": True}).status == 200
    setup.set_attached(attached=False)
    until_latched(setup, DROPPED)
    setup.service.wait(0.06)


LATCHES: Final = (
    Latch(
        "e-brake",
        EBRAKE,
        ("ebrake_triggered",),
        ("ebrake_released",),
        throw,
        lambda setup: setup.simulate("arm", ARM, fault="none"),
    ),
    Latch(
        "foreign object, hard",
        HARD,
        ("fod_stage_changed idle guard", "fod_stage_changed guard hard", "ebrake_triggered"),
        ("fod_stage_changed hard idle", "ebrake_released"),
        push_it_aside,
        take_it_away,
    ),
    Latch("grip dropped", DROPPED, ("grip_dropped",), (), let_go, lambda setup: setup.set_attached(attached=True)),
)


def told(setup: SafetyService) -> list[str]:
    """Every safety event of the arm, with its stages where it has them."""
    return [
        " ".join(str(event["data"][key]) for key in ("safety_type", "from", "to") if key in event["data"])
        for event in setup.events.received_events("device-safety-triggered", device_id=ARM)
    ]


def tells(setup: SafetyService, *wanted: str) -> None:
    """Exactly these events, in any order of those that one look sees; whatever the hub was told before is heard by then."""
    eventually(lambda: len(told(setup)) >= len(wanted), f"events {wanted}", pause_s=0.005, tries=4_000)
    assert sorted(told(setup)) == sorted(wanted)


def strength(setup: SafetyService) -> float:
    """N at the arm besides what its brake makes of the speed."""
    state = setup.service.state(ARM)
    brake = BRAKE * np.array(state["velocity"]) if int(state["safety"]) & EBRAKE else np.zeros(3)
    return float(np.linalg.norm(np.array(state["force"]) + brake))


def most_in(setup: SafetyService, seconds: float) -> float:
    """The most that any tick puts out."""
    most = 0.0
    for _ in range(round(seconds * 1000)):
        setup.service.step()
        most = max(most, strength(setup))
    return most


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[SafetyService]:
    with SafetyService(tmp_path) as opened:
        opened.simulate("arm", ARM, hand={"path": "rest"})
        opened.set_attached(attached=True)
        opened.service.wait(0.5)
        opened.events.events.clear()
        yield opened


@contextmanager
def pushing(url: str, *newtons: float) -> Generator[subprocess.Popen[str]]:
    """A client in a process of its own, which pushes."""
    words = [url, ARM, *map(str, newtons)]
    client = subprocess.Popen(
        [sys.executable, "-m", "tests.support.clients.fast_client", *words],
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


def idle(setup: SafetyService) -> bool:
    return int(setup.service.state(ARM)["mode"]) == 0


def commanded(setup: SafetyService) -> bool:
    """Whether somebody commands the arm, a tick later."""
    setup.service.step()
    return not idle(setup)


def killed(setup: SafetyService, client: subprocess.Popen[str]) -> None:
    """By SIGKILL, and what it had sent is read to its end; no time passes."""
    client.send_signal(signal.SIGKILL)
    assert client.wait(TIMEOUT_S) == -signal.SIGKILL
    table = setup.service.system.sessions
    eventually(lambda: len(table.value.sessions) == 1, "its session is closed", pause_s=0.002, tries=5_000)


def seconds_until_idle(setup: SafetyService) -> float:
    """Until nobody commands the arm any more, on the loop's clock."""
    begun = setup.service.runtime.now_ns()
    while not idle(setup):
        setup.service.step()
        assert setup.service.runtime.now_ns() - begun < NS, "it is still commanded"
    return (setup.service.runtime.now_ns() - begun) / NS


def test_killed_client_s_force_is_zero_within_75_ms(setup: SafetyService) -> None:
    with pushing(setup.service.ws, 0, UP, 0) as client:

        def pushes() -> bool:
            setup.service.step()
            return strength(setup) >= UP

        eventually(pushes, "its force is put out", tries=4_000, pause_s=0.002)
        killed(setup, client)

    assert seconds_until_idle(setup) <= GONE_S
    assert most_in(setup, 0.2) == 0
    assert setup.frame()["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}
    assert told(setup) == []


@pytest.mark.parametrize("latch", LATCHES, ids=str)
def test_killed_client_s_force_does_not_return_on_release(setup: SafetyService, latch: Latch) -> None:
    with pushing(setup.service.ws, 0, UP, 0) as client:
        latch.trip(setup)
        eventually(partial(commanded, setup), "it commands", tries=4_000, pause_s=0.002)
        assert latched(setup, latch.bit)
        killed(setup, client)

    assert seconds_until_idle(setup) <= GONE_S
    assert latched(setup, latch.bit)
    assert strength(setup) < NOTHING
    tells(setup, *latch.tells)

    latch.end(setup)
    assert most_in(setup, 4) < NOTHING
    assert int(setup.service.state(ARM)["safety"]) == 0
    assert strength(setup) == 0
    tells(setup, *latch.tells, *latch.tells_its_end)


@pytest.mark.parametrize("latch", LATCHES, ids=str)
def test_crashed_actor_ends_no_latch_and_repeats_no_event(setup: SafetyService, latch: Latch) -> None:
    latch.trip(setup)
    tells(setup, *latch.tells)
    for name in (*ACTORS, actor_name(setup.first["session_id"])):
        crash_and_restart(setup.service.system.context.directory, name)
        for _ in range(5):
            setup.frame(force_command(y=UP))
            assert most_in(setup, 0.002) < NOTHING, name
        assert latched(setup, latch.bit), name

    latch.end(setup)
    setup.service.wait(4)
    assert int(setup.service.state(ARM)["safety"]) == 0
    setup.stream(0.1, force_command(y=UP))
    assert setup.frame(force_command(y=UP))["state"]["current_cursor_force"]["y"] == pytest.approx(UP)
    tells(setup, *latch.tells, *latch.tells_its_end)


# ---------------------------------------------------------------- the whole process


def simulate(service: RunningService, kind: str, device_id: str, **change: object) -> None:
    status, answer = service.request("POST", f"/simulation/{kind}/{device_id}", change)
    assert status == 200, answer


def thrown(service: RunningService, client: StreamingClient) -> Callable[[], bool]:
    simulate(service, "arm", client.first["arm"][0]["device_id"], fault="throw")
    return lambda: bool(safety(client)["ebrake"])


def pushed_aside(service: RunningService, client: StreamingClient) -> Callable[[], bool]:
    simulate(service, "grip", client.first["grip"][0]["device_id"], attached=False)
    simulate(service, "arm", client.first["arm"][0]["device_id"], fault="foreign_object")
    return lambda: safety(client)["fod_stage"] == "hard"


def dropped(service: RunningService, client: StreamingClient) -> Callable[[], bool]:
    simulate(service, "grip", client.first["grip"][0]["device_id"], attached=False)
    return lambda: client.frame["arm"][0]["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}


def safety(client: StreamingClient) -> Any:
    return client.frame["arm"][0]["status"]["safety"]


@pytest.mark.parametrize("trip", [thrown, pushed_aside, dropped])
def test_stopping_a_latched_service_ends_in_zero_force_and_exit_code_0(
    tmp_path: Path, trip: Callable[[RunningService, StreamingClient], Callable[[], bool]]
) -> None:
    settings = {"serialization/status_safety": "true", "control/frequency": 1000}
    if trip is dropped:
        settings["features/grip_hook/enabled"] = "true"
    service = RunningService(
        command=[sys.executable, "-m", "tests.support.service.instrumented_service"],
        state_dir=tmp_path,
        settings={**FREE_PORTS, **settings},
        environment={"PYTHONPATH": str(ROOT)},
    )
    with service, StreamingClients(service.ws, 1, UP) as clients:
        (client,) = clients.clients
        eventually(lambda: client.frame["arm"][0]["state"]["current_cursor_force"]["z"] > 0, "it pushes", pause_s=0.01)
        acts = trip(service, client)
        eventually(acts, "the monitor acts", pause_s=0.001, tries=10_000)

        os.kill(service.process.pid, signal.SIGTERM)
        assert service.process.wait(TIMEOUT_S) == 0
        client.close_code()
        service.wait()
    (line,) = [line for line in service.log.splitlines() if line.startswith("outcome ")]
    left = json.loads(line.removeprefix("outcome "))
    assert left["forces"] == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert left["running"] is False
