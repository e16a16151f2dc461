"""What HTTP does for a client: each operation once, in requests and pauses, for both kinds of service objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, TypeVar

import orjson

from hapticd_client.core.http import Operation, Pause, Request, segment
from hapticd_client.errors import InvalidCommand, Refused

T = TypeVar("T")
CalibrationState: TypeAlias = Literal["locked", "ready", "running", "calibrated", "failed"]
POLL_S: Final = 0.05
WHOLE_NUMBER: Final = "INT"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, as the service describes it."""

    key: str
    value: Any  # as stored
    effective: Any  # what holds now
    default: Any
    type_hint: str  # BOOL INT FLOAT STRING ARR_STRING VEC3 GENERIC
    description: str
    unit: str | None
    low: float | None  # of the range; None without one
    high: float | None
    choices: tuple[Any, ...] | None
    locked: bool  # acts at the next start only
    overridden_by: str | None  # the command line or environment, which win

    def check(self, value: Any) -> None:
        """Check a value against range, choices and type; InvalidCommand says what is possible."""
        unit = f" {self.unit}" if self.unit else ""
        if self.choices is not None and value not in self.choices:
            raise InvalidCommand(f"{self.key} is one of {', '.join(map(str, self.choices))}, and this is {value!r}")
        if self.type_hint == "BOOL" and not isinstance(value, bool):
            raise InvalidCommand(f"{self.key} is true or false, and this is {value!r}")
        if self.type_hint in {WHOLE_NUMBER, "FLOAT"} and value is not None:
            wanted = "a whole number" if self.type_hint == WHOLE_NUMBER else "a number"
            fits = isinstance(value, int) if self.type_hint == WHOLE_NUMBER else isinstance(value, int | float)
            if not fits or isinstance(value, bool):
                raise InvalidCommand(f"{self.key} is {wanted}, and this is {value!r}")
            if (self.low is not None and not value >= self.low) or (self.high is not None and not value <= self.high):
                raise InvalidCommand(f"{self.key} is {self.low:g} to {self.high:g}{unit}, and this is {value:g}")


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far a calibration is."""

    state: CalibrationState
    reason: str | None = None  # why it is locked or failed


@dataclass(frozen=True, slots=True)
class Pairing:
    """The other half of a device."""

    paired_with: str | None  # id
    origin: str | None  # automatic or manual


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check looked at."""

    subject: str
    ok: bool
    sentence: str  # what is so, and what to do if it is not ok


def version() -> Operation[dict[str, Any]]:
    """Read `/version`."""
    found: dict[str, Any] = yield Request("GET", "/version")
    return found


def step(ticks: int) -> Operation[float]:
    """Let the loop of a service whose time stands still tick; s since its start. Refused where the loop runs by itself."""
    found = yield Request("POST", "/simulation/steps", {"ticks": ticks})
    return float(found["time"])


def add_simulated(kind: str, device_id: str | None) -> Operation[str]:
    """Simulate one more device; its id."""
    body = {"type": kind, **({} if device_id is None else {"device_id": device_id})}
    found = yield Request("POST", "/simulation/devices", body)
    return str(found["device_id"])


def remove_simulated(device_id: str) -> Operation[None]:
    """Simulate a device no longer."""
    yield Request("DELETE", f"/simulation/devices/{segment(device_id)}")


# ---------------------------------------------------------------- settings


def describe(key: str) -> Operation[Setting]:
    """Read a setting with its description; Refused for an unknown key."""
    return _setting((yield Request("GET", f"/settings/{_key(key)}")))


def describe_all(prefix: str) -> Operation[dict[str, Setting]]:
    """Read every setting below a prefix, "" for all."""
    path = f"/settings/{_key(prefix)}" if prefix else "/settings"
    found = yield Request("GET", path, query={"advanced": "true"})
    return {key: _setting(record) for key, record in found.items() if isinstance(record, dict) and "key" in record}


def change(key: str, value: Any) -> Operation[Setting]:
    """Set a setting after checking it against its description. InvalidCommand, Refused."""
    record: Setting = yield from describe(key)
    record.check(value)
    return _setting((yield Request("POST", f"/settings/{_key(key)}", {"value": value})))


def reset(key: str) -> Operation[Setting]:
    """Set a setting back to its default."""
    return _setting((yield Request("DELETE", f"/settings/{_key(key)}")))


def effective(key: str) -> Operation[Any]:
    """Read the value of a setting that holds now."""
    record: Setting = yield from describe(key)
    return record.effective


# ---------------------------------------------------------------- the whole service


def stop() -> Operation[None]:
    """Stop every device."""
    yield Request("POST", "/stop")


def release() -> Operation[None]:
    """End the stop of everything."""
    yield Request("DELETE", "/stop")


def stopped() -> Operation[bool]:
    """Read whether any device is stopped."""
    found = yield Request("GET", "/stop")
    return bool(found["stopped"])


def ports() -> Operation[list[dict[str, Any]]]:
    """Read the ports."""
    found = yield Request("GET", "/ports")
    return list(found["ports"])


