"""PairingTable: the published snapshot of the pairing slice. It outlives the actor; manual pairs are in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from actors.pairing.calibration import Calibration
from actors.pairing.messages import Origin, Pairing
from actors.pairing.rules import Pair, Pairs
from actors.settings.messages import Frozen

PAIRINGS_SECTION: Final = "pairings"
LOCKED: Final = Calibration()


@dataclass(frozen=True, slots=True)
class PairingTable:
    """All pairs, and the calibrations of connected movers."""

    pairs: Pairs = field(default_factory=Pairs)
    calibrations: Mapping[str, Calibration] = field(default_factory=lambda: MappingProxyType({}))  # by id of the mover
    runs: int = 0  # number of the newest run of any device

    def pairing(self, device_id: str) -> Pairing:
        """Return the device's partner and origin."""
        pair = self.pairs.of(device_id)
        return Pairing() if pair is None else Pairing(pair.other(device_id), pair.origin)

    def calibration(self, device_id: str) -> Calibration:
        """Return the calibration of the device; a handle has that of its mover, LOCKED without one."""
        pair = self.pairs.of(device_id)
        return self.calibrations.get(device_id if pair is None else pair.mover, LOCKED)

    def as_json(self) -> dict[str, object]:
        """Return the manual pairs for the ledger."""
        manual = [[pair.mover, pair.handle] for pair in self.pairs.pairs if pair.origin is Origin.MANUAL]
        return {"manual": manual}

    @classmethod
    def from_json(cls, value: Frozen) -> PairingTable:
        """Parse the ledger section; leave out invalid pairs and those that name a device twice."""
        manual = value.get("manual") if isinstance(value, Mapping) else None
        pairs: list[Pair] = []
        taken: set[str] = set()
        for entry in manual if isinstance(manual, tuple) else ():
            pair = _pair(entry)
            if pair is not None and not taken.intersection((pair.mover, pair.handle)):
                taken.update((pair.mover, pair.handle))
                pairs.append(pair)
        return cls(Pairs(tuple(pairs)))


def _pair(entry: Frozen) -> Pair | None:
    match entry:
        case (str() as mover, str() as handle) if mover != handle:
            return Pair(mover, handle, Origin.MANUAL)
        case _:
            return None
