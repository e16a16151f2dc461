"""Every shutdown of the service ends in zero force: one signal, two signals, during the start, after a crash inside.

What the motors get last is read where the loop left it: the watched service prints its devices' last states when it is done.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.support.clients.event_client import EventClient
from tests.support.clients.streaming_clients import StreamingClient, StreamingClients
from tests.support.service.actor_faults import blocked_actor, running_actor
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.service.running_system import RunningSystem

ROOT = Path(__file__).parents[2]
WATCHED = [sys.executable, "-m", "tests.support.service.instrumented_service"]
AT_ROOT = {"PYTHONPATH": str(ROOT)}
TIMEOUT_S = 60.0
FRAMES = 100
ZERO = (0.0, 0.0, 0.0)
CLIENTS = 4
# More than fit into the pipe that wakes the event loop.
MANY = 300
GOING_AWAY = 1001
LAST_WORDS = "stopped: zero force on every device"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder on no disk, where there is such a place."""
    shared = Path("/dev/shm")  # noqa: S108 - the place itself is wanted
    with TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


def watched(state_dir: Path, **environment: str) -> RunningService:
    return RunningService(command=WATCHED, state_dir=state_dir, environment={**AT_ROOT, **environment})


@contextmanager
def launched(service: RunningService) -> Generator[subprocess.Popen[str]]:
    """The service's process as it starts, whether it gets ready or not."""
    process = subprocess.Popen(
        service.command_line(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=service._environment,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(process: subprocess.Popen[str], beginning: str) -> None:
    """Read standard output up to a line that begins like that."""
    assert process.stdout is not None
    assert any(line.startswith(beginning) for line in iter(process.stdout.readline, "")), "it ended before"


def outcome(service: RunningService) -> Any:
    """What a watched service left behind."""
    (line,) = [line for line in service.log.splitlines() if line.startswith("outcome ")]
    return json.loads(line.removeprefix("outcome "))


def log_lines(service: RunningService) -> list[str]:
    """What it said on standard error."""
    return [line for line in service.log.splitlines() if " hapticd" in line]


def pushes(client: StreamingClient) -> bool:
    """Whether the client's frames show a force."""
    return bool(client.frame["arm"][0]["state"]["current_cursor_force"]["z"] > 0)


def restarted(service: RunningService, times: int) -> bool:
    """Whether the store was started again that often."""
    return service.log.count("settings is started again") == times


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGALRM])
def test_signal_under_load_ends_in_zero_force_and_exit_code_0(memory: Path, number: signal.Signals) -> None:
    service = watched(memory)
    with service, EventClient(service.events) as listener, StreamingClients(service.ws, CLIENTS, 0.5) as clients:
        eventually(lambda: all(pushes(client) for client in clients.clients), "every client sees force", pause_s=0.01)

        service.process.send_signal(number)
        code = service.process.wait(TIMEOUT_S)

        assert code == 0
        assert [client.close_code() for client in clients.clients] == [GOING_AWAY] * CLIENTS
        assert listener.ended.wait(TIMEOUT_S)
        assert listener.code == GOING_AWAY
        service.wait()
    left = outcome(service)
    assert left["ticks"] > 0
    assert left["forces"] == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert left["running"] is False
    assert left["threads"] == []
    assert log_lines(service)[-1].endswith(LAST_WORDS)
    assert "Traceback" not in service.log


@pytest.mark.parametrize("hangs", [False, True])
def test_signal_during_the_start_exits_with_0(memory: Path, hangs: bool) -> None:
    hold = memory / "hold"
    hold.touch()
    with launched(watched(memory / "state", HOLD=str(hold))) as process:
        wait_for(process, "the start is held")

        process.terminate()
        if not hangs:
            hold.unlink()
        output, log = process.communicate(timeout=TIMEOUT_S)

    assert process.returncode == 0, log
    assert "ready" not in output
    assert ("the start hangs and is left behind" in log) is hangs
    assert log.splitlines()[-1].endswith(LAST_WORDS)
    assert "Traceback" not in log
    left = json.loads(output.removeprefix("outcome "))
    assert left["running"] is False
    assert left["ticks"] == 0 or not hangs
    assert ("hd-start" in left["threads"]) is hangs


