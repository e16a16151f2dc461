"""The helper that starts the service for scenarios, with a stand-in program: it reports a broken service."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.service.addresses import parse_ready
from tests.support.service.process import RunningService

READY = "ready http://127.0.0.1:1 ws://127.0.0.1:1 ws://127.0.0.1:2 (v3.0) ws://127.0.0.1:3 (events)"
STAND_IN = f"""
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGINT}})
mode = os.environ["MODE"]
print("starting", *sys.argv[1:], file=sys.stderr, flush=True)
print("ready-made text that is not the line", flush=True)
if mode == "dies":
    sys.exit("no port")
print("{READY}", flush=True)
print("leaked", os.environ.get("HAPTICD_CONTROL__FREQUENCY"), flush=True)
signal.sigwait({{signal.SIGINT}})
print("last words", flush=True)
sys.exit(3 if mode == "stops badly" else 0)
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("HAPTICD_CONTROL__FREQUENCY", "1")
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN, encoding="utf-8")
    return [sys.executable, str(script)]


def test_ready_line_is_parsed_into_addresses() -> None:
    found = parse_ready(READY)

    assert (found.http, found.ws) == ("http://127.0.0.1:1", "ws://127.0.0.1:1")
    assert (found.ws_v30, found.events) == ("ws://127.0.0.1:2", "ws://127.0.0.1:3")


def test_second_address_of_a_kind_does_not_replace_the_first() -> None:
    assert parse_ready(f"{READY} http://[::1]:9/ ws://[::1]:9").http == "http://127.0.0.1:1"


def test_a_ready_line_without_an_address_is_refused() -> None:
    with pytest.raises(ValueError, match="events"):
        parse_ready("ready http://h:1 ws://h:1 ws://h:2 (v3.0)")


def test_service_runs_inside_and_stops_on_exit(stand_in: list[str]) -> None:
    with RunningService(
        "--log-level", "debug", command=stand_in, environment={"MODE": "runs"}, settings={"a/b": 0.5}
    ) as service:
        assert service.is_running()
        assert service.events == "ws://127.0.0.1:3"
        state_dir = service.state_dir
        assert state_dir.is_dir()

    assert not service.is_running()
    assert not state_dir.exists()
    assert "last words" in service.log
    assert "leaked None" in service.log
    line = service.log.split("starting ", 1)[1].splitlines()[0].split()
    assert line[:5] == ["run", "--simulate", "arm,grip", "--state-dir", str(state_dir)]
    assert line[-2:] == ["--log-level", "debug"]
    assert "a/b=0.5" in line
    assert "communication/websocket/port=0" in line


def test_a_service_can_be_killed_and_started_again_in_its_state_directory(stand_in: list[str]) -> None:
    with RunningService(command=stand_in, environment={"MODE": "runs"}) as service:
        before = service.state_dir
        service.kill()
        assert not service.is_running()
        service.start()
        assert service.is_running()
        assert service.state_dir == before

    assert service.log.count("starting") == 2


def test_a_service_that_dies_at_start_is_an_error_with_its_log(stand_in: list[str]) -> None:
    with (
        pytest.raises(AssertionError, match=r"(?s)exit code 1 before its ready line.*no port"),
        RunningService(command=stand_in, environment={"MODE": "dies"}),
    ):
        pass


def test_a_service_that_stops_badly_is_an_error_with_its_log(stand_in: list[str]) -> None:
    with (
        pytest.raises(AssertionError, match=r"(?s)exit code 3.*last words"),
        RunningService(command=stand_in, environment={"MODE": "stops badly"}),
    ):
        pass


def test_error_inside_is_raised_and_the_log_shown(stand_in: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        RunningService(command=stand_in, environment={"MODE": "stops badly"}),
    ):
        raise ZeroDivisionError

    assert "last words" in capsys.readouterr().out
