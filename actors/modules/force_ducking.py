"""Module `session_force_scale`: a client scales the force of another session.

Of several who ask for one session the smallest gain counts. What a session asked for ends with it; what HTTP asked for stays
until it takes it back or that session closes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from actors.kit.errors import InvalidInput
from actors.modules.module import Part, Place, WordTable
from actors.session.selectors import Selector, parse_selector, select

if TYPE_CHECKING:
    from actors.modules.module import Device, ModuleInput, Session

HTTP: Final = 0


class ForceScales:
    """Who asked for which gain of which session; `HTTP` asks under no session's id. Main thread only."""

    def __init__(self) -> None:
        self._gains: dict[int, dict[int, float]] = {}

    def ask(self, asker: int, target: int, gain: float) -> None:
        """From now on; 1 takes it back."""
        gains = self._gains.setdefault(target, {})
        gains[asker] = gain
        if gain >= 1:
            del gains[asker]
        if not gains:
            del self._gains[target]

    def gain(self, target: int) -> float:
        """What counts for a session, 0 to 1."""
        return min(self._gains.get(target, {}).values(), default=1.0)

    def asked_by(self, asker: int) -> tuple[int, ...]:
        """The sessions that somebody asked something for."""
        return tuple(target for target, gains in self._gains.items() if asker in gains)

    def forget(self, target: int) -> None:
        """A session has closed: what was asked for it is over."""
        self._gains.pop(target, None)


@dataclass(frozen=True, slots=True)
class ScaleRequest:
    """A gain for the sessions of a selector; None: the one that sends it, and for gain 1 all that it asked for."""

    gain: float
    selector: Selector | None
    path: str


class _Requester(Part):
    def __init__(self, ducks: ForceScales, session: Session) -> None:
        self._ducks = ducks
        self._session = session

    def take(self, place: Place, word: str, value: object, device: Device | None) -> None:
        """Ask for it, for each session that is meant; NoSuchSession."""
        del place, word, device
        duck, me = cast("ScaleRequest", value), self._session.session_id
        if duck.selector is not None:
            targets = tuple(one.session_id for one in select(duck.selector, self._session.sessions).some())
        else:
            targets = (me,) if duck.gain < 1 else self._ducks.asked_by(me)
        self._ask(targets, duck.gain)

    def close(self) -> None:
        """Give back what was asked for; what others asked for this session is over."""
        me = self._session.session_id
        self._ask(self._ducks.asked_by(me), 1.0)
        self._ducks.forget(me)
        self._session.scale_output(me, 1.0)

    def _ask(self, targets: tuple[int, ...], gain: float) -> None:
        for target in targets:
            self._ducks.ask(self._session.session_id, target, gain)
            self._session.scale_output(target, self._ducks.gain(target))


class ForceDucking:
    """`session.configure.force_scale`: `{"gain", "session"?}`; `/sessions/{s}/force_scale` works on the same `ducks`."""

    name = "session_force_scale"
    setting = "features/session_force_scale/enabled"
    words = WordTable(session_configure=("force_scale",))

    def __init__(self) -> None:
        self.ducks = ForceScales()

    def read(self, sent: ModuleInput) -> ScaleRequest:
        """Gain 0 to 1, and a selector."""
        fields = sent.fields("gain", "session")
        gain = sent.number("gain", 0, 1)
        if "session" not in fields:
            return ScaleRequest(gain, None, sent.path)
        text, path = fields["session"], f"{sent.path}.session"
        if isinstance(text, int) and not isinstance(text, bool):
            text = str(text)
        if not isinstance(text, str):
            raise InvalidInput("a session is named by id, index or profile, such as 7, :0 or game", path)
        try:
            return ScaleRequest(gain, parse_selector(text), sent.path)
        except InvalidInput as error:
            raise InvalidInput(error.reason, path) from None

    def open(self, session: Session) -> Part:
        """A session that may ask, and be asked for."""
        return _Requester(self.ducks, session)
