"""StopLatch: the set of stopped devices, which also holds for devices that connect later; to and from JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from actors.settings.messages import Frozen


@dataclass(frozen=True, slots=True)
class StopLatch:
    """Which devices are stopped, also those that connect later."""

    everything: bool = False  # all devices are stopped but those `released`
    device_ids: frozenset[str] = field(default_factory=frozenset[str])  # stopped while `everything` is False
    released: frozenset[str] = field(default_factory=frozenset[str])

    def holds(self, device_id: str) -> bool:
        """Whether this device must give zero output."""
        return device_id not in self.released if self.everything else device_id in self.device_ids

    def stop(self, device_ids: Iterable[str] | None) -> StopLatch:
        """Stop these devices; None: all."""
        if device_ids is None:
            return StopLatch(everything=True)
        named = frozenset(device_ids)
        if self.everything:
            return StopLatch(everything=True, released=self.released - named)
        return StopLatch(device_ids=self.device_ids | named)

    def release(self, device_ids: Iterable[str] | None) -> StopLatch:
        """Release these devices; None: all. After a stop of everything all others stay stopped, connected or not."""
        if device_ids is None:
            return StopLatch()
        named = frozenset(device_ids)
        if self.everything:
            return StopLatch(everything=True, released=self.released | named)
        return StopLatch(device_ids=self.device_ids - named)

    def as_json(self) -> dict[str, object]:
        """Return the ledger section."""
        return {
            "everything": self.everything,
            "device_ids": sorted(self.device_ids),
            "released": sorted(self.released),
        }

    @classmethod
    def from_json(cls, value: Frozen) -> StopLatch:
        """Parse the ledger section: None is no stop, an invalid section a stop of everything."""
        if value is None:
            return cls()
        if isinstance(value, Mapping):
            everything, named = value.get("everything"), _ids(value.get("device_ids"))
            # Ledgers of earlier versions have no releases.
            released = _ids(value.get("released", ()))
            if isinstance(everything, bool) and named is not None and released is not None:
                return cls(everything=True, released=released) if everything else cls(device_ids=named)
        return cls(everything=True)


def _ids(value: Frozen) -> frozenset[str] | None:
    """Return the ids of a list; None if it is not a list of texts."""
    if not isinstance(value, tuple):
        return None
    ids = frozenset(device_id for device_id in value if isinstance(device_id, str))
    return ids if all(isinstance(device_id, str) for device_id in value) else None