def test_failed_start_prints_one_line_and_exits_with_1(tmp_path: Path) -> None:
    with launched(watched(tmp_path, FAIL="no room on the board")) as process:
        output, log = process.communicate(timeout=TIMEOUT_S)

    assert process.returncode == 1, log
    left = json.loads(output.removeprefix("outcome "))
    assert left["running"] is False
    assert left["threads"] == []
    zero, last = log.splitlines()[-2:]
    assert zero.endswith(LAST_WORDS)
    assert last.endswith("CRITICAL hapticd: the service could not start: no room on the board")


def test_blocked_actor_does_not_delay_zero_force(tmp_path: Path) -> None:
    with RunningSystem(tmp_path) as system, StreamingClients(system.ws, CLIENTS, 0.5) as clients:
        eventually(lambda: system.force() != ZERO, "a force is applied", pause_s=0.002, tries=5_000)

        with blocked_actor(system.directory, "sessions"):
            end = threading.Thread(target=system.system.stop)
            end.start()
            eventually(lambda: not system.runtime.running, "the loop has ended", pause_s=0.002, tries=5_000)
            # Actors are stopped in reverse: none has been, for the one that hangs is the last.
            assert all(running_actor(system.directory, name) for name in ("settings", "events", "fastpath", "devices"))
            assert system.force() == ZERO
            clients.wait_frames(FRAMES)
            assert system.force() == ZERO
        end.join(TIMEOUT_S)
        assert not end.is_alive()


def test_repeated_signals_keep_the_exit_code(tmp_path: Path) -> None:
    with launched(watched(tmp_path)) as process:
        wait_for(process, "ready ")

        def insist() -> bool:
            for number in MANY * (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                process.send_signal(number)
            return process.poll() is not None

        eventually(insist, "it ends", pause_s=0.001, tries=5_000)
        output, log = process.communicate(timeout=TIMEOUT_S)

    assert process.returncode == 0, log
    assert "Traceback" not in log
    assert json.loads(output.splitlines()[-1].removeprefix("outcome "))["running"] is False


def test_log_level_applies_at_once_and_sighup_logs_it(tmp_path: Path) -> None:
    with RunningService(state_dir=tmp_path) as service:
        assert service.request("GET", "/version")[0] == 200
        assert "DEBUG" not in service.log

        assert service.request("POST", "/settings/misc/log_level", "debug")[0] == 200
        assert service.request("GET", "/version")[0] == 200
        eventually(lambda: "DEBUG hapticd.access" in service.log, "debug lines are logged", pause_s=0.01)

        service.process.send_signal(signal.SIGHUP)
        eventually(lambda: "hapticd: log level is debug" in service.log, "the level is said", pause_s=0.01)

        assert service.request("POST", "/settings/misc/log_level", "error")[0] == 200
        assert service.is_running()
    assert "log level is error" not in service.log


def test_repeatedly_crashing_base_actor_ends_the_service_with_one_line_and_exit_code_1(memory: Path) -> None:
    service = watched(memory, BREAK="settings")
    with service, StreamingClients(service.ws, CLIENTS, 0.5) as clients:
        eventually(lambda: all(pushes(client) for client in clients.clients), "every client sees force", pause_s=0.01)
        for restarts in range(1, 6):
            service.process.send_signal(signal.SIGUSR2)
            eventually(partial(restarted, service, restarts), "the store is started again", pause_s=0.005)
            clients.wait_frames(20)

        service.process.send_signal(signal.SIGUSR2)
        code = service.process.wait(TIMEOUT_S)

        assert code == 1
        assert [client.close_code() for client in clients.clients] == [GOING_AWAY] * CLIENTS
        service.wait()
    left = outcome(service)
    assert left["forces"] == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert left["running"] is False
    zero, last = log_lines(service)[-2:]
    assert zero.endswith(LAST_WORDS)
    assert "CRITICAL" in last
    assert "the service ended because settings failed too often: PlannedCrash('killed by a test')" in last
