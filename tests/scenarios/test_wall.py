"""End to end: a client renders a virtual wall, the simulated hand runs into it, and the wall pushes back."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from actors.device.params import CIRCLE_PERIOD_S, CIRCLE_RADIUS_M
from actors.values.kinds.arm import ARM
from actors.values.kinds.base import MEDIUM_HAND
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.loop.readings import read_out
from tests.support.service.in_process_service import InProcessService
from tests.support.service.process import RunningService

EXAMPLES: Final = Path(__file__).parents[2] / "docs" / "examples"
STIFFNESS: Final = 1000.0
HEIGHT: Final = 0.125
SLACK_M: Final = 0.002
START_NS: Final = 1_000_000_000
SECONDS: Final = 5
CALM_GAP_S: Final = 0.002
CALM_S: Final = 0.2
ENOUGH: Final = 1000
TURNS: Final = 2
TRIES: Final = 4
SHOWN: Final = re.compile(r"deepest +(-?[\d.]+) mm +hardest push +([\d.]+) N +(\d+) frames/s")


def push(depth: float) -> float:
    """The law of docs/examples/wall.py: N, upwards."""
    return STIFFNESS * max(depth, 0.0)


def last_digits(force: float) -> int:
    """A force as a frame shows it, in units of its last digit (0.1 mN)."""
    return round(read_out("current_cursor_force", [force])[0] * 1e4)


def command(device_id: str, force: float) -> dict[str, Any]:
    """The message that sets it."""
    vector = {"x": 0, "y": 0, "z": force}
    return {"arm": [{"device_id": device_id, "commands": {"set_cursor_force": {"vector": vector}}}]}


def deepest_static() -> float:
    """How far (m) the hand's two springs in a row press the wall's spring at the lowest point of the hand's path."""
    assert ARM.reach is not None
    hand = 1 / (1 / MEDIUM_HAND.grip_stiffness + 1 / MEDIUM_HAND.arm_stiffness)
    lowest = ARM.reach.centre[2] - CIRCLE_RADIUS_M
    return (HEIGHT - lowest) * hand / (hand + STIFFNESS)


@pytest.mark.parametrize(("client_ticks", "chain"), [(1, False), (4, False), (4, True)])
def test_wall_pushes_back_on_contact_with_limited_penetration(tmp_path: Path, client_ticks: int, chain: bool) -> None:
    depths: list[float] = []
    with InProcessService(tmp_path, stepping=True, chain=chain) as service, RawWebSocket(service.ws) as peer:
        frame = peer.frame()
        service.wait(0.55 * CIRCLE_PERIOD_S - float(service.state("A001")["time_ns"] - START_NS) * 1e-9)
        before = answer = 0.0
        for _ in range(round(0.4 * CIRCLE_PERIOD_S * 4000 / client_ticks)):
            shown = frame["arm"][0]["state"]
            depth = HEIGHT - shown["cursor_position"]["z"]
            before, answer = answer, push(depth)
            frame = peer.ask(command("A001", answer))
            state = service.state("A001")
            shown_force = frame["arm"][0]["state"]["current_cursor_force"]["z"]
            assert np.float32(shown_force) == np.float32(read_out("current_cursor_force", state["force"])[2])
            assert tuple(state["force"]) == (0.0, 0.0, before)
            for _ in range(client_ticks):
                service.step()
                state = service.state("A001")
                assert tuple(state["force"]) == (0.0, 0.0, answer), "the loop applies what answers the last frame"
            if depth > 0:
                depths.append(depth)
                assert depth < max(-float(state["hand_force"][2]), 0.0) / STIFFNESS + SLACK_M

    assert len(depths) > 1000 / client_ticks
    assert max(depths) < deepest_static() + SLACK_M
    assert max(depths) > 0.5 * deepest_static()


@dataclass(slots=True)
class Wall:
    """A client of the running service that makes the wall for one device, and looks at each frame in it."""

    device_id: str
    sent: set[int] = field(default_factory=set[int])
    contacts: int = 0
    calm: int = 0
    deepest: float = 0.0
    wrong: list[str] = field(default_factory=list[str])
    _felt_from: int = 0
    _last_s: float = 0.0
    _calm_since_s: float = 0.0

    def answer(self, frame: Any) -> dict[str, Any]:
        """The message that answers a frame."""
        (entry,) = (entry for entry in frame["arm"] if entry["device_id"] == self.device_id)
        state = entry["state"]
        depth = HEIGHT - state["cursor_position"]["z"]
        if frame["time"] - self._last_s > CALM_GAP_S:
            self._calm_since_s = frame["time"]
        self._last_s = frame["time"]
        if depth > 0:
            self.contacts += 1
            self._look(frame["tick"], depth, state["current_cursor_force"]["z"])
        else:
            self.contacts = 0
        force = push(depth)
        self.sent.add(last_digits(force))
        return command(self.device_id, force)

    def _look(self, tick: int, depth: float, force: float) -> None:
        """What the loop read before the second contact frame was made is felt two ticks later at the latest."""
        if self.contacts == 2:
            self._felt_from = tick + 2
        if self._last_s - self._calm_since_s < CALM_S or self.contacts < 2 or tick < self._felt_from:
            return
        self.calm += 1
        self.deepest = max(self.deepest, depth)
        if force <= 0:
            self.wrong.append(f"at tick {tick}, {1000 * depth:.3f} mm deep, nothing pushes back")
        # A tie between two last digits may be broken either way.
        elif not self.sent & set(range(last_digits(force) - 1, last_digits(force) + 2)):
            self.wrong.append(f"at tick {tick} the frame shows {force} N, which was never sent")


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService(simulate="arm,arm,grip", settings={"serialization/timestamps": "true"}) as running:
        yield running


