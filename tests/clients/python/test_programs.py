"""One program over every transport beside a real service, and what ends it: signals, a halt, a service that goes and comes back."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.python.programs import Program, arm_force, until_no_session, until_zero
from tests.support.clients.exchange import exchange
from tests.support.service.board_service import BoardService
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

WAYS = [("socket", "blocking"), ("socket", "asyncio"), ("local", "blocking"), ("local", "asyncio")]
# Long enough that a force which fades by itself is not taken for one that was released, and short enough to wait for.
PATIENT = {"sessions/command_timeout": 0.5}


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService(settings=PATIENT) as running:
        yield running


@pytest.mark.parametrize(("transport", "style"), WAYS)
def test_program_that_ends_leaves_zero_and_prints_its_figures(
    service: RunningService, transport: str, style: str
) -> None:
    with Program(service, transport, style) as program:
        program.session()
        code, out, errors = program.ended()

    assert (code, errors) == (0, "")
    assert "of 500 turns/s" in out
    assert "round trip p50" in out
    until_zero(service)
    until_no_session(service)


@pytest.mark.parametrize(
    ("transport", "style", "number"),
    [
        *((*way, signal.SIGINT) for way in WAYS),
        ("socket", "blocking", signal.SIGTERM),
        ("local", "asyncio", signal.SIGTERM),
        ("local", "blocking", signal.SIGKILL),
    ],
)
def test_signal_leaves_zero_and_no_session(
    service: RunningService, transport: str, style: str, number: signal.Signals
) -> None:
    with Program(service, transport, style) as program:
        program.session()
        eventually(lambda: arm_force(service) > 0, "it pushes", pause_s=0.005)
        program.signal(number)
        until_zero(service)
        code, _, errors = program.ended_by_itself()

    assert code == -number
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    until_no_session(service)


@pytest.mark.parametrize(("transport", "style"), WAYS)
def test_halted_program_fades_to_zero_and_goes_on_afterwards(
    service: RunningService, transport: str, style: str
) -> None:
    with Program(service, transport, style) as program:
        session = program.session()
        program.signal(signal.SIGSTOP)
        until_zero(service)
        assert service.request("GET", f"/sessions/{session}")[0] == 200
        program.signal(signal.SIGCONT)
        eventually(lambda: arm_force(service) > 0, "it pushes again", pause_s=0.005)
        assert program.ended()[0] == 0


@pytest.mark.parametrize(
    ("transport", "style", "number"),
    [
        ("socket", "blocking", signal.SIGKILL),
        ("socket", "asyncio", signal.SIGTERM),
        ("local", "blocking", signal.SIGTERM),
        ("local", "asyncio", signal.SIGKILL),
    ],
)
def test_service_that_goes_is_one_clear_error(transport: str, style: str, number: signal.Signals) -> None:
    with RunningService() as service, Program(service, transport, style) as program:
        program.session()
        if number == signal.SIGKILL:
            service.kill()
        else:
            assert service.stop(number) == 0
        code, _, errors = program.ended_by_itself()

    assert code == 1
    lines = [line for line in errors.splitlines() if line.startswith("hapticd_client.errors.")]
    assert len(lines) == 1, errors
    assert lines[0].startswith("hapticd_client.errors.ServiceLost")
    assert "forces are zero" in lines[0]


@pytest.mark.parametrize("transport", ["socket", "local"])
def test_service_that_comes_back_is_told_and_forces_stay_zero(transport: str) -> None:
    with RunningService() as first:
        ports = first.ports
    with RunningService(settings=ports) as service, Program(service, transport, "reconnect") as program:
        program.session()
        service.kill()
        service.start()
        returned = program.line()
        assert returned.startswith("returned as session "), (returned, program.ended() if not returned else "")
        assert returned.endswith(", returned")
        assert program.line() == "held back"
        assert arm_force(service) == 0
        assert program.ended()[0] == 0


@pytest.mark.parametrize("style", ["blocking", "asyncio"])
def test_same_program_pushes_an_emulated_board_over_a_pseudo_terminal(tmp_path: Path, style: str) -> None:
    with BoardService(tmp_path, "arm:A1") as board:

        def ready() -> bool:
            arms = exchange(board.service.http, "GET", "/devices").json["arm"]
            return bool(arms) and arms[0]["status"]["ready"] is True

        eventually(ready, "the board is ready", pause_s=0.01)
        with Program(board.service, "socket", style) as program:
            program.session()
            assert program.ended()[0] == 0
