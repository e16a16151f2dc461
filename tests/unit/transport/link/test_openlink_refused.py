"""A board that cannot be driven is sent only IDENTIFY: no thread, no command, and an error that names the reason."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from actors.port.link_interface import OpenLimits, PortUnusable
from actors.values.hardware import Candidate, PortFault, Transport
from fastpath.arena.runtime import Runtime
from fastpath.codecs.openlink_messages import Capability, DeviceKind, Identify, Identity
from fastpath.codecs.openlink_py import Decoder, encode
from transport.link.protocols.openlink.driver import open_link

CANDIDATE = Candidate("p0", "/dev/p0", Transport.SERIAL)


@dataclass
class Port:
    """An open serial port with one board that answers IDENTIFY and nothing else."""

    identity: Identity
    heard: list[object] = field(default_factory=list)
    answers: bytes = b""

    def read(self, _size: int, /) -> bytes:
        said, self.answers = self.answers, b""
        return said

    def write(self, data: bytes, /) -> int:
        frames = Decoder().feed(data)
        self.heard += [frame.message for frame in frames]
        if any(isinstance(frame.message, Identify) for frame in frames):
            self.answers += encode(self.identity)
        return len(data)

    def fileno(self) -> int:
        raise AssertionError("nobody exchanges with it")


@pytest.mark.parametrize(
    ("identity", "says"),
    [
        (Identity(DeviceKind.ARM, mechanism=2, capabilities=Capability.TORQUE), "kinematics"),
        (Identity(DeviceKind.COMPACT, capabilities=Capability.FORCE | Capability.CURSOR, peak_force=1000.0), "1000 N"),
    ],
)
def test_refused_board_gets_only_identify(identity: Identity, says: str) -> None:
    port = Port(identity)

    with pytest.raises(PortUnusable) as refused:
        open_link(CANDIDATE, port, Runtime(stepping=True), OpenLimits(), threading.Event())

    assert refused.value.reason is PortFault.NO_DRIVER
    assert says in refused.value.sentence
    assert {type(message) for message in port.heard} == {Identify}