def example(name: str, *arguments: str) -> subprocess.Popen[str]:
    """An example, as a user starts it."""
    return subprocess.Popen(
        [sys.executable, str(EXAMPLES / name), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_print_devices_lists_devices_and_follows_motion(service: RunningService) -> None:
    output, errors = example("print_devices.py", service.ws).communicate(timeout=100)

    _, devices = service.request("GET", "/devices")
    lines = output.splitlines()
    assert errors == ""
    assert re.fullmatch(r"session \d+", lines[0])
    arms = [device["device_id"] for device in devices["arm"]]
    (grip,) = (device["device_id"] for device in devices["grip"])
    assert lines[1:4] == [
        f"arm {arms[0]}: simulated on sim0, ready",
        f"arm {arms[1]}: simulated on sim1, ready",
        f"grip {grip}: wireless on sim2, ready",
    ]
    followed = [re.fullmatch(r"(\w+) is at x [+-][\d.]+  y [+-][\d.]+  z [+-][\d.]+ m", line) for line in lines[4:]]
    assert [found and found[1] for found in followed] == arms * 5


def test_example_wall_holds(service: RunningService) -> None:
    started = example("wall.py", "--url", service.ws, "--stiffness", f"{STIFFNESS:g}", "--seconds", str(SECONDS))
    output, errors = started.communicate(timeout=100)

    assert errors == ""
    lines = [SHOWN.fullmatch(line) for line in output.splitlines()]
    assert len(lines) >= SECONDS - 1
    shown = [tuple(map(float, line.groups())) for line in lines if line is not None]
    assert len(shown) == len(lines)
    assert all(frames > 0 for _, _, frames in shown)
    assert max(deepest for deepest, _, _ in shown) > 0.1
    assert max(hardest for _, hardest, _ in shown) > 0.1


def test_wall_on_the_running_service_holds_while_its_client_keeps_up(service: RunningService) -> None:
    for _ in range(TRIES):
        before = disturbances(service)
        with RawWebSocket(service.ws) as peer:
            frame = peer.frame()
            wall = Wall(frame["arm"][1]["device_id"])
            until_s: float = frame["time"] + TURNS * CIRCLE_PERIOD_S
            while frame["time"] < until_s and wall.calm < ENOUGH:
                frame = peer.ask(wall.answer(frame))
        if wall.calm > 0 and disturbances(service) == before:
            break
    else:
        pytest.skip(
            f"this machine is too busy: in each of {TRIES} tries the loop was interrupted, the wall oscillated because its client was "
            f"kept waiting, or no {CALM_S:g} s in it had a frame every {CALM_GAP_S:g} s"
        )
    assert wall.deepest < deepest_static() + SLACK_M
    assert wall.wrong == []


def disturbances(service: RunningService) -> list[str]:
    """How often the loop was interrupted, so that a force ramps up, and how often the filter has found an oscillation, which it damps."""
    return re.findall(r"^hapticd_(?:loop_gaps|oscillations)_total.*$", service.metrics(), re.MULTILINE)


# ---------------------------------------------------------------- without a service


@pytest.mark.parametrize("name", ["wall.py", "print_devices.py"])
@pytest.mark.parametrize("named", [["--url"], []], ids=["option", "alone"])
def test_example_without_a_service_prints_one_sentence(name: str, named: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"ws://127.0.0.1:{taken.getsockname()[1]}"

    started = example(name, *named, url)
    output, errors = started.communicate(timeout=100)

    assert (started.returncode, output) == (1, "")
    (line,) = errors.splitlines()
    assert line.startswith(f"no service at {url} (")
    assert line.endswith("give its address with --url")


@pytest.mark.parametrize("name", ["wall.py", "print_devices.py"])
def test_example_prints_one_sentence_when_the_service_stops(name: str) -> None:
    with RunningService() as service:
        started = example(name, "--seconds", "600", "--url", service.ws)
        assert started.stdout is not None
        assert started.stdout.readline()
        url = service.ws
    _, errors = started.communicate(timeout=100)

    assert started.returncode == 1
    (line,) = errors.splitlines()
    assert line.startswith(f"the service at {url} has closed the connection (")


def test_examples_take_the_same_options() -> None:
    taken = []
    for name in ("wall.py", "print_devices.py"):
        started = example(name, "--help")
        output, _ = started.communicate(timeout=100)
        taken.append(set(re.findall(r"--[a-z]+", output)))

    common = {"--help", "--seconds", "--timeout", "--token", "--url"}
    assert taken[1] == taken[0] - {"--stiffness", "--height"} == common
