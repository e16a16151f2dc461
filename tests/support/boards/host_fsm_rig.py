"""The host state machine of an open link with a manual clock, and identities of devices that it meets."""

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
        self.host_fsm = HostFsm(tries=tries, answer_s=answer_s)
        self.host_fsm.start_waking()
        self.now_ns = 10**9
        self.sent: list[Frame] = []
        self._sequence = 0

    def receive(self, *messages: Message, device: int = 0) -> list[Frame]:
        """Deliver messages of one device to the host; return the frames that it sends then."""
        frames = []
        for message in messages:
            self._sequence += 1
            frames.append(Frame(device, self._sequence, message))
        return self._step(frames)

    def wait(self, ms: float, *, states: bool = False) -> list[Frame]:
        """Advance the clock in steps of 10 ms, with `states` while all devices send states; return the frames sent."""
        sent: list[Frame] = []
        for _ in range(round(ms / 10)):
            self.now_ns += 10 * MS
            if states:
                for peer in self.host_fsm.peers:
                    self.host_fsm.update_from_thread(peer.index, self.now_ns, 0, 0)
            sent += self._step([])
        return sent

    def of_kind(self, kind: type[Message], sent: list[Frame]) -> list[Frame]:
        """Return those of the frames that carry a message of this type."""
        return [frame for frame in sent if isinstance(frame.message, kind)]

    def ids(self) -> list[str]:
        """Return the ids of the devices that sent their identity."""
        return [peer.identity.device_id for peer in self.host_fsm.peers if peer.identity is not None]

    def ended(self) -> CalibrationResult | None:
        """Return the result of the first device's calibration, None while there is none."""
        return self.host_fsm.peers[0].ended

    def _step(self, frames: list[Frame]) -> list[Frame]:
        packets = self.host_fsm.step(self.now_ns, frames)
        sent = [frame for packet in packets for frame in Decoder().feed(packet)]
        self.sent += sent
        return sent

    def awake(self, identity: Identity = ARM) -> None:
        """Make the host see one ready board without a receiver."""
        self._step([])
        self.receive(identity)
        self.receive(READY)
