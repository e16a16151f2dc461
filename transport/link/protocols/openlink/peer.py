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
# Sequences of a request that is said again and again, whose answer may be late.
KEPT: Final = 32
UNSETTLED: Final = frozenset({SettlePhase.WAKING, SettlePhase.SETTLING})


@dataclass(slots=True)
class Ask:
    """A request that waits for its answer: it is said again each `every_ns`, `left` times more; `sequences` are those it had."""

    message: Message
    left: int
    every_ns: int = REQUEST_NS
    due_ns: int = 0
    sequences: list[int] = field(default_factory=list)

    def again(self, due_ns: int, left: int) -> None:
        """Say it once more then, and `left` times more without an answer."""
        self.due_ns, self.left = due_ns, left
        del self.sequences[:-KEPT]


@dataclass(slots=True)
class Peer:
    """One device of the link as far as it is known, since `since_ns`; `heard_ns` is when it last said how it is.

    `told`: a state of it has come; `refusals`: what it did not take, in words, until it takes the next one; `losses`: how often
    whoever holds this index was lost before it had sent states for 10 s; `run` is the calibration's number here, `runs` its own.
    """

    index: int
    identity: Identity | None = None
    since_ns: int = 0
    phase: SettlePhase | None = None
    settle_ns: int = 0
    asks: dict[type[Message], Ask] = field(default_factory=dict)
    heard_ns: int = 0
    beat_ns: int | None = None
    told: bool = False
    calibrated: bool = False
    refusals: dict[type[Message], str] = field(default_factory=dict)
    lit: Led = OFF
    lit_ns: int = 0
    faults: FaultFlag = NO_FAULTS
    homed: bool = True
    watchdog_trips: int = 0
    run: int = 0
    runs: int = 0
    run_asked: Ask | None = None
    ended: CalibrationResult | None = None
    lost: str = ""
    losses: int = 0

    @property
    def refusal(self) -> str:
        """What it did not take, in words."""
        return ", ".join(filter(None, self.refusals.values()))

    def is_still(self, identity: Identity) -> bool:
        """Whether that is who it said it was."""
        known = self.identity
        return known is not None and (known.device_id, known.uuid) == (identity.device_id, identity.uuid)

    @property
    def mode(self) -> CommandMode:
        """What its commands are; RELEASE: it takes none, or is not known yet."""
        return CommandMode.RELEASE if self.identity is None else command_mode(self.identity)

    @property
    def takes_commands(self) -> bool:
        """Whether it takes commands."""
        return self.mode is not CommandMode.RELEASE

    @property
    def commands_hz(self) -> float:
        """Commands a second that it gets, 0 = none."""
        return float(min(self.identity.rate_hz, MOST_HZ)) if self.identity is not None and self.takes_commands else 0.0

    @property
    def gave_up(self) -> bool:
        """Whether nobody need wait for it: it was asked as often as one is, and did not come."""
        return bool(self.lost or self.losses)

    @property
    def settled(self) -> bool:
        """Whether it knows where it is and would follow commands, were it awake."""
        return self.homed and self.phase not in UNSETTLED

    @property
    def awake(self) -> bool:
        """Whether it sends states."""
        return self.phase in {SettlePhase.WAKING, SettlePhase.SETTLING, SettlePhase.READY}
