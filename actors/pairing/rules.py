"""Rules of pairing: which devices are paired, automatically or manually. Pure; PairingManager stores the result and sends messages.

A pair has one half with motors (the mover) and one that is held (the handle). Devices are given in the order of the inventory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from actors.kit.errors import Conflict, InvalidInput, NoSuchDevice
from actors.pairing.messages import Origin
from actors.values.kinds.base import PairSide
from actors.values.kinds.nouns import names_of

# Pairs whose halves are both away are forgotten beyond this many, the oldest first.
MOST_AWAY: Final = 64


@dataclass(frozen=True, slots=True)
class PairingDevice:
    """A connected device, as far as pairing is concerned."""

    device_id: str
    side: PairSide | None  # None: its kind is never paired
    simulated: bool
    attached: bool = False
    generation: int = 0  # differs after each reconnection
    by_hand: bool = False  # never paired automatically


@dataclass(frozen=True, slots=True)
class Pair:
    """Two device ids."""

    mover: str
    handle: str
    origin: Origin

    def other(self, device_id: str) -> str:
        """Return the id of the other half."""
        return self.handle if device_id == self.mover else self.mover

    def __contains__(self, device_id: str) -> bool:
        """Whether the device is one half."""
        return device_id in (self.mover, self.handle)


@dataclass(frozen=True, slots=True)
class PairChange:
    """A pair that was made or dissolved."""

    device_id: str
    paired_with: str | None  # None: the pair was dissolved
    origin: Origin
    dropped: str | None = None  # the former partner of one of the two


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs, and what the next update needs to know."""

    pairs: tuple[Pair, ...] = ()  # also those with absent halves
    separated: frozenset[tuple[str, str]] = field(
        default_factory=frozenset[tuple[str, str]]
    )  # never paired automatically
    here: frozenset[tuple[str, int]] = field(
        default_factory=frozenset[tuple[str, int]]
    )  # id and life at the last update

    def of(self, device_id: str) -> Pair | None:
        """Return the device's pair, None without one."""
        return next((pair for pair in self.pairs if device_id in pair), None)


Outcome = tuple[Pairs, tuple[PairChange, ...]]


def update_pairs(
    pairs: Pairs, halves: Sequence[PairingDevice], *, automatic: bool, also: Iterable[str] = ()
) -> Outcome:
    """Update the pairs for the connected devices; `also` count as newly connected, besides those that are."""
    here = frozenset((half.device_id, half.generation) for half in halves)
    left = {device_id for device_id, _ in pairs.here}.difference(device_id for device_id, _ in here)
    appeared = {device_id for device_id, _ in here - pairs.here}
    separated = frozenset(pair for pair in pairs.separated if not appeared.intersection(pair))
    table = _Table(_fitting(pairs.pairs, halves), separated, halves)
    appeared.update(also)
    if automatic:
        table.replace_absent(appeared, left)
        table.join_free(appeared)
    return replace(pairs, pairs=_remembered(table.pairs, halves), separated=separated, here=here), tuple(table.changes)


def paired_manually(pairs: Pairs, halves: Sequence[PairingDevice], device_id: str, partner: str) -> Outcome:
    """Pair two devices by hand, out of their automatic pairs; InvalidInput, NoSuchDevice, Conflict."""
    first, second = _half(halves, device_id), _half(halves, partner)
    if device_id == partner:
        raise InvalidInput(
            f"A device cannot be paired with itself: name a {_names(PairSide.HANDLE)} for an {_names(PairSide.MOVER)}, or the reverse."
        )
    pair_is = f"a pair is an {_names(PairSide.MOVER)} with a {_names(PairSide.HANDLE)}"
    for half in (first, second):
        if half.side is None:
            raise InvalidInput(f"{half.device_id} is never paired: {pair_is}.")
    if first.side is second.side:
        raise InvalidInput(f"{device_id} and {partner} are of one side: {pair_is}.")
    mover, handle = (device_id, partner) if first.side is PairSide.MOVER else (partner, device_id)
    wanted = Pair(mover, handle, Origin.MANUAL)
    if wanted in pairs.pairs:
        return pairs, ()
    kept: list[Pair] = []
    dissolved: list[Pair] = []
    for pair in pairs.pairs:
        touched = mover in pair or handle in pair
        if touched and pair.origin is Origin.MANUAL:
            taken = mover if mover in pair else handle
            raise Conflict(
                f"{taken} is paired by hand with {pair.other(taken)}: DELETE /…/{taken}/config/paired_with first."
            )
        (dissolved if touched else kept).append(pair)
    ids = {half.device_id for half in halves}
    alone = [pair for pair in dissolved if pair.mover != mover and pair.mover in ids]
    others = (one for pair in dissolved for one in (pair.mover, pair.handle) if one not in (mover, handle))
    dropped = next((one for one in others if all(one not in pair for pair in alone)), None)
    changes = [PairChange(pair.mover, None, pair.origin, pair.handle) for pair in alone]
    changes.append(PairChange(mover, handle, Origin.MANUAL, dropped))
    separated = pairs.separated - {(mover, handle)}
    return replace(pairs, pairs=(*kept, wanted), separated=separated), tuple(changes)


