"""Module `session_force_scale`: a client scales the force of another session.

If several requesters scale one session, the smallest gain counts. A session's requests end with it; those of HTTP stay until
HTTP resets them or the scaled session closes.
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
    """The requested gains of each session, by requester: a session id, or `HTTP`. Main thread only."""

    def __init__(self) -> None:
        self._gains: dict[int, dict[int, float]] = {}

    def set_gain(self, requester: int, target: int, gain: float) -> None:
        """Set a requester's gain for a session; 1 removes it."""
        gains = self._gains.setdefault(target, {})
        gains[requester] = gain
        if gain >= 1:
            del gains[requester]
        if not gains:
            del self._gains[target]

    def gain(self, target: int) -> float:
        """Return the gain in force for a session, 0 to 1."""
        return min(self._gains.get(target, {}).values(), default=1.0)

    def targets_of(self, requester: int) -> tuple[int, ...]:
        """Return the sessions that this requester scales."""
        return tuple(target for target, gains in self._gains.items() if requester in gains)

    def forget(self, target: int) -> None:
        """Remove all gains for a closed session."""
        self._gains.pop(target, None)


@dataclass(frozen=True, slots=True)
class ScaleRequest:
    """A gain, 0 to 1, for the sessions of a selector."""

    gain: float
    selector: Selector | None  # None: the sending session; with gain 1 every session that it scales
    path: str


class _Requester(Part):
    def __init__(self, scales: ForceScales, session: Session) -> None:
        self._scales = scales
        self._session = session

    def take(self, place: Place, word: str, value: object, device: Device | None) -> None:
        """Set the gain for each selected session; NoSuchSession."""
        del place, word, device
        request, own_id = cast("ScaleRequest", value), self._session.session_id
        if request.selector is not None:
            targets = tuple(one.session_id for one in select(request.selector, self._session.sessions).some())
        else:
            targets = (own_id,) if request.gain < 1 else self._scales.targets_of(own_id)
        self._set_gains(targets, request.gain)

    def close(self) -> None:
        """Remove the gains that this session requested, and those requested for it."""
        own_id = self._session.session_id
        self._set_gains(self._scales.targets_of(own_id), 1.0)
        self._scales.forget(own_id)
        self._session.scale_output(own_id, 1.0)

    def _set_gains(self, targets: tuple[int, ...], gain: float) -> None:
        for target in targets:
            self._scales.set_gain(self._session.session_id, target, gain)
            self._session.scale_output(target, self._scales.gain(target))


class ForceDucking:
    """`session.configure.force_scale`: `{"gain", "session"?}`; `/sessions/{s}/force_scale` uses the same `scales`."""

    name = "session_force_scale"
    setting = "features/session_force_scale/enabled"
    words = WordTable(session_configure=("force_scale",))

    def __init__(self) -> None:
        self.scales = ForceScales()

    def read(self, sent: ModuleInput) -> ScaleRequest:
        """Return gain (0 to 1) and selector."""
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
        """Return the session's part, which sets and removes gains."""
        return _Requester(self.scales, session)
