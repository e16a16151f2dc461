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

from transport.link.failsafe import FailsafeProcess

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


def test_failsafe_death_is_logged_once_and_calls_still_return(
    failsafe: FailsafeProcess, caplog: pytest.LogCaptureFixture
) -> None:
    ours, port = os.pipe()
    assert failsafe.pid is not None
    os.kill(failsafe.pid, signal.SIGKILL)
    with caplog.at_level(logging.ERROR):
        failsafe.watch(port, ZERO)
        failsafe.watch(port, ZERO)
        failsafe.forget(port)

    assert [record.message for record in caplog.records if "no failsafe process" in record.message] != []
    assert len(caplog.records) == 1
    for descriptor in (ours, port):
        os.close(descriptor)


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
