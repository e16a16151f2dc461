"""The failsafe process writes zero packets when the service dies, only then, and survives Ctrl-C."""

from __future__ import annotations

import logging
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.polling import eventually
from transport.link.failsafe import CHECK_S, FIRST_PAUSE_S, REPLY_S, FailsafeChange, FailsafeProcess

ROOT = Path(__file__).parents[3]
ZERO = b"\x02\x05" + bytes(8)
DIES = """
import os, signal, sys
from transport.link.failsafe import FailsafeProcess
failsafe = FailsafeProcess()
failsafe.watch(int(sys.argv[1]), bytes.fromhex(sys.argv[2]))
SAYS
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def failsafe() -> Iterator[FailsafeProcess]:
    made = FailsafeProcess()
    yield made
    made.close()


def rest_of(descriptor: int) -> bytes:
    """Everything up to the end that comes when nobody holds the other side any more."""
    parts = []
    while select.select([descriptor], [], [], 10)[0] and (part := os.read(descriptor, 1 << 16)):
        parts.append(part)
    return b"".join(parts)


def heard_from_the_dead(says: str = "") -> bytes:
    """What a port hears of a service that is killed with it open."""
    ours, theirs = os.pipe()
    arguments = [str(theirs), ZERO.hex()]
    program = DIES.replace("SAYS", says)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], pass_fds=[theirs], cwd=ROOT, check=False, timeout=60
    )
    os.close(theirs)
    assert done.returncode == -signal.SIGKILL
    heard = rest_of(ours)
    os.close(ours)
    return heard


def test_killed_service_leaves_zero_on_its_port() -> None:
    assert heard_from_the_dead() == ZERO


def test_properly_closed_port_gets_no_packet() -> None:
    assert heard_from_the_dead("failsafe.forget(int(sys.argv[1]))") == b""


def test_ctrl_c_and_sigterm_do_not_end_the_failsafe() -> None:
    says = "for number in (2, 15, 1): os.kill(failsafe.pid, number)\nfailsafe.watch(int(sys.argv[1]), b'new')"

    assert heard_from_the_dead(says) == b"new"


def test_failsafe_holds_only_its_socket_and_the_ports(failsafe: FailsafeProcess) -> None:
    listening, port = os.pipe()
    failsafe.watch(port, ZERO)
    held = {entry.readlink() for entry in Path(f"/proc/{failsafe.pid}/fd").iterdir()}

    assert {str(place).split(":")[0] for place in held} == {"socket", "pipe", "/dev/null"}
    assert len([place for place in held if str(place).startswith(("socket", "pipe"))]) == 2
    failsafe.forget(port)
    os.close(port)
    assert os.read(listening, 1) == b""
    os.close(listening)


def test_close_ends_and_reaps_the_failsafe_process(failsafe: FailsafeProcess) -> None:
    pid = failsafe.pid

    failsafe.close()
    failsafe.close()

    assert failsafe.pid is None
    assert not Path(f"/proc/{pid}").exists()


class Changes:
    """What a failsafe process tells, and waits for it."""

    def __init__(self, failsafe: FailsafeProcess) -> None:
        self.seen: list[FailsafeChange] = []
        failsafe.on_change = self.seen.append

    def wait(self, count: int) -> list[FailsafeChange]:
        """The first `count` changes."""
        eventually(lambda: len(self.seen) >= count, f"{count} changes of the failsafe process", pause_s=0.005)
        return self.seen[:count]


def is_gone(pid: int) -> bool:
    """Whether a process has ended and was reaped."""
    return not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    ("number", "reason"), [(signal.SIGKILL, "it ended with -9"), (signal.SIGSTOP, "it hangs")], ids=["killed", "hung"]
)
def test_lost_process_is_reaped_and_another_one_has_every_open_port(
    failsafe: FailsafeProcess, number: signal.Signals, reason: str
) -> None:
    pipes = [os.pipe() for _ in range(3)]
    for index, (_, port) in enumerate(pipes):
        failsafe.watch(port, bytes([index]) * 4)
    failsafe.forget(pipes[1][1])
    changes, lost = Changes(failsafe), failsafe.pid
    assert lost is not None

    os.kill(lost, number)

    away, back = changes.wait(2)
    assert (away.running, away.reason, away.ports, away.restarts) == (False, reason, 2, 0)
    assert (back.running, back.ports, back.restarts) == (True, 2, 1)
    assert is_gone(lost)
    assert failsafe.pid not in {None, lost}
    failsafe.close()
    for _, port in pipes:
        os.close(port)
    # The lost process wrote nothing, also when it was ended.
    assert [rest_of(ours) for ours, _ in pipes] == [b"\0\0\0\0", b"", b"\2\2\2\2"]
    for ours, _ in pipes:
        os.close(ours)


def test_a_call_that_finds_the_process_dead_returns_and_the_next_process_has_the_port(
    failsafe: FailsafeProcess,
) -> None:
    ours, port = os.pipe()
    changes = Changes(failsafe)
    assert failsafe.pid is not None
    os.kill(failsafe.pid, signal.SIGKILL)
    failsafe.watch(port, ZERO)

    changes.wait(2)
    failsafe.close()
    os.close(port)

    assert rest_of(ours) == ZERO
    os.close(ours)


def test_process_that_is_killed_again_and_again_is_started_later_each_time(failsafe: FailsafeProcess) -> None:
    changes = Changes(failsafe)
    for times in range(1, 5):
        assert failsafe.pid is not None
        os.kill(failsafe.pid, signal.SIGKILL)
        changes.wait(2 * times)

    assert [change.running for change in changes.seen] == [False, True] * 4
    assert failsafe.restarts == 4
    assert failsafe._pause_s == 4 * FIRST_PAUSE_S


def test_changes_are_logged_as_error_and_warning(failsafe: FailsafeProcess, caplog: pytest.LogCaptureFixture) -> None:
    assert failsafe.pid is not None
    with caplog.at_level(logging.WARNING):
        os.kill(failsafe.pid, signal.SIGKILL)
        eventually(lambda: len(caplog.records) == 2, "both lines", pause_s=0.005)

    assert [(record.levelname, record.message.split(" (")[0]) for record in caplog.records] == [
        ("ERROR", "the failsafe process is lost"),
        ("WARNING", "another failsafe process runs and has 0 open ports"),
    ]


def test_close_while_no_process_can_be_started_returns(
    failsafe: FailsafeProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = Changes(failsafe)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert failsafe.pid is not None
    os.kill(failsafe.pid, signal.SIGKILL)
    changes.wait(2)

    failsafe.close()
    assert not any(change.running for change in changes.seen)


def test_each_port_gets_its_packet_and_a_full_one_blocks_no_other(failsafe: FailsafeProcess) -> None:
    pipes = [os.pipe() for _ in range(3)]
    full = bytes(1 << 16)
    os.write(pipes[1][1], full)
    for index, (_, port) in enumerate(pipes):
        failsafe.watch(port, bytes([index]) * 4)
        os.close(port)

    failsafe.close()

    assert [rest_of(ours) for ours, _ in pipes] == [b"\0\0\0\0", full, b"\2\2\2\2"]
    for ours, _ in pipes:
        os.close(ours)


def test_loss_is_noticed_within_a_second() -> None:
    assert CHECK_S + REPLY_S <= 1.0
