"""Parameters of the open link's port thread: command rates and the final packets."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from actors.port.link_interface import OpenLimits
from actors.values.hardware import Candidate, Transport
from fastpath.arena.runtime import Runtime
from fastpath.codecs.openlink_messages import Capability, Command, CommandMode, DeviceKind, Identity, Wake
from fastpath.codecs.openlink_py import WATCHDOG_S, Decoder, encode
from tests.support.boards.fake_port_thread import CannotStart, FakePortThread
from transport.link.protocols.openlink import driver
from transport.link.protocols.openlink.peer import Peer

EVERYTHING = Capability(0x1FFFF)
ARM = Identity(DeviceKind.ARM, firmware_major=7, firmware_minor=5, capabilities=EVERYTHING, device_id="A1")
GRIP = Identity(DeviceKind.GRIP, rate_hz=50, device_id="G1")
RECEIVER = Identity(DeviceKind.RECEIVER, slots=4, device_id="R")
CANDIDATE = Candidate("ttyACM0", "/dev/ttyACM0", Transport.SERIAL)


class Port:
    """A board that says who it is, again and again, at a descriptor of nothing."""

    def __init__(self, descriptor: int, identity: Identity) -> None:
        self._descriptor = descriptor
        self._identity = identity
        self._sequence = 0

    def read(self, _size: int, /) -> bytes:
        self._sequence += 1
        return encode(self._identity, sequence=self._sequence)

    def write(self, data: bytes, /) -> int:
        return len(data)

    def fileno(self) -> int:
        return self._descriptor


@pytest.fixture
def descriptor() -> Iterator[int]:
    opened = os.open(os.devnull, os.O_RDWR)
    yield opened
    os.close(opened)


def made(monkeypatch: pytest.MonkeyPatch, descriptor: int, identity: Identity) -> FakePortThread:
    """The thread for a board of that identity."""
    threads: list[FakePortThread] = []
    monkeypatch.setattr(driver, "PortThread", partial(FakePortThread, threads))
    port, runtime = Port(descriptor, identity), Runtime(stepping=True, realtime=False)
    with pytest.raises(CannotStart):
        driver.open_link(CANDIDATE, port, runtime, OpenLimits(), threading.Event())
    (thread,) = threads
    assert thread.protocol == "openlink"
    return thread


def heard(data: bytes) -> list[object]:
    return [frame.message for frame in Decoder().feed(data)]


@pytest.mark.parametrize(("says", "gets"), [(125, 125), (400, 400), (1000, 1000), (4000, 1000)])
def test_board_gets_its_requested_command_rate_up_to_a_thousand(
    monkeypatch: pytest.MonkeyPatch, descriptor: int, says: int, gets: int
) -> None:
    identity = replace(ARM, mechanism=1, rate_hz=says)

    thread = made(monkeypatch, descriptor, identity)

    assert thread.given["rates_hz"] == (gets,)
    assert thread.given["config"] == bytes([CommandMode.TORQUE])
    assert Peer(0, identity).commands_hz == gets


def test_unattached_board_gets_commands_often_enough_for_its_watchdog(
    monkeypatch: pytest.MonkeyPatch, descriptor: int
) -> None:
    thread = made(monkeypatch, descriptor, ARM)

    assert thread.idle == {0: 200}
    assert thread.idle[0] * WATCHDOG_S >= 2


def test_final_packets_end_the_force_then_put_the_board_to_sleep(
    monkeypatch: pytest.MonkeyPatch, descriptor: int
) -> None:
    thread = made(monkeypatch, descriptor, ARM)

    assert heard(thread.given["zero_packet"]) == [
        Command(CommandMode.RELEASE, (0.0, 0.0, 0.0)),
        Wake(awake=False, rate_hz=0),
    ]


def test_handle_gets_no_commands_and_a_receiver_no_final_packets(
    monkeypatch: pytest.MonkeyPatch, descriptor: int
) -> None:
    grip, receiver = made(monkeypatch, descriptor, GRIP), made(monkeypatch, descriptor, RECEIVER)

    assert (grip.given["rates_hz"], grip.idle) == ((0,), {})
    assert (set(receiver.given["rates_hz"]), receiver.idle, receiver.given["zero_packet"]) == ({0}, {}, b"")
