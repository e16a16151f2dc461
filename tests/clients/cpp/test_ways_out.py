"""Every way out of a C++ program's scope or loop leaves zero force: in virtual time, in which nothing fades by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest

from tests.clients.cpp.binaries import sanitized_program
from tests.clients.python.programs import Program
from tests.support.clients.exchange import exchange
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

ForceOf = Callable[[], float]
TRANSPORTS = ["socket", "local"]


@pytest.fixture(autouse=True)
def no_session_is_left(stepped: InProcessService) -> Generator[None]:
    yield
    stepped.wait_for_sessions()


@contextmanager
def pushing(
    stepped: InProcessService, force: ForceOf, transport: str, *words: str, newton: float = 1.0
) -> Generator[Program]:
    """A program whose force is in effect, and who has said so."""
    with Program(stepped, transport, *words, path=sanitized_program(), compiled=True) as program:
        eventually(lambda: force() == newton or program.process.poll() is not None, "it pushes", pause_s=0.001)
        program.session()
        yield program


def left(program: Program, last: str = "left") -> list[str]:
    """Ask it to leave, and return the lines that it says until it has left."""
    program.say("leave")
    lines = [program.line()]
    while lines[-1] not in {last, ""}:
        lines.append(program.line())
    assert lines[-1] == last, (lines, program.ended())
    return lines[:-1]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("way", ["scope", "break", "throw", "close", "omit"])
def test_way_out_leaves_zero_while_the_program_lives(
    stepped: InProcessService, force: ForceOf, transport: str, way: str
) -> None:
    with pushing(stepped, force, transport, way) as program:
        assert left(program) == []
        if way == "omit":  # the loop goes on: its next message releases
            eventually(lambda: force() == 0, "zero", tries=12, pause_s=0.01)
        if way in {"scope", "throw", "close"}:
            stepped.wait_for_sessions()
        assert force() == 0
        assert program.ended() == (0, "", "")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_nan_is_refused_where_it_is_assigned(stepped: InProcessService, force: ForceOf, transport: str) -> None:
    with pushing(stepped, force, transport, "nan") as program:
        assert left(program) == [
            "hapticd::InvalidCommand: a force is three finite numbers (N), and this is (0, nan, 1)"
        ]
        assert force() == 0


def test_refused_configuration_is_an_error_with_path_and_reason(stepped: InProcessService, force: ForceOf) -> None:
    with pushing(stepped, force, "socket", "fault") as program:
        (said,) = left(program)
        assert said.startswith("hapticd::FrameErrors: arm[0].configure.damping")
        assert "20" in said
        assert force() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_max_force_bounds_what_arrives(stepped: InProcessService, force: ForceOf, transport: str) -> None:
    with pushing(stepped, force, transport, "max", "0.5", newton=0.5) as program:
        assert force() == 0.5
        assert program.ended()[0] == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_limit_and_turns_of_a_loop_hold_again_after_one_in_its_body(
    stepped: InProcessService, force: ForceOf, transport: str
) -> None:
    with pushing(stepped, force, transport, "nested", "0.5", newton=0.5) as program:
        assert left(program) == []
        # The program lives on without its session, whose end a loaded service may see later than the program.
        stepped.wait_for_sessions()
        assert force() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_abandoned_loop_that_ends_changes_nothing_for_a_newer_one(
    stepped: InProcessService, force: ForceOf, transport: str
) -> None:
    with pushing(stepped, force, transport, "abandoned", "0.5", newton=0.5) as program:
        program.say("end the abandoned one")
        assert program.line() == "ended"
        assert force() == 0.5
        program.say("go on")
        eventually(lambda: force() == 0.5, "it pushes on within its limit", pause_s=0.001)
        assert left(program) == []


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_loop_drops_what_was_assigned_before_it(stepped: InProcessService, force: ForceOf, transport: str) -> None:
    with Program(stepped, transport, "old", path=sanitized_program(), compiled=True) as program:
        assert program.line() == "second turn"
        assert force() == 0
        assert left(program) == []


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_misses_in_a_row_end_the_loop_with_zero(stepped: InProcessService, force: ForceOf, transport: str) -> None:
    with Program(stepped, transport, "misses", path=sanitized_program(), compiled=True) as program:
        with time_going_on(stepped):
            said = program.line()
            if said.startswith("pushing"):  # felt before the third miss
                said = program.line()
        assert said.startswith("hapticd::LoopTooSlow: 3 turns in a row were missed at 500 turns/s")
        assert program.line() == "left"
        assert force() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_child_process_cannot_command_and_does_not_end_the_session(
    stepped: InProcessService, force: ForceOf, transport: str
) -> None:
    with pushing(stepped, force, transport, "fork") as program:
        program.say("leave")
        assert "hapticd::SessionClosed: this session belongs to the process that forked this one" in program.line()
        assert force() == 0
        assert program.ended() == (0, "", "")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_unplugged_device_ends_the_loop_and_pushes_again_only_after_resume(
    stepped: InProcessService, force: ForceOf, transport: str
) -> None:
    with pushing(stepped, force, transport, "back") as program:
        fault(stepped, "unplug")
        with time_going_on(stepped):
            assert program.line().startswith("hapticd::DeviceGone: arm A001 is unplugged")
        fault(stepped, "none")
        with time_going_on(stepped):
            assert program.line() == "back"
        # Held back until then, and pushing from then on.
        eventually(lambda: force() == 1, "it pushes again", pause_s=0.001)
        assert program.ended()[0] == 0


def fault(stepped: InProcessService, name: str) -> None:
    """Unplug the simulated arm, or plug it in again."""
    assert exchange(stepped.http, "POST", "/simulation/arm/A001", {"fault": name}).status == 200


@contextmanager
def time_going_on(stepped: InProcessService) -> Generator[None]:
    """Step while the block waits for a program."""
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(0.001):
            stepped.wait(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
