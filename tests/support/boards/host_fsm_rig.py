"""The host state machine of an open link with a manual clock, and devices for it to talk to."""

from __future__ import annotations

from actors.port.link_interface import CalibrationResult
from fastpath.codecs.openlink_messages import (
    Capability,
    DeviceKind,
    Identity,
    Message,
    Settle,
    SettlePhase,
)
from fastpath.codecs.openlink_py import Decoder, Frame
from transport.link.protocols.openlink.host_fsm import HostFsm
from transport.link.protocols.openlink.peer import MS

EVERYTHING = Capability(0x1FFFF)
ARM = Identity(DeviceKind.ARM, firmware_major=7, firmware_minor=5, capabilities=EVERYTHING, device_id="A1")
GRIP = Identity(DeviceKind.GRIP, wireless=True, rate_hz=50, device_id="G0")
RECEIVER = Identity(DeviceKind.RECEIVER, slots=4, device_id="R")
SETTLING = Settle(SettlePhase.SETTLING, 5000)
READY = Settle(SettlePhase.READY)


class HostFsmRig:
    """A host state machine, its manual clock, and the packets that it sent."""

    def __init__(self, tries: int = 3, answer_s: float = 2.0) -> None:
        self.talk = HostFsm(tries=tries, answer_s=answer_s)
        self.talk.start_waking()
        self.now_ns = 10**9
        self.said: list[Frame] = []
        self._sequence = 0

    def hear(self, *messages: Message, device: int = 0) -> list[Frame]:
        frames = []
        for message in messages:
            self._sequence += 1
            frames.append(Frame(device, self._sequence, message))
        return self._step(frames)

    def wait(self, ms: float, *, states: bool = False) -> list[Frame]:
        """Let time pass in steps of 10 ms; with `states` every device goes on sending."""
        said: list[Frame] = []
        for _ in range(round(ms / 10)):
            self.now_ns += 10 * MS
            if states:
                for peer in self.talk.peers:
                    self.talk.update_from_thread(peer.index, self.now_ns, 0, 0)
            said += self._step([])
        return said

    def say(self, kind: type[Message], said: list[Frame]) -> list[Frame]:
        return [frame for frame in said if isinstance(frame.message, kind)]

    def ids(self) -> list[str]:
        return [peer.identity.device_id for peer in self.talk.peers if peer.identity is not None]

    def ended(self) -> CalibrationResult | None:
        return self.talk.peers[0].ended

    def _step(self, frames: list[Frame]) -> list[Frame]:
        words = self.talk.step(self.now_ns, frames)
        said = [frame for word in words for frame in Decoder().feed(word)]
        self.said += said
        return said

    def awake(self, identity: Identity = ARM) -> None:
        """A board on its own that is ready."""
        self._step([])
        self.hear(identity)
        self.hear(READY)
