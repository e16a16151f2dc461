"""The failsafe process of a running service is killed or stopped: another one takes its place and its ports, and everybody is told."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.clients.event_client import Event, EventClient
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.service.shutdown_timing import HAPI_DEVICE, CommandStream, hapi_service, motors_turn

LOST = "ERROR transport.link.failsafe: the failsafe process is lost"


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService() as running:
        yield running


def failsafes(service: RunningService) -> list[psutil.Process]:
    """The failsafe processes of the service, zombies included."""
    return psutil.Process(service.process.pid).children()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hung"])
def test_lost_failsafe_process_is_replaced_counted_and_told(service: RunningService, number: signal.Signals) -> None:
    (lost,) = eventually(lambda: failsafes(service), "a failsafe process", pause_s=0.01)
    before, restarts = service.log.count(LOST), restarts_of(service)
    with EventClient(service.events, kinds="failsafe-changed") as listener:
        lost.send_signal(number)
        away = listener.wait_for_event("failsafe-changed", running=False)
        back = listener.wait_for_event("failsafe-changed", running=True)

    assert (away["level"], back["level"]) == ("error", "notice")
    # A machine that gives nobody a turn may lose another one.
    assert restarts + 1 <= back["data"]["restarts"] <= restarts_of(service)
    assert service.log.count(LOST) > before
    (found,) = eventually(lambda: failsafes(service), "another failsafe process", pause_s=0.01)
    assert found.pid != lost.pid
    assert found.status() != psutil.STATUS_ZOMBIE
    eventually(lambda: service.request("GET", "/readyz")[0] == 200, "the service is ready again", pause_s=0.01)


@pytest.mark.parametrize("losses", [1, 2])
def test_newest_failsafe_process_zeroes_a_board_without_a_watchdog_of_a_killed_service(
    tmp_path: Path, losses: int
) -> None:
    with (
        hapi_service(tmp_path) as (service, board),
        EventClient(service.events, kinds="failsafe-changed") as listener,
        CommandStream(service.ws, "compact", HAPI_DEVICE),
    ):
        eventually(lambda: motors_turn(board), "the motors turn", pause_s=0.002)
        for _ in range(losses):
            assert lose(service, listener)["data"]["ports"] == 1
        eventually(lambda: service.request("GET", "/readyz")[0] == 200, "the service is ready again", pause_s=0.01)
        eventually(lambda: motors_turn(board), "the motors still turn", pause_s=0.002)

        service.kill()

        eventually(lambda: not any(board.duties), "the motors are off", pause_s=0.002)


def lose(service: RunningService, listener: EventClient) -> Event:
    """Kill the failsafe process; the event of the one that takes its place."""

    def starts() -> list[Event]:
        return listener.received_events("failsafe-changed", running=True)

    before = len(starts())
    (lost,) = eventually(lambda: failsafes(service), "a failsafe process", pause_s=0.01)
    lost.kill()
    return eventually(lambda: starts()[before:], "another failsafe process runs", pause_s=0.005)[0]


def restarts_of(service: RunningService) -> int:
    """The metric."""
    _, page = service.request("GET", "/metrics")
    (line,) = [line for line in str(page).splitlines() if line.startswith("hapticd_failsafe_restarts_total ")]
    return int(float(line.split()[1]))
