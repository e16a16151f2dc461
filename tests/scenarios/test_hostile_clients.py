"""Bad clients of every kind beside a good one: the good client and the loop are unaffected, nothing leaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Final

import pytest

from tests.support.clients.bad_client_kinds import BadMessages, BadStreams, ClientTargets, ClientThread, GoodClient
from tests.support.clients.bad_clients import COMMAND_TIMEOUT_S, SIMULATE, bad_clients, choose_devices
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.service.ticks import metric, window
from tests.support.wire.cases import read_cases

WINDOWS: Final = 3
WINDOW_TICKS: Final = 2000


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService(simulate=SIMULATE, settings={"sessions/command_timeout": COMMAND_TIMEOUT_S}) as running:
        yield running


@pytest.fixture(scope="module")
def targets(service: RunningService) -> ClientTargets:
    return choose_devices(service)


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What was seen while the good client streamed, alone and among the bad ones in turn."""

    good: GoodClient
    nonsense: BadMessages
    streams: BadStreams
    alone: list[float]
    among: list[float]
    interrupted: bool
    """The loop was so late that its output ramps up again, or the good client so late that its force timed out."""


@pytest.fixture(scope="module")
def aftermath(service: RunningService, targets: ClientTargets) -> Aftermath:
    good, nonsense, streams = GoodClient(targets), BadMessages(targets), BadStreams(targets)
    alone: list[float] = []
    among: list[float] = []
    gaps = metric(service, "loop_gaps_total")
    with ClientThread("good", good.run):
        assert good.opened.wait(60)
        for _ in range(WINDOWS):
            alone.append(window(service, WINDOW_TICKS))
            with ExitStack() as running:
                for name, work in bad_clients(targets, nonsense, streams).items():
                    running.enter_context(ClientThread(name, work))
                among.append(window(service, WINDOW_TICKS))
    interrupted = metric(service, "loop_gaps_total") > gaps or good.longest_pause_s > 0.9 * COMMAND_TIMEOUT_S
    return Aftermath(good, nonsense, streams, alone, among, interrupted)


def test_every_frame_of_the_good_client_answers_its_message(aftermath: Aftermath) -> None:
    assert aftermath.good.frames > 100


def test_held_command_of_the_good_client_stays_applied(aftermath: Aftermath) -> None:
    good = aftermath.good

    assert good.full > 100
    assert good.reduced == 0 or aftermath.interrupted


def test_each_bad_message_and_stream_gets_its_specified_answer(aftermath: Aftermath) -> None:
    assert aftermath.nonsense.turns > 0
    assert aftermath.streams.turns > 0
    assert len(read_cases("bad_messages")) + len(read_cases("bad_streams")) >= 60


def test_bad_clients_leave_no_session_and_no_command(service: RunningService, aftermath: Aftermath) -> None:
    assert aftermath.among
    eventually(lambda: service.request("GET", "/sessions")[1]["session_count"] == 0, "no session is open", pause_s=0.05)
    eventually(lambda: metric(service, "sessions_open") == 0, "no session is counted", pause_s=0.05)
    _, devices = service.request("GET", "/devices")
    for arm in devices["arm"]:
        assert arm["state"]["control_mode"] == "idle"
        assert arm["status"]["in_use"] is False


def test_bad_clients_cause_no_traceback_and_no_actor_restart(service: RunningService, aftermath: Aftermath) -> None:
    assert aftermath.among
    assert "Traceback" not in service.log
    assert service.is_running()
    assert metric_of_actors(service) == 0


def metric_of_actors(service: RunningService) -> float:
    """How many actors had to be started again."""
    found: list[Any] = re.findall(r"^hapticd_actor_restarts_total\{.*\} (\S+)$", service.metrics(), re.MULTILINE)
    return sum(map(float, found))


@pytest.mark.realtime
def test_bad_clients_cause_no_missed_ticks(service: RunningService, aftermath: Aftermath) -> None:
    if metric(service, "loop_realtime") == 0:
        pytest.skip("the loop has no SCHED_FIFO here: whoever uses the processors takes ticks from it")
    bound = fmean(aftermath.alone) + 3 * stdev(aftermath.alone) + 0.01

    assert fmean(aftermath.among) <= bound
