"""Clients that use only the public vocabulary work with a service on default options, whether they read or send first."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.support.clients.foreign_clients import CLIENTS
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

ROOT: Final = Path(__file__).parents[2]
TIMEOUT_S: Final = 60


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


@pytest.mark.parametrize("name", CLIENTS)
def test_client_works_without_an_option(service: RunningService, name: str) -> None:
    with started(name, service.ws) as client:
        out, errors = client.communicate(timeout=TIMEOUT_S)

    assert client.returncode == 0, errors
    assert out.startswith("worked with ")


@pytest.mark.parametrize("name", CLIENTS)
def test_client_works_with_inverse_words_in_its_url(service: RunningService, name: str) -> None:
    with started(name, f"{service.ws}/?vocabulary=inverse") as client:
        out, errors = client.communicate(timeout=TIMEOUT_S)

    assert client.returncode == 0, errors
    assert out.startswith("worked with ")


def test_log_for_debug_names_the_vocabulary_and_the_option() -> None:
    with RunningService(settings={"misc/log_level": "debug"}) as talkative:
        eventually(lambda: "other words: " in talkative.log, "the log has them")
        before = talkative.log

    assert (
        "words (auto): arm, compact, grip, pen and inverse3, verse_grip, wireless_verse_grip, custom_verse_grip,"
        " until a session has used one of these words"
    ) in before
    assert "other words: --vocabulary auto|neutral|inverse, or ?vocabulary= in the URL of one connection" in before


def test_start_says_three_lines(service: RunningService) -> None:
    shown = [line for line in service.log.splitlines() if line.startswith(("dashboard: ", "devices: ", "ready "))]

    assert [line.split()[0] for line in shown] == ["dashboard:", "devices:", "ready"]
    assert "words (" not in service.log.partition("\nready ")[0]
