"""C++ programs beside a real service over both transports, and what ends them: signals, exceptions, a halt, a service that goes."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import pytest

from tests.clients.cpp.binaries import example, sanitized_program
from tests.clients.python.programs import Program, arm_force, until_no_session, until_zero, url_of
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

TRANSPORTS = ["socket", "local"]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
# Long enough that a force which fades by itself is not taken for one that was released, and short enough to wait for.
PATIENT = {"sessions/command_timeout": 0.5}


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService(settings=PATIENT) as running:
        yield running


def program_of(service: RunningService, transport: str, *words: str) -> Program:
    return Program(service, transport, *words, path=sanitized_program(), compiled=True)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_program_that_ends_leaves_zero_and_prints_its_figures(service: RunningService, transport: str) -> None:
    with program_of(service, transport, "end") as program:
        program.session()
        eventually(lambda: arm_force(service) > 0, "the wall is felt", pause_s=0.005)
        code, out, errors = program.ended()

    assert (code, errors) == (0, "")
    assert "of 500 turns/s" in out
    assert "round trip p50" in out
    assert "longest gap" in out
    until_zero(service)
    until_no_session(service)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("number", SIGNALS)
def test_signal_ends_the_process_and_leaves_zero(
    service: RunningService, transport: str, number: signal.Signals
) -> None:
    with program_of(service, transport, "end") as program:
        program.session()
        eventually(lambda: arm_force(service) > 0, "it pushes", pause_s=0.005)
        program.signal(number)
        until_zero(service)
        assert program.ended_by_itself() == (-number, "", "")

    until_no_session(service)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("number", SIGNALS[:2])
def test_signal_ends_the_loop_in_order_under_stop_on_signals(
    service: RunningService, transport: str, number: signal.Signals
) -> None:
    with program_of(service, transport, "stop") as program:
        program.session()
        program.signal(number)
        code, out, errors = program.ended_by_itself()

    assert (code, errors) == (128 + number, "")
    assert "of 500 turns/s" in out
    until_zero(service)
    until_no_session(service)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("way", "code"), [("exit", 3), ("uncaught", -signal.SIGABRT)])
def test_process_that_ends_within_a_turn_leaves_zero(
    service: RunningService, transport: str, way: str, code: int
) -> None:
    with program_of(service, transport, way) as program:
        program.session()
        program.say("leave")
        assert program.ended_by_itself()[0] == code
    until_zero(service)
    until_no_session(service)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_halted_program_fades_to_zero_and_goes_on_afterwards(service: RunningService, transport: str) -> None:
    with program_of(service, transport, "end") as program:
        session = program.session()
        program.signal(signal.SIGSTOP)
        until_zero(service)
        assert service.request("GET", f"/sessions/{session}")[0] == 200
        program.signal(signal.SIGCONT)
        eventually(lambda: arm_force(service) > 0, "it pushes again", pause_s=0.005)
        assert program.ended()[0] == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_service_that_goes_is_one_clear_error(transport: str, number: signal.Signals) -> None:
    with RunningService() as service, program_of(service, transport, "end") as program:
        program.session()
        if number == signal.SIGKILL:
            service.kill()
        else:
            assert service.stop(number) == 0
        code, out, errors = program.ended_by_itself()

    assert (code, out) == (1, "")
    (line,) = errors.splitlines()
    assert line.startswith("hapticd::ServiceLost: ")
    assert "forces are zero" in line


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_only_the_expected_instance_will_do(service: RunningService, transport: str) -> None:
    instance = service.request("GET", "/version")[1]["instance"]

    with program_of(service, transport, "expect", instance) as program:
        assert program.ended() == (0, f"{instance}\n", "")
    with program_of(service, transport, "expect", "0123456789abcdef") as program:
        code, _, errors = program.ended()

    assert code == 1
    assert errors.startswith(f"hapticd::WrongInstance: the running service is {instance}, and 0123456789abcdef was")
    until_no_session(service)


def test_loop_refuses_options_that_it_does_not_take_and_a_closed_service(service: RunningService) -> None:
    with program_of(service, "socket", "options") as program:
        code, out, errors = program.ended()

    assert (code, errors) == (0, "")
    invalid = "hapticd::InvalidCommand: "
    assert out.splitlines() == [
        *(f"{invalid}a rate is above 0 turns/s, and this is {rate}" for rate in ("nan", "inf", "0", "-1")),
        *(f"{invalid}seconds is 0 s or more, and this is {seconds}" for seconds in ("nan", "-1")),
        *(f"{invalid}max_force is 0 N or more, and this is {force}" for force in ("nan", "inf", "-1")),
        f"{invalid}a budget is above 0 s, and this is nan",
        f"{invalid}stop_after_misses is 1 or more, and this is 0",
        "hapticd::SessionClosed: this service object is closed: connect again",
    ]


def test_configuration_is_that_of_the_service(service: RunningService) -> None:
    with program_of(service, "socket", "configure") as program:
        code, out, errors = program.ended()

    assert (code, errors) == (0, "")
    shown = json.loads(out)
    assert shown["config"]["damping"] == {"scalar": 2}
    assert shown["config"]["force_gate"] == {"gain": 0.5}
    assert shown["config"]["mount"]["position"]["x"] == 0.01
    assert shown["transform"]["scale"] == {"x": 2, "y": 2, "z": 2}


def test_shared_memory_refuses_what_has_no_effect_there(service: RunningService) -> None:
    with program_of(service, "local", "configure") as program:
        code, _, errors = program.ended()

    assert code == 1
    assert errors.startswith("hapticd::InvalidCommand: shared memory is in the device frame, so mount has no effect")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_states_are_those_of_the_service(service: RunningService, transport: str) -> None:
    with program_of(service, transport, "states") as program:
        code, out, errors = program.ended()
    _, devices = service.request("GET", "/devices")

    assert (code, errors) == (0, "")
    shown = json.loads(out)
    for kind in ("arm", "grip"):
        (device,) = devices[kind]
        found = shown[device["device_id"]]
        assert found["kind"] == kind
        assert found["ready"] is device["status"]["ready"]
        assert len(found["orientation"]) == 4
    arm, grip = shown[devices["arm"][0]["device_id"]], shown[devices["grip"][0]["device_id"]]
    assert all(
        isinstance(number, float | int) for name in ("position", "velocity", "force", "angles") for number in arm[name]
    )
    assert arm["buttons"] == {}
    assert set(grip["buttons"]) == {"a", "b", "c"}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_example_ends_at_ctrl_c_and_prints_its_figures(service: RunningService, transport: str) -> None:
    until_no_session(service)
    with Program(service, transport, path=example(), compiled=True) as program:
        eventually(lambda: service.request("GET", "/sessions")[1]["session_count"] == 1, "it is there", pause_s=0.01)
        program.signal(signal.SIGINT)
        code, out, errors = program.ended_by_itself()

    assert (code, errors) == (0, ""), url_of(service, transport)
    assert "of 1000 turns/s" in out
    until_no_session(service)