def unpaired(pairs: Pairs, halves: Sequence[PairingDevice], device_id: str) -> Outcome:
    """Dissolve the device's pair, if it has one; NoSuchDevice."""
    _half(halves, device_id)
    pair = pairs.of(device_id)
    if pair is None:
        return pairs, ()
    ids = {half.device_id for half in halves}
    shown = pair.mover if pair.mover in ids else device_id
    change = PairChange(shown, None, pair.origin, pair.other(shown))
    kept = tuple(other for other in pairs.pairs if other is not pair)
    return replace(pairs, pairs=kept, separated=pairs.separated | {(pair.mover, pair.handle)}), (change,)


class _Table:
    """The pairs during one update."""

    def __init__(
        self, pairs: tuple[Pair, ...], separated: frozenset[tuple[str, str]], halves: Sequence[PairingDevice]
    ) -> None:
        self.pairs = pairs
        self.changes: list[PairChange] = []
        self._parted = separated
        self._halves = halves
        self._by_id = {half.device_id: half for half in halves}

    def replace_absent(self, appeared: set[str], left: set[str]) -> None:
        """Replace the absent half of automatic pairs by a free device: a new one, or any if the half has just left."""
        for half in self._halves:
            pair = next((pair for pair in self.pairs if half.device_id in pair), None)
            if pair is None or pair.origin is Origin.MANUAL or pair.other(half.device_id) in self._by_id:
                continue
            absent = pair.other(half.device_id)
            free = self._free(PairSide.HANDLE if half.side is PairSide.MOVER else PairSide.MOVER)
            found = self._best(half, (other for other in free if absent in left or other.device_id in appeared))
            if found is not None:
                self.pairs = tuple(other for other in self.pairs if other is not pair)
                self._join(half, found, absent)

    def join_free(self, appeared: set[str]) -> None:
        """Pair free movers with free handles where one of the two is new."""
        for mover in self._free(PairSide.MOVER):
            new = mover.device_id in appeared
            handles = (handle for handle in self._free(PairSide.HANDLE) if new or handle.device_id in appeared)
            found = self._best(mover, handles)
            if found is not None:
                self._join(mover, found, None)

    def _free(self, side: PairSide) -> Iterator[PairingDevice]:
        taken = {device_id for pair in self.pairs for device_id in (pair.mover, pair.handle)}
        fit = (half for half in self._halves if half.side is side and not half.by_hand)
        return (half for half in fit if half.device_id not in taken)

    def _best(self, half: PairingDevice, others: Iterable[PairingDevice]) -> PairingDevice | None:
        """Return the first attached candidate, else the first; real and simulated devices never pair."""
        fit = [other for other in others if other.simulated is half.simulated and _ids(half, other) not in self._parted]
        return next((other for other in fit if other.attached), fit[0] if fit else None)

    def _join(self, half: PairingDevice, other: PairingDevice, dropped: str | None) -> None:
        mover, handle = _ids(half, other)
        self.pairs = (*self.pairs, Pair(mover, handle, Origin.AUTOMATIC))
        self.changes.append(PairChange(mover, handle, Origin.AUTOMATIC, dropped))


def _names(side: PairSide) -> str:
    return names_of(lambda spec: spec.pairs_as is side)


def _ids(half: PairingDevice, other: PairingDevice) -> tuple[str, str]:
    return (half.device_id, other.device_id) if half.side is PairSide.MOVER else (other.device_id, half.device_id)


def _half(halves: Sequence[PairingDevice], device_id: str) -> PairingDevice:
    found = next((half for half in halves if half.device_id == device_id), None)
    if found is None:
        raise NoSuchDevice(device_id)
    return found


def _fitting(pairs: tuple[Pair, ...], halves: Sequence[PairingDevice]) -> tuple[Pair, ...]:
    """Drop pairs one half of which has come back as a device of the other side."""
    movers = {half.device_id for half in halves if half.side is not PairSide.HANDLE}
    handles = {half.device_id for half in halves if half.side is not PairSide.MOVER}
    return tuple(pair for pair in pairs if pair.mover not in handles and pair.handle not in movers)


def _remembered(pairs: tuple[Pair, ...], halves: Sequence[PairingDevice]) -> tuple[Pair, ...]:
    """Drop the oldest pairs with both halves absent beyond MOST_AWAY."""
    ids = {half.device_id for half in halves}
    away = [pair for pair in pairs if pair.mover not in ids and pair.handle not in ids]
    forgotten = away[: max(0, len(away) - MOST_AWAY)]
    return tuple(pair for pair in pairs if pair not in forgotten)
