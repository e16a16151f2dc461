"""The stop latch as a rule: which devices are stopped, also those that come later, and how it is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from actors.settings.messages import Frozen


@dataclass(frozen=True, slots=True)
class StopLatch:
    """`everything` holds for every device, known or not; `device_ids` were stopped by name, and stay so beside it."""

    everything: bool = False
    device_ids: frozenset[str] = field(default_factory=frozenset[str])

    def holds(self, device_id: str) -> bool:
        """Whether this device must give zero output."""
        return self.everything or device_id in self.device_ids

    def stop(self, device_ids: Iterable[str] | None) -> StopLatch:
        """Stop these devices, or everything for None."""
        if device_ids is None:
            return StopLatch(everything=True, device_ids=self.device_ids)
        return StopLatch(self.everything, self.device_ids | frozenset(device_ids))

    def release(self, device_ids: Iterable[str] | None, known: Iterable[str]) -> StopLatch:
        """Release these devices, or everything for None; out of a stop of everything, all others that are known stay stopped."""
        if device_ids is None:
            return StopLatch()
        held = self.device_ids | frozenset(known) if self.everything else self.device_ids
        return StopLatch(everything=False, device_ids=held - frozenset(device_ids))

    def as_json(self) -> dict[str, object]:
        """For the ledger."""
        return {"everything": self.everything, "device_ids": sorted(self.device_ids)}

    @classmethod
    def from_json(cls, value: Frozen) -> StopLatch:
        """From the ledger; nothing there is no stop, and something unreadable is a stop of everything."""
        if value is None:
            return cls()
        if isinstance(value, Mapping):
            everything, device_ids = value.get("everything"), value.get("device_ids")
            if isinstance(everything, bool) and isinstance(device_ids, tuple):
                named = [device_id for device_id in device_ids if isinstance(device_id, str)]
                if len(named) == len(device_ids):
                    return cls(everything, frozenset(named))
        return cls(everything=True)
