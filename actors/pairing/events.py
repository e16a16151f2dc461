"""Events of the pairing slice: pairs, attachment, failed calibrations."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.event.messages import Emit
from actors.pairing.messages import Reason
from actors.values.kinds.nouns import names_of

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord, Inventory
    from actors.pairing.rules import PairChange

HANDLES: Final = names_of(lambda spec: spec.is_handle)
WHY: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        Reason.PEN_NOT_CONNECTED: f"its paired {HANDLES} is not connected",
        Reason.PEN_ASLEEP: f"its paired {HANDLES} is asleep: wake it",
        Reason.PEN_LOST: f"its {HANDLES} was taken away meanwhile: put it back and calibrate again",
        Reason.BLOCKED: "its firmware blocked it: free the mechanism and calibrate again",
        Reason.OSCILLATING_HALL: "its hall sensor oscillates: keep magnets away and calibrate again",
    }
)


def pairing_event(inventory: Inventory, change: PairChange) -> Emit:
    """Return `device-pairing-changed` for the mover, or for the half that stays."""
    record = inventory.find(change.device_id)
    name = change.device_id if record is None else f"{record.kind} {record.device_id}"
    is_now = "no longer paired" if change.paired_with is None else f"now paired with {change.paired_with}"
    instead = f", and not with {change.dropped}" if change.dropped is not None and change.paired_with else ""
    return Emit(
        "device-pairing-changed",
        {
            "device_id": change.device_id,
            "device_family": "" if record is None else str(record.kind),
            "paired_with": change.paired_with,
            "origin": str(change.origin),
            "dropped": change.dropped,
        },
        f"{name} is {is_now}{instead} ({change.origin})",
    )


def attachment_event(record: DeviceRecord, *, attached: bool) -> Emit:
    """Return `grip-attachment-changed`; attachment is debounced."""
    return Emit(
        "grip-attachment-changed",
        {**_device(record), "attached": attached},
        f"{record.kind} {record.device_id} was {'attached' if attached else 'detached'}",
    )


def failure_event(record: DeviceRecord, reason: Reason) -> Emit:
    """Return `device-calibration-failed` for the mover."""
    return Emit(
        "device-calibration-failed",
        {**_device(record), "reason": str(reason)},
        f"the calibration of {record.kind} {record.device_id} failed: {WHY[reason]}",
    )


def _device(record: DeviceRecord) -> dict[str, object]:
    return {"device_id": record.device_id, "device_family": str(record.kind)}
