"""Host state machine of the open link protocol, without I/O: frames and time in, frames out.

identify -> wake, repeatedly, after `start_waking` -> settle -> awake or asleep. Behind a receiver each present index does this by itself.
The port's thread sends COMMAND, not this machine. One thread at a time; times in ns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from actors.device.api import sent_nothing
from actors.pairing.api import Reason
from actors.port.api import CalibrationResult
from fastpath.codecs.openlink_messages import (
    Calibrate,
    Calibration,
    CalibrationProgress,
    Capability,
    Command,
    Configuration,
    Configure,
    ConfigureResult,
    DeviceKind,
    Fault,
    FaultFlag,
    Heartbeat,
    Identify,
    Identity,
    Message,
    Presence,
    Refused,
    RefusedReason,
    Settle,
    SettlePhase,
    State,
    StateFlag,
    Wake,
)
from fastpath.codecs.openlink_py import EVERY_DEVICE, Frame, encode, newer
from transport.link.protocols.openlink.identity import configure_message
from transport.link.protocols.openlink.peer import MOST_HZ, MS, NS_PER_S, REQUEST_NS, UNSETTLED, Peer, PendingRequest
from transport.link.protocols.openlink.status_text import OFF, REASONS, configuration_refused, led_of, refusal_sentence

if TYPE_CHECKING:
    from actors.device.api import DeviceWide

WAKE_NS: Final = 500 * MS
# A device that was silent for longer may have restarted: it is not woken as a running one.
FRESH_NS: Final = 100 * MS
AGAIN_NS: Final = 500 * MS
# The LED message is repeated, because it has no answer.
LIGHT_NS: Final = 2000 * MS
SILENT_NS: Final = 500 * MS
# A receiver sends PRESENCE every 500 ms; after a restart it sends nothing until it is identified.
ABSENCE_NS: Final = 1600 * MS
TRIES: Final = 4
HALF_WAY: Final = 0x8000
# A grip that is lost repeatedly is asked less often, to leave radio time to the others behind its receiver.
LEAST_PAUSE_NS: Final = 1000 * MS
MOST_PAUSE_NS: Final = 10_000 * MS
MOST_LOSSES: Final = 5
MOST_RUNS: Final = 255
HANDLES: Final = frozenset({DeviceKind.GRIP, DeviceKind.PEN})


class HostFsm:
    """Call `step` with the received frames and send what it returns; `why` is the reason of the end, "" before."""

    def __init__(self, *, answer_s: float = 2.0, tries: int = TRIES, rate_hz: int = MOST_HZ) -> None:
        """`answer_s`: time to answer IDENTIFY; `tries`: repetitions of the first WAKE of each device."""
        self._tries = tries
        self._rate_hz = rate_hz
        self._peers: dict[int, Peer] = {}
        answer_ns = round(answer_s * NS_PER_S)
        first = PendingRequest(Identify(), -(-answer_ns // REQUEST_NS) - 1, min(REQUEST_NS, answer_ns))
        self._identify_request: PendingRequest | None = first
        self._sequence = 0
        self._newest_sequence: int | None = None
        self._waking = False
        self._presence_ns = 0
        self._no_answer = "nobody answers IDENTIFY"
        self.receiver = False
        self.answered = False
        self.why = ""
        # Sentences for the log; the caller logs and clears them.
        self.log_sentences: list[str] = []

    @property
    def peers(self) -> tuple[Peer, ...]:
        """Identified devices that are awake or asleep, by index."""
        return tuple(
            peer
            for _, peer in sorted(self._peers.items())
            if peer.identity is not None and peer.phase is not None and not peer.lost
        )

    @property
    def identified(self) -> bool:
        """Whether the board or receiver is identified, so that commands can start."""
        return self.receiver or any(peer.identity is not None for peer in self._peers.values())

    @property
    def board(self) -> Peer:
        """The only device of the port, once identified; KeyError behind a receiver."""
        return self._peers[0]

    @property
    def settled(self) -> bool:
        """Whether every present device has answered its first requests."""
        return self.answered and all(peer.phase is not None or peer.gave_up for peer in self._peers.values())

    def find(self, device_id: str) -> Peer | None:
        """Return the device of that id, None without one."""
        for peer in self.peers:
            if peer.identity is not None and peer.identity.device_id == device_id:
                return peer
        return None

    # ------------------------------------------------------------ requests of the host

    def configure(self, device_id: str, wide: DeviceWide, *, save: bool) -> None:
        """Request the configuration; it replaces a waiting request."""
        peer = self.find(device_id)
        if peer is not None and peer.identity is not None:
            message = configure_message(peer.identity, wide, save=save)
            if message.fields:
                peer.pending[Configure] = PendingRequest(message, TRIES - 1)

    def calibrate(self, device_id: str, run: int) -> None:
        """Start calibration `run`; the same run again does nothing. 0 aborts the running one."""
        peer = self.find(device_id)
        if peer is None or peer.run == run or (not run and peer.ended is not None):
            return
        peer.run, peer.ended = run, None
        if run:
            peer.runs = peer.runs % MOST_RUNS + 1
        message = Calibrate(start=bool(run), run=peer.runs if run else 0)
        peer.run_request = peer.pending[Calibrate] = PendingRequest(message, TRIES - 1)

    def start_waking(self) -> None:
        """Start waking devices: commands flow from now on, so that no watchdog trips."""
        self._waking = True

    def sleep_frames(self) -> list[bytes]:
        """Return the frames that switch every device's motors off and put it to sleep."""
        outgoing: list[bytes] = []
        for peer in self._peers.values():
            if peer.takes_commands:
                outgoing.append(encode(Command(), device=peer.index))
            outgoing.append(self._encode(peer.index, Wake(awake=False, rate_hz=0)))
        return outgoing

    # ------------------------------------------------------------ stepping

    def update_from_thread(
        self, index: int, state_ns: int, beat_ns: int, faults: int, *, homed: bool = True, calibrated: bool = False
    ) -> None:
        """Update a device from the port thread: times of its newest state and heartbeat (ns, 0 = none) and the state's flags."""
        peer = self._peers.get(index)
        if peer is not None:
            if peer.phase is not None and state_ns > peer.settle_ns + MOST_PAUSE_NS:
                peer.losses = 0
            peer.heard_ns = max(peer.heard_ns, state_ns)
            if beat_ns >= peer.since_ns:
                peer.beat_ns = max(peer.beat_ns or 0, beat_ns) or None
            if state_ns and state_ns >= peer.since_ns:
                peer.has_state, peer.faults = True, FaultFlag(faults)
                peer.homed, peer.calibrated = homed, calibrated

    def step(self, now_ns: int, frames: list[Frame]) -> list[bytes]:
        """Handle received frames. Return the frames that are due."""
        for frame in frames:
            self._handle(frame, now_ns)
        outgoing: list[bytes] = []
        if self.receiver and self._identify_request is None and now_ns - self._presence_ns > ABSENCE_NS:
            self._identify_request = PendingRequest(Identify(), TRIES - 1)
        if self._identify_request is not None and not self._send_due(
            self._identify_request, EVERY_DEVICE, now_ns, outgoing
        ):
            self.why = self.why or self._no_answer
        for peer in self._peers.values():
            self._step_peer(peer, now_ns, outgoing)
        return outgoing

    def _step_peer(self, peer: Peer, now_ns: int, outgoing: list[bytes]) -> None:
        # READY is sent once and may be lost.
        overdue = peer.phase in UNSETTLED and now_ns - peer.settle_ns > WAKE_NS
        if overdue and now_ns - peer.heard_ns <= FRESH_NS and peer.identity is not None and Wake not in peer.pending:
            self._wake(peer, peer.identity)
        for kind, waiting in list(peer.pending.items()):
            if kind is Wake and not self._waking:
                continue
            if not self._send_due(waiting, peer.index, now_ns, outgoing):
                del peer.pending[kind]
                self._unanswered(peer, kind, now_ns)
        if peer.awake and not peer.lost and now_ns - peer.heard_ns > SILENT_NS:
            self._drop(peer, sent_nothing(now_ns - peer.heard_ns), now_ns)
        if peer.identity is not None and Capability.LED in peer.identity.capabilities:
            self._update_led(peer, now_ns, outgoing)

    def _wake(self, peer: Peer, identity: Identity) -> None:
        """Request WAKE, which an awake device answers with its settle phase."""
        peer.pending[Wake] = PendingRequest(Wake(rate_hz=min(identity.rate_hz, self._rate_hz)), self._tries, WAKE_NS)

    def _update_led(self, peer: Peer, now_ns: int, outgoing: list[bytes]) -> None:
        wanted = led_of(peer.phase, peer.faults)
        if wanted != peer.led or (wanted != OFF and now_ns - peer.led_ns >= LIGHT_NS):
            peer.led, peer.led_ns = wanted, now_ns
            outgoing.append(self._encode(peer.index, wanted))

    def _send_due(self, waiting: PendingRequest, index: int, now_ns: int, outgoing: list[bytes]) -> bool:
        """Send the request if it is due. False after its last repetition without an answer."""
        if now_ns < waiting.due_ns:
            return True
        if waiting.sequences and waiting.left == 0:
            return False
        waiting.left -= bool(waiting.sequences)
        waiting.sequences.append(self._sequence)
        waiting.due_ns = now_ns + waiting.every_ns
        outgoing.append(self._encode(index, waiting.message))
        return True

    def _encode(self, index: int, message: Message) -> bytes:
        outgoing = encode(message, device=index, sequence=self._sequence)
        self._sequence = (self._sequence + 1) & 0xFFFF
        return outgoing

    def _unanswered(self, peer: Peer, kind: type[Message], now_ns: int) -> None:
        if kind is Wake and peer.phase is None:
            self._drop(peer, "it does not wake up", now_ns)
        elif kind is Identify:
            self._drop(peer, "it does not say who it is", now_ns)
        elif kind is Configure:
            peer.refusals[Configure] = "it does not answer CONFIGURE"

    def _drop(self, peer: Peer, why: str, now_ns: int) -> None:
        """Drop a device: without a receiver that ends the machine; with one its index is identified again."""
        if self.receiver:
            if not peer.losses:
                self.log_sentences.append(f"index {peer.index} of the receiver: {why}")
            pause_ns = min(LEAST_PAUSE_NS << peer.losses - 1, MOST_PAUSE_NS) if peer.losses else 0
            repeat = PendingRequest(Identify(), TRIES - 1, due_ns=now_ns + pause_ns)
            losses = min(peer.losses + 1, MOST_LOSSES)
            self._peers[peer.index] = Peer(peer.index, since_ns=now_ns, pending={Identify: repeat}, losses=losses)
            return
        peer.lost = why
        self.why = self.why or why

    # ------------------------------------------------------------ messages of devices

    def _handle(self, frame: Frame, now_ns: int) -> None:
        message = frame.message
        if isinstance(message, State):
            self._handle_state(frame.device, message, now_ns)
            return
        known = isinstance(message, Identity)
        if self._newest_sequence is not None and not (known or newer(self._newest_sequence, frame.sequence)):
            return
        self._newest_sequence = frame.sequence
        if isinstance(message, Identity):
            self._handle_identity(frame.device, message, now_ns)
        elif isinstance(message, Presence):
            self._handle_presence(message, now_ns)
        elif (peer := self._peers.get(frame.device)) is not None:
            self._handle_peer(peer, message, now_ns)

    def _handle_identity(self, index: int, identity: Identity, now_ns: int) -> None:
        if identity.kind is DeviceKind.RECEIVER:
            self._handle_receiver(now_ns)
            return
        if not self.receiver and index != 0:
            self._no_answer = f"it answers IDENTIFY as device {index}, and a board on its own is device 0"
            return
        self.answered = True
        if not self.receiver:
            self._identify_request = None
            self._peers.setdefault(index, Peer(index, since_ns=now_ns))
        peer = self._peers.get(index)
        if peer is None:
            return
        peer.pending.pop(Identify, None)
        if peer.identity is not None:
            if not self.receiver or peer.is_same_device(identity):
                return
            peer = self._peers[index] = Peer(index, since_ns=now_ns)
        if self.receiver and identity.kind not in HANDLES:
            self._drop(peer, "it is no grip or pen: what has motors needs a port of its own", now_ns)
            return
        peer.identity = identity
        self._wake(peer, identity)

    def _handle_receiver(self, now_ns: int) -> None:
        """Handle a receiver's IDENTITY; if it may have restarted, re-identify every index."""
        if self.answered and self._identify_request is not None:
            for peer in self._peers.values():
                peer.pending[Identify] = PendingRequest(Identify(), TRIES - 1)
        self._mark_receiver(now_ns)
        self.answered, self._identify_request = True, None

    def _mark_receiver(self, now_ns: int) -> None:
        if not self.receiver and self._peers:
            self.why = "a receiver answers where a board did"
        self._presence_ns, self.receiver = now_ns, True

    def _handle_presence(self, presence: Presence, now_ns: int) -> None:
        self._mark_receiver(now_ns)
        if self.answered:
            self._identify_request = None
        for index in range(8):
            here = presence.present >> index & 1
            if here and index not in self._peers:
                self._peers[index] = Peer(
                    index, since_ns=now_ns, pending={Identify: PendingRequest(Identify(), TRIES - 1)}
                )
            elif not here:
                self._peers.pop(index, None)

    def _handle_peer(self, peer: Peer, message: Message, now_ns: int) -> None:
        match message:
            case Settle():
                self._handle_settle(peer, message, now_ns)
            case Heartbeat():
                peer.beat_ns = now_ns
            case Fault():
                peer.faults = message.faults
            case Configuration():
                self._handle_configuration(peer, message, now_ns)
            case Refused():
                self._handle_refused(peer, message, now_ns)
            case Calibration():
                self._handle_calibration(peer, message, now_ns)
            case _:
                pass

    def _handle_settle(self, peer: Peer, settle: Settle, now_ns: int) -> None:
        if peer.identity is None:
            return
        peer.pending.pop(Wake, None)
        peer.heard_ns = peer.settle_ns = now_ns
        peer.phase = settle.phase
        peer.watchdog_trips = settle.watchdog_trips
        if settle.phase is SettlePhase.FAILED:
            self._drop(peer, "it failed to wake up", now_ns)

    def _handle_state(self, index: int, state: State, now_ns: int) -> None:
        peer = self._peers.get(index)
        if peer is not None:
            peer.heard_ns, peer.has_state, peer.faults = now_ns, True, state.faults
            peer.calibrated = StateFlag.CALIBRATED in state.flags

    def _handle_configuration(self, peer: Peer, answer: Configuration, now_ns: int) -> None:
        waiting = peer.pending.get(Configure)
        if waiting is None or answer.request not in waiting.sequences:
            return
        peer.refusals[Configure] = configuration_refused(answer)
        if answer.result is ConfigureResult.BUSY:
            waiting.repeat(now_ns + AGAIN_NS, TRIES)
        else:
            del peer.pending[Configure]

    def _handle_calibration(self, peer: Peer, answer: Calibration, now_ns: int) -> None:
        waiting = peer.run_request
        if waiting is None or answer.request not in waiting.sequences:
            return
        if peer.run and peer.ended is None and answer.progress is CalibrationProgress.RUNNING:
            # The end is sent once and may be lost.
            waiting.repeat(now_ns + AGAIN_NS, TRIES)
            peer.pending[Calibrate] = waiting
            return
        peer.pending.pop(Calibrate, None)
        peer.refusals.pop(Calibrate, None)
        if peer.run and peer.ended is None:
            done = answer.progress is CalibrationProgress.DONE
            peer.ended = CalibrationResult(peer.run, None if done else REASONS.get(answer.reason, Reason.BLOCKED))

    def _handle_refused(self, peer: Peer, answer: Refused, now_ns: int) -> None:
        for kind in (Identify, Wake, Configure, Calibrate):
            if not self._answered(peer, kind, answer.request):
                continue
            if kind is Wake and peer.phase is not None:
                peer.settle_ns = now_ns
                continue
            peer.refusals[kind] = refusal_sentence(kind, answer)
            if kind in {Identify, Wake}:
                self._drop(peer, peer.refusals[kind], now_ns)
            elif kind is Calibrate and peer.run and peer.ended is None:
                asleep = answer.reason is RefusedReason.ASLEEP and not peer.takes_commands
                peer.ended = CalibrationResult(peer.run, Reason.PEN_ASLEEP if asleep else Reason.BLOCKED)

    def _answered(self, peer: Peer, kind: type[Message], request: int) -> bool:
        """Whether the request of that kind was answered; it is then not repeated."""
        waiting = peer.pending.get(kind)
        if waiting is None or request not in waiting.sequences:
            return False
        del peer.pending[kind]
        return True
