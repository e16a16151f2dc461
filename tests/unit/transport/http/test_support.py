"""Making of a support bundle beside the event loop: a thread whose result is awaited, a doctor that is a bounded child process."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from actors.kit.errors import Busy
from transport.http.support import DOCTOR_S, THREAD, Support, doctor_report, environment, on_thread


def test_result_of_the_thread_is_awaited() -> None:
    async def run() -> tuple[str, bool]:
        return await on_thread(lambda: (threading.current_thread().name, threading.current_thread().daemon))

    assert asyncio.run(run()) == (THREAD, True)


def test_error_of_the_thread_is_raised() -> None:
    async def run() -> None:
        await on_thread(lambda: int("no number"))

    with pytest.raises(ValueError, match="no number"):
        asyncio.run(run())


def test_event_loop_that_closes_first_does_not_wait_for_the_thread() -> None:
    go, done = threading.Event(), threading.Event()

    def wait() -> None:
        go.wait()
        done.set()

    async def run() -> None:
        on_thread(wait)

    asyncio.run(run())
    go.set()

    assert done.wait(20)


def test_second_bundle_is_refused_until_the_first_has_ended() -> None:
    support = Support()
    support.begin()
    with pytest.raises(Busy, match="being made already"):
        support.begin()
    support.end()
    support.begin()


def test_doctor_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    support = Support(state_path=tmp_path, url="http://127.0.0.1:1")

    assert doctor_report(support, within_s=0).startswith("The doctor did not answer within 0 s")


def test_doctor_that_cannot_be_started_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))

    assert doctor_report(Support(state_path=tmp_path, url="http://127.0.0.1:1")) == (
        "The doctor could not be started: No such file or directory.\n"
    )


def test_doctor_without_an_address_is_not_asked() -> None:
    assert doctor_report(Support()).startswith("The doctor was not asked")


def test_doctor_judges_this_machine_with_the_processors_of_the_service(tmp_path: Path) -> None:
    said = doctor_report(Support(state_path=tmp_path, processors=7, url="http://127.0.0.1:1"), within_s=4 * DOCTOR_S)

    assert "processors: 7 processors, one of them for the loop." in said
    assert "No service answers at http://127.0.0.1:1" in said
    assert str(tmp_path) in said


def test_doctor_inherits_no_setting_token_or_socket_of_the_service() -> None:
    given = {"PATH": "/bin", "HAPTICD_TOKEN": "x", "NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "1", "LISTEN_FDS": "1"}

    assert environment(given) == {"PATH": "/bin"}
