"""The wall on node beside a real service: each way out leaves zero force, and each error is one sentence."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.clients.python.programs import arm_force, until_no_session, until_zero
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.process import RunningService

# A force that fades by itself is not taken for one that was released.
PATIENT = {"sessions/command_timeout": 0.5}

BUSY = "InvalidCommand: a turn is under way: await it before the next one begins"
# What a loop says to values of each option.
OPTIONS = "\n".join(
    " / ".join(f"InvalidCommand: {takes}, and this is {value}" for value in values)
    for takes, values in {
        "rate is a number above 0 turns/s": ("NaN", "Infinity", "0", "-1", '"9"'),
        "maxForce is a number of 0 N or more": ("NaN", "Infinity", "-1", '"9"', "null"),
        "seconds is a number of 0 s or more": ("NaN", "-1", '"9"'),
        "stopAfterMisses is a whole number of 1 or more": ("NaN", "0", "1.5", '"9"'),
    }.items()
)


class Wall:
    """A process of node; killed on leaving."""

    def __init__(self, compiled: Path, service: RunningService, *words: str, name: str = "wall") -> None:
        program = compiled / "tests" / "clients" / "typescript" / f"{name}.js"
        # Older ones than 22 have WebSocket behind this option.
        command = ["node", "--experimental-websocket", "--no-warnings", str(program), service.ws, *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def pushes(self) -> None:
        """Wait until its force is felt."""
        assert self.line().startswith("pushing in session ")

    def said(self) -> tuple[int, str]:
        """Wait for its end, with its input open; exit code and the rest of its words."""
        self.process.wait(TIMEOUT_S)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """Close its input and wait; exit code and the rest of its words."""
        out, _ = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, out


@pytest.fixture(scope="module")
def service(compiled: Path) -> Iterator[RunningService]:
    del compiled
    with RunningService(simulate="arm", settings=PATIENT) as running:
        yield running


def test_program_that_ends_leaves_zero_and_its_figures(compiled: Path, service: RunningService) -> None:
    with Wall(compiled, service) as wall:
        wall.pushes()
        eventually(lambda: arm_force(service) > 1, "it pushes", pause_s=0.005)
        code, out = wall.ended()

    assert code == 0, out
    assert "turns, round trip p99" in out
    until_zero(service)
    until_no_session(service)


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("throw", "Error: of the program"),
        ("nan", "InvalidCommand: a force is three finite numbers"),
        ("bad", "FrameErrors: arm[0].commands.set_cursor_forces: unknown command: did you mean set_cursor_force?"),
        ("instance=another", "WrongInstance: another service answers"),
    ],
)
def test_error_is_one_sentence_and_leaves_zero(compiled: Path, service: RunningService, way: str, says: str) -> None:
    with Wall(compiled, service, way) as wall:
        code, out = wall.said()

    assert code == 1
    assert says in out
    until_zero(service)
    until_no_session(service)


def test_leaving_the_loop_leaves_zero(compiled: Path, service: RunningService) -> None:
    with Wall(compiled, service, "break") as wall:
        wall.pushes()
        assert wall.ended()[0] == 0
    until_zero(service)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signal_leaves_zero_and_no_session(compiled: Path, service: RunningService, number: signal.Signals) -> None:
    with Wall(compiled, service) as wall:
        wall.pushes()
        wall.process.send_signal(number)
        until_zero(service)
    until_no_session(service)


def test_halted_program_fades_to_zero(compiled: Path, service: RunningService) -> None:
    with Wall(compiled, service) as wall:
        wall.pushes()
        wall.process.send_signal(signal.SIGSTOP)
        until_zero(service)
        wall.process.send_signal(signal.SIGCONT)
        assert wall.ended()[0] == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_service_that_goes_is_one_sentence(compiled: Path, number: signal.Signals) -> None:
    with RunningService(simulate="arm") as own, Wall(compiled, own) as wall:
        wall.pushes()
        if number == signal.SIGKILL:
            own.kill()
        else:
            own.stop(number)
        code, out = wall.said()

    assert code == 1
    assert out.startswith("ServiceLost: ")
    assert "forces are zero, connect again" in out


def test_service_that_is_not_there_is_one_sentence(compiled: Path, service: RunningService) -> None:
    with Wall(compiled, service) as wall:
        wall.pushes()
    program = compiled / "tests" / "clients" / "typescript" / "wall.js"
    command = ["node", "--experimental-websocket", "--no-warnings", str(program), "ws://127.0.0.1:9"]
    done = subprocess.run(command, capture_output=True, text=True, input="", timeout=TIMEOUT_S, check=False)

    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("NoService: No service answers at ws://127.0.0.1:9: start one with hapticd run")


def test_device_that_was_unplugged_is_held_back_until_the_program_resumes(
    compiled: Path, service: RunningService
) -> None:
    arm = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
    with Wall(compiled, service, "unplug", name="ways") as wall:
        assert wall.line() == "pushing"
        service.request("POST", f"/simulation/arm/{arm}", {"fault": "unplug"})
        assert wall.line() == f"gone: arm {arm} is unplugged: its forces are zero"
        service.request("POST", f"/simulation/arm/{arm}", {"fault": "none"})
        assert wall.line() == "withheld true, 0 N"
        assert wall.line() == "resumed, 1 N"
        assert wall.ended()[0] == 0
    until_zero(service)


@pytest.mark.parametrize(
    ("way", "code", "says"),
    [
        ("stale", 0, "at most 0 N, 500 ms"),
        ("twice", 0, f"done / {BUSY} open"),
        ("nested", 0, "at most 0.5 N, 41 turns"),
        ("refused", 0, f"at most 0.5 N, 81 turns\n{BUSY}"),
        ("abandoned", 0, "0.5 to 0.5 N"),
        ("outlived", 0, f"{BUSY}\n0.5 N"),
        ("old", 0, "at most 0 N"),
        ("options", 0, OPTIONS),
        ("closed", 1, "SessionClosed: this service object is closed: connect again"),
        ("number", 1, "InvalidCommand: set_cursor_position has numbers that are finite, and this is NaN"),
    ],
)
def test_way_says(compiled: Path, service: RunningService, way: str, code: int, says: str) -> None:
    with Wall(compiled, service, way, name="ways") as wall:
        assert wall.said() == (code, f"{says}\n")
    until_zero(service)
    until_no_session(service)


def test_configuration_goes_with_the_next_turn(compiled: Path, service: RunningService) -> None:
    arm = service.request("GET", "/devices")[1]["arm"][0]["device_id"]
    with Wall(compiled, service, "configure", name="ways") as wall:
        session = wall.line().rpartition(" ")[2]
        _, found = service.request("GET", f"/arm/{arm}/config/filters/damping?session={session}")
        assert found["scalar"] == 2
