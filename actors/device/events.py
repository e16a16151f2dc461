"""Build the events of devices: connected, disconnected, asleep, awake, stale data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.event.messages import Emit

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord


def connected_event(record: DeviceRecord) -> Emit:
    """Return `device-connected`: the device is in the inventory and settles."""
    identity = record.identity
    return Emit(
        "device-connected",
        _about(record),
        f"{identity.kind} {identity.device_id} connected on {identity.port}",
    )


def disconnected_event(record: DeviceRecord, why: str) -> Emit:
    """Return `device-disconnected` with the reason in its message."""
    identity = record.identity
    return Emit(
        "device-disconnected",
        _about(record),
        f"{identity.kind} {identity.device_id} on {identity.port} is gone: {why}",
    )


def sleep_event(record: DeviceRecord, *, awake: bool) -> Emit:
    """Return `device-sleep`."""
    sentence = f"{record.kind} {record.device_id} {'woke up' if awake else 'fell asleep'}"
    return Emit("device-sleep", {**_family(record), "awake": awake}, sentence)


def stale_event(record: DeviceRecord, silent_ms: float) -> Emit:
    """Return `device-safety-triggered` for data that are stale for `silent_ms` of the loop's clock."""
    return Emit(
        "device-safety-triggered",
        {**_family(record), "safety_type": "device_stale", "silent_ms": silent_ms},
        f"{record.kind} {record.device_id} has sent nothing new for {silent_ms:g} ms",
    )


def sent_nothing(silent_ns: int) -> str:
    """Return why a device that fell silent counts as lost."""
    return f"it sent nothing for {round(silent_ns * 1e-6, 1):g} ms"


def _family(record: DeviceRecord) -> dict[str, object]:
    return {"device_id": record.device_id, "device_family": str(record.kind)}


def _about(record: DeviceRecord) -> dict[str, object]:
    """Return the device's identity fields; the edge translates them to the vocabulary."""
    identity = record.identity
    return {
        **_family(record),
        "type": str(record.kind),
        "connection": str(identity.connection),
        "port": identity.port,
        "firmware": str(identity.firmware),
    }
