"""Clients that use only the public vocabulary, on default options: they work, or the log says what to change."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.support.clients.event_client import EventClient
from tests.support.clients.foreign_clients import CLIENTS
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from transport.session.vocabulary import NAMED_WITHIN_S

ROOT: Final = Path(__file__).parents[2]
TIMEOUT_S: Final = 60
CURE: Final = re.compile(r"INFO \S+: session (\d+) .*\?vocabulary=inverse.* --vocabulary inverse")


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService() as running:
        yield running


@contextmanager
def started(name: str, url: str) -> Generator[subprocess.Popen[str]]:
    """One client in a process of its own, which is ended behind."""
    command = [sys.executable, "-m", "tests.support.clients.foreign_clients", name, url]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
        try:
            yield client
        finally:
            client.kill()


def session_of(listener: EventClient) -> int:
    """The id of the session that was opened."""
    return int(listener.wait_for_event("session-opened")["data"]["session_id"])


def cured(service: RunningService) -> list[int]:
    """The sessions for which the log says what to do."""
    return [int(found) for found in CURE.findall(service.log)]


def test_vocabulary_hint_is_logged_within_three_seconds() -> None:
    assert NAMED_WITHIN_S < 3


@pytest.mark.parametrize("name", ["driver_node", "grip_reader"])
def test_client_that_sends_first_works_with_default_options(service: RunningService, name: str) -> None:
    with EventClient(service.events, kinds="session-opened") as listener, started(name, service.ws) as client:
        out, errors = client.communicate(timeout=TIMEOUT_S)
        assert client.returncode == 0, errors

        assert out.startswith("worked with ")
        assert session_of(listener) in cured(service)


def test_client_that_reads_first_fails_and_the_log_names_the_option(service: RunningService) -> None:
    with (
        EventClient(service.events, kinds="session-opened") as listener,
        started("force_loop", service.ws) as client,
    ):
        _, errors = client.communicate(timeout=TIMEOUT_S)
        session = session_of(listener)

        assert "KeyError: 'inverse3'" in errors
        eventually(lambda: session in cured(service), "the log says what to do", pause_s=0.01)


def test_client_waiting_for_inverse_words_causes_a_log_line_and_an_event(service: RunningService) -> None:
    with (
        EventClient(service.events, kinds="session-opened,session-warning") as listener,
        started("driver_node_of_all", service.ws),
    ):
        session = session_of(listener)
        event = listener.wait_for_event("session-warning", session_id=session, reason="vocabulary")

        eventually(lambda: session in cured(service), "the log says what to do", pause_s=0.01)
        assert event["data"]["cause"] == "silent"
        assert "?vocabulary=inverse" in event["message"]


@pytest.mark.parametrize("name", list(CLIENTS))
def test_client_works_with_the_url_that_the_log_names(service: RunningService, name: str) -> None:
    with started(name, f"{service.ws}/?vocabulary=inverse") as client:
        out, errors = client.communicate(timeout=TIMEOUT_S)

    assert client.returncode == 0, errors
    assert out.startswith("worked with ")


@pytest.mark.parametrize("name", list(CLIENTS))
def test_client_works_with_the_option_that_the_log_names(name: str, tmp_path: Path) -> None:
    with (
        RunningService("--vocabulary", "inverse", state_dir=tmp_path) as service,
        started(name, service.ws) as client,
    ):
        out, errors = client.communicate(timeout=TIMEOUT_S)

    assert client.returncode == 0, errors
    assert out.startswith("worked with ")
    assert cured(service) == []


def test_ready_lines_name_the_vocabulary_and_the_option(service: RunningService) -> None:
    before, _, _ = service.log.partition("\nready ")
    lines = before.splitlines()

    assert (
        "words (auto): arm, compact, grip, pen; inverse3, verse_grip, wireless_verse_grip, custom_verse_grip"
        " for a session from the first of these words that it sends"
    ) in lines
    assert "other words: --vocabulary auto|neutral|inverse, or ?vocabulary= in the URL of one connection" in lines
