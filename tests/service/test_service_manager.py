"""What systemd is told: the protocol of sd_notify(3), over path and abstract sockets, without ever blocking or failing."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from transport.service_manager import MainTurns, ServiceManager


@pytest.fixture(params=["path", "abstract"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "notify") if request.param == "path" else f"@hapticd-test-{tmp_path}"


@pytest.fixture
def manager(address: str) -> Iterator[socket.socket]:
    """The socket of a service manager."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0" + address[1:] if address.startswith("@") else address)
        listening.settimeout(10)
        yield listening


@pytest.fixture
def told(manager: socket.socket, address: str) -> Iterator[ServiceManager]:
    """The service's end of it."""
    del manager
    made = ServiceManager(address)
    yield made
    made.close()


def test_messages_have_the_form_of_sd_notify(manager: socket.socket, told: ServiceManager) -> None:
    assert (told.ready("ready http://x"), told.status("2 sessions"), told.beat(), told.stopping()) == (True,) * 4

    assert [manager.recv(4096) for _ in range(4)] == [
        b"READY=1\nSTATUS=ready http://x",
        b"STATUS=2 sessions",
        b"WATCHDOG=1",
        b"STOPPING=1\nSTATUS=stopping: zero force",
    ]
    told.close()
    assert not told.beat()


def test_status_cannot_bring_another_variable(manager: socket.socket, told: ServiceManager) -> None:
    told.status("a\nMAINPID=1\r\n\udc80" + "x" * 9_999)

    text = manager.recv(65_536).decode()
    assert text.startswith("STATUS=a MAINPID=1 ?xxx")
    assert "\n" not in text
    assert len(text) < 300


def test_manager_that_does_not_read_blocks_nobody(manager: socket.socket, told: ServiceManager) -> None:
    answers = [told.beat() for _ in range(10_000)]

    assert answers[0]
    assert not answers[-1]
    manager.recv(4096)
    assert told.beat()


def test_manager_that_has_gone_is_no_error(manager: socket.socket, told: ServiceManager) -> None:
    manager.close()

    assert not told.ready("x")
    assert not told.stopping()


def test_without_a_manager_nothing_is_told() -> None:
    told = ServiceManager.of_environment({})

    assert (told.ready("x"), told.beat(), told.stopping(), told.watchdog_s) == (False, False, False, None)
    told.close()


@pytest.mark.parametrize("given", ["relative", "/no/such/socket", "@nobody-listens-here", "/" + "x" * 300, "vsock:2:1"])
def test_unusable_address_is_one_warning(given: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        told = ServiceManager(given)

    assert not told.ready("x")
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"NOTIFY_SOCKET={given} ")


def test_variables_are_taken_out_of_the_environment(manager: socket.socket, address: str) -> None:
    environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "77", "PATH": "/bin"}

    told = ServiceManager.of_environment(environment, process=77)

    assert environment == {"PATH": "/bin"}
    assert told.watchdog_s == 10
    assert told.beat()
    assert manager.recv(4096) == b"WATCHDOG=1"
    told.close()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"WATCHDOG_USEC": "3000000"}, 3.0),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "78"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "-5"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "\u0663"}, None),
        ({"WATCHDOG_PID": "77"}, None),
    ],
)
def test_watchdog_is_for_the_process_that_it_names(environment: dict[str, str], expected: float | None) -> None:
    assert ServiceManager.of_environment(environment, process=77).watchdog_s == expected


class PlayedLoop:
    """An event loop whose time is told."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, Callable[[], object]]] = []

    def call_later(self, delay: float, callback: Callable[[], object]) -> object:
        self.waiting.append((delay, callback))
        return None


def test_turns_are_counted_as_long_as_the_loop_turns() -> None:
    loop, turns = PlayedLoop(), MainTurns(0.25)
    turns.begin(loop)

    for _ in range(3):
        ((delay, callback),) = loop.waiting
        assert delay == 0.25
        loop.waiting.clear()
        callback()

    assert turns.count == 4
