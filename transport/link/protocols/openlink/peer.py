"""State of one device of the open link protocol: its identity and its unanswered requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fastpath.codecs.openlink_messages import NO_FAULTS, CommandMode, FaultFlag, Led, SettlePhase
from transport.link.protocols.openlink.identity import command_mode
from transport.link.protocols.openlink.status_text import OFF

if TYPE_CHECKING:
    from actors.port.api import CalibrationResult
    from fastpath.codecs.openlink_messages import Identity, Message

MS: Final = 1_000_000
NS_PER_S: Final = 1000 * MS
REQUEST_NS: Final = 250 * MS
MOST_HZ: Final = 1000
# Number of kept sequences of a repeated request, whose answer may be late.
KEPT: Final = 32
UNSETTLED: Final = frozenset({SettlePhase.WAKING, SettlePhase.SETTLING})


@dataclass(slots=True)
class PendingRequest:
    """A request that waits for its answer and is repeated."""

    message: Message
    left: int  # repetitions left
    every_ns: int = REQUEST_NS  # ns between repetitions
    due_ns: int = 0  # ns, time of the next repetition
    sequences: list[int] = field(default_factory=list)  # sequence numbers under which it was sent

    def repeat(self, due_ns: int, left: int) -> None:
        """Send it again at `due_ns` (ns), and `left` times more without an answer."""
        self.due_ns, self.left = due_ns, left
        del self.sequences[:-KEPT]


@dataclass(slots=True)
class Peer:
    """One device behind the port."""

    index: int
    identity: Identity | None = None
    since_ns: int = 0  # ns, when it was first expected at this index
    phase: SettlePhase | None = None
    settle_ns: int = 0  # ns, of the newest SETTLE
    pending: dict[type[Message], PendingRequest] = field(default_factory=dict)
    heard_ns: int = 0  # ns, of the newest state or SETTLE
    beat_ns: int | None = None  # ns, of the newest heartbeat
    has_state: bool = False  # a state has arrived
    calibrated: bool = False
    # sentences about refused requests, until the next one is accepted
    refusals: dict[type[Message], str] = field(default_factory=dict)
    led: Led = OFF  # LED state that was sent last
    led_ns: int = 0
    faults: FaultFlag = NO_FAULTS
    homed: bool = True
    watchdog_trips: int = 0
    run: int = 0  # number of the calibration at the host
    runs: int = 0  # number of the calibration in the protocol
    run_request: PendingRequest | None = None
    ended: CalibrationResult | None = None
    lost: str = ""  # why it is gone; "" while it answers
    losses: int = 0  # losses at this index since it last sent states for 10 s

    @property
    def refusal(self) -> str:
        """Sentences about refused requests."""
        return ", ".join(filter(None, self.refusals.values()))

    def is_same_device(self, identity: Identity) -> bool:
        """Whether `identity` is that of the same device."""
        known = self.identity
        return known is not None and (known.device_id, known.uuid) == (identity.device_id, identity.uuid)

    @property
    def mode(self) -> CommandMode:
        """Mode of its commands; RELEASE: it accepts none, or is not identified yet."""
        return CommandMode.RELEASE if self.identity is None else command_mode(self.identity)

    @property
    def takes_commands(self) -> bool:
        """Whether it accepts commands."""
        return self.mode is not CommandMode.RELEASE

    @property
    def commands_hz(self) -> float:
        """Commands per second, 0 for none."""
        return float(min(self.identity.rate_hz, MOST_HZ)) if self.identity is not None and self.takes_commands else 0.0

    @property
    def gave_up(self) -> bool:
        """Whether it did not answer all repetitions of a request."""
        return bool(self.lost or self.losses)

    @property
    def settled(self) -> bool:
        """Whether its position is absolute and it could follow commands if awake."""
        return self.homed and self.phase not in UNSETTLED

    @property
    def awake(self) -> bool:
        """Whether it sends states."""
        return self.phase in {SettlePhase.WAKING, SettlePhase.SETTLING, SettlePhase.READY}
