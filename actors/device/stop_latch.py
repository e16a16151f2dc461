"""The stop latch as a rule: which devices are stopped, also those that come later, and how it is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StopLatch:
    """`everything` holds for every device, known or not; else exactly `device_ids`."""

    everything: bool = False
    device_ids: frozenset[str] = field(default_factory=frozenset[str])

    def holds(self, device_id: str) -> bool:
        """Whether this device must give zero output."""
        return self.everything or device_id in self.device_ids

    def stop(self, device_ids: Iterable[str] | None) -> StopLatch:
        """Stop these devices, or everything for None."""
        if device_ids is None:
            return StopLatch(everything=True)
        return StopLatch(self.everything, self.device_ids | frozenset(device_ids))

    def release(self, device_ids: Iterable[str] | None, known: Iterable[str]) -> StopLatch:
        """Release these devices, or everything for None; out of a stop of everything, the other known devices stay stopped."""
        if device_ids is None:
            return StopLatch()
        held = frozenset(known) if self.everything else self.device_ids
        return StopLatch(everything=False, device_ids=held - frozenset(device_ids))

    def as_json(self) -> dict[str, object]:
        """For the ledger."""
        return {"everything": self.everything, "device_ids": sorted(self.device_ids)}

    @classmethod
    def from_json(cls, value: object) -> StopLatch:
        """From the ledger; nothing there is no stop, and something unreadable is a stop of everything."""
        if value is None:
            return cls()
        if isinstance(value, Mapping):
            everything, device_ids = value.get("everything"), value.get("device_ids")
            if isinstance(everything, bool) and isinstance(device_ids, (list, tuple)):
                return cls(everything, frozenset(str(device_id) for device_id in device_ids))
        return cls(everything=True)