def reset_port(port: str) -> Operation[dict[str, Any]]:
    """Unblock a port."""
    found: dict[str, Any] = yield Request("POST", f"/ports/{segment(port)}/reset")
    return found


def events_port() -> Operation[int]:
    """Read the port of the event channel."""
    found = yield Request("GET", "/settings/communication/events/port")
    port = int(found["effective"])
    if port == 0:
        # The service chose a free one, which only its page is told.
        found = yield Request("GET", "/dashboard/service.json")
        page = orjson.loads(found) if isinstance(found, str) else found
        port = int(page["ports"]["events"])
    return port


# ---------------------------------------------------------------- one device


def of_device(kind: str, device_id: str, method: str, what: str, body: Any = None, **query: str) -> Operation[Any]:
    """Ask about one device; `what` is the rest of the path."""
    found = yield Request(method, f"/{segment(kind)}/{segment(device_id)}{what}", body, query)
    return found


def simulate(kind: str, device_id: str, what: Mapping[str, Any]) -> Operation[dict[str, Any]]:
    """Tell a simulated device what to do."""
    found: dict[str, Any] = yield Request("POST", f"/simulation/{segment(kind)}/{segment(device_id)}", dict(what))
    return found


def device_stopped(kind: str, device_id: str) -> Operation[bool]:
    """Read whether a device is stopped."""
    found: dict[str, Any] = yield from of_device(kind, device_id, "GET", "/stop")
    return bool(found["stopped"])


def trips(kind: str, device_id: str) -> Operation[list[dict[str, Any]]]:
    """Read what tripped last."""
    found: dict[str, Any] = yield from of_device(kind, device_id, "GET", "/trips")
    return list(found["trips"])


def rendering(kind: str, device_id: str) -> Operation[dict[str, Any]]:
    """Read what a device bears of springs and dampers that the loop renders."""
    found: dict[str, Any] = yield from of_device(kind, device_id, "GET", "/rendering")
    return found


def pairing(kind: str, device_id: str, method: str = "GET", other: str | None = None) -> Operation[Pairing]:
    """Read, make (POST) or end (DELETE) the pairing of a device."""
    body = None if other is None else {"device_id": other}
    found: dict[str, Any] = yield from of_device(kind, device_id, method, "/config/paired_with", body)
    return Pairing(found.get("paired_with"), found.get("origin"))


def calibration(kind: str, device_id: str, method: str = "GET") -> Operation[Calibration]:
    """Read how far a calibration is, or start one (POST)."""
    found: dict[str, Any] = yield from of_device(kind, device_id, method, "/calibration")
    return Calibration(found["state"], found.get("reason"))


def next_calibration(kind: str, device_id: str, before: Calibration) -> Operation[Calibration]:
    """Wait until a calibration differs from `before`."""
    while True:
        found: Calibration = yield from calibration(kind, device_id)
        if found != before:
            return found
        yield Pause(POLL_S)


def check(kind: str, device_id: str, *, mover: bool) -> Operation[list[Finding]]:
    """Look at a device without moving it."""
    record: dict[str, Any] = yield from of_device(kind, device_id, "GET", "")
    status: Mapping[str, Any] = record.get("status", {})
    found = [_finding("ready", status.get("ready"), "it takes commands", "it has not settled: wait, then see the log")]
    if not mover:
        found.append(
            _finding("connected", status.get("connected", True), "it is heard", "it is not heard: charge or wake it")
        )
        return found
    found += [
        _finding("calibrated", status.get("calibrated"), "it is calibrated", "it is not calibrated: call calibrate()"),
        _finding("power", status.get("power_supply"), "it has power", "it has no power supply: plug it in"),
    ]
    held: bool = yield from device_stopped(kind, device_id)
    found.append(_finding("stop", not held, "it is not stopped", "it is stopped: call release()"))
    try:
        brake: dict[str, Any] = yield from of_device(kind, device_id, "GET", "/resume")
    except Refused:
        brake = {}
    waits = bool(brake.get("waiting") or brake.get("braking"))
    found.append(
        _finding(
            "e-brake", not waits, "no e-brake acts", "its e-brake acts: move it slowly, then call resume_after_brake()"
        )
    )
    latest: list[dict[str, Any]] = yield from trips(kind, device_id)
    cause = latest[-1].get("cause") if latest else None
    found.append(_finding("trips", cause is None, "nothing has tripped", f"{cause} has tripped: see trips()"))
    return found


def _finding(subject: str, good: Any, yes: str, no: str) -> Finding:
    return Finding(subject, bool(good), yes if good else no)


def _key(key: str) -> str:
    return "/".join(segment(part) for part in key.split("/"))


def _setting(record: Mapping[str, Any]) -> Setting:
    constraint = record.get("metadata", {}).get("constraint") or {}
    limits = constraint.get("range") or {}
    choices = constraint.get("choices")
    return Setting(
        record["key"],
        record["value"],
        record["effective"],
        record["default"],
        record["type_hint"],
        record["description"],
        record.get("unit"),
        limits.get("min"),
        limits.get("max"),
        None if choices is None else tuple(choices),
        bool(record.get("metadata", {}).get("locked")),
        record.get("overridden_by"),
    )
