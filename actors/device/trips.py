"""Trip log of the devices: what tripped and the motion before it, kept while the service runs, also when a device reconnects.

The loop writes causes and samples (`fastpath/tick/trip_log.pxd`); the timekeeper converts them, encodes each trip once, so that a
request only joins texts, and publishes a new log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fastpath.layout.constants import KEPT_SAMPLES, KEPT_TRIPS, TripCause
from fastpath.text.encoder import encode_json

if TYPE_CHECKING:
    from actors.kit.published import Published

BEFORE_NS: Final = 200_000_000
MOST_DEVICES: Final = 64
NS_PER_S: Final = 1_000_000_000
# Decimals of s, m, m/s and N: finer than what the loop measures, and short on the wire.
TIME_DECIMALS, POSITION_DECIMALS, VELOCITY_DECIMALS, FORCE_DECIMALS = 6, 7, 5, 4

# Word of a cause, unit of its value and limit.
OFTEN: Final = "oscillation"
CAUSES: Final[Mapping[int, tuple[str, str]]] = MappingProxyType(
    {
        TripCause.TRIP_ENABLE: ("enable_button", ""),
        TripCause.TRIP_GRIP: ("grip_dropped", "s"),
        TripCause.TRIP_GUARD: ("foreign_object_guard", "N"),
        TripCause.TRIP_HARD: ("foreign_object_hard", "N"),
        TripCause.TRIP_STALL: ("stall", "s"),
        TripCause.TRIP_HEAT: ("heat", "degrees Celsius"),
        TripCause.TRIP_KINETIC: ("kinetic_energy_limit", "J"),
        TripCause.TRIP_POWER: ("power_limit", "W"),
        TripCause.TRIP_CONTACT: ("contact_energy_limit", "J"),
        TripCause.TRIP_RUNAWAY: ("speed", "m/s"),
        TripCause.TRIP_FAST: ("speed_with_power", "m/s"),
        TripCause.TRIP_OSCILLATION: (OFTEN, ""),
        TripCause.TRIP_STIFFNESS: ("stiffness_warning", "N.s/m"),
        TripCause.TRIP_STOP: ("stop_brake", "m/s"),
    }
)


@dataclass(frozen=True, slots=True)
class Trip:
    """One trip of a monitor."""

    number: int  # from 1 on, of this device since the service started
    cause: str  # word of CAUSES
    unit: str  # of `value` and `limit`; empty: they mean nothing
    value: float
    limit: float
    loop_ns: int  # ns, loop clock
    at_ns: int  # ns since 1970, UTC
    brief: bytes  # JSON of the trip without samples
    whole: bytes  # JSON of the trip with its samples: device frame, oldest first, s before the trip (negative), m, m/s, N put out


@dataclass(frozen=True, slots=True)
class TripTable:
    """Newest KEPT_TRIPS trips of each device that has tripped, oldest first; of MOST_DEVICES devices.

    Of oscillations, which come by the dozen, at most half are kept while there are others, so that they push no brake's cause out.
    """

    trips: Mapping[str, tuple[Trip, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, device_id: str) -> tuple[Trip, ...]:
        """Return the trips of a device, oldest first; empty for one that never tripped."""
        return self.trips.get(device_id, ())

    def with_trips(self, device_id: str, history: Any, seen: int, epoch_ns: int) -> TripTable:
        """Return the table with the trips of a TRIP_HISTORY that come after the first `seen`.

        `epoch_ns`: ns since 1970 at which the loop's clock was 0.
        """
        before = self.of(device_id)
        number = before[-1].number if before else 0
        total = int(history["trips"])
        new = [
            _trip(history, at % KEPT_TRIPS, number + 1 + at - seen, epoch_ns)
            for at in range(max(seen, total - KEPT_TRIPS), total)
        ]
        # The device that tripped last comes last.
        others = {key: value for key, value in self.trips.items() if key != device_id}
        kept = dict(list(others.items())[-(MOST_DEVICES - 1) :])
        kept[device_id] = _newest((*before, *new))
        return TripTable(MappingProxyType(kept))


def _newest(trips: tuple[Trip, ...]) -> tuple[Trip, ...]:
    others = [trip for trip in trips if trip.cause != OFTEN]
    often = [trip for trip in trips if trip.cause == OFTEN]
    often = often[-(KEPT_TRIPS - min(len(others), KEPT_TRIPS // 2)) :]
    return tuple(sorted([*others[-(KEPT_TRIPS - len(often)) :], *often], key=lambda trip: trip.number))


def _trip(history: Any, at: int, number: int, epoch_ns: int) -> Trip:
    trip = history["trip"][at]
    cause, unit = CAUSES.get(int(trip["cause"]), ("unknown", ""))
    loop_ns = int(trip["time_ns"])
    value, limit = float(trip["value"]), float(trip["limit"])
    at_ns = epoch_ns + loop_ns
    # A cause without a measured value has null in its place.
    shown: dict[str, object] = {
        "number": number,
        "time": datetime.fromtimestamp(at_ns / NS_PER_S, UTC).isoformat(timespec="microseconds"),
        "cause": cause,
        "value": value if unit else None,
        "limit": limit if unit else None,
        "unit": unit or None,
    }
    brief = encode_json(shown)
    whole = encode_json({**shown, "samples": _samples_before(history, loop_ns)})
    return Trip(number, cause, unit, value, limit, loop_ns, at_ns, brief, whole)


def _samples_before(history: Any, loop_ns: int) -> dict[str, object]:
    """Return the samples of a TRIP_HISTORY from the BEFORE_NS before a time of the loop's clock (ns), oldest first, as JSON has them."""
    count = int(history["samples"])
    order = np.arange(max(0, count - KEPT_SAMPLES), count) % KEPT_SAMPLES
    samples = history["sample"][order]
    times = samples["time_ns"]
    chosen = samples[(times < loop_ns) & (times >= loop_ns - BEFORE_NS)]
    return {
        "time_s": ((chosen["time_ns"] - loop_ns) * 1e-9).round(TIME_DECIMALS).tolist(),
        "position_m": chosen["position"].astype(float).round(POSITION_DECIMALS).tolist(),
        "velocity_m_s": chosen["velocity"].astype(float).round(VELOCITY_DECIMALS).tolist(),
        "force_n": chosen["force"].astype(float).round(FORCE_DECIMALS).tolist(),
    }


def append_to(table: Published[TripTable]) -> Callable[[str, Any, int, int], None]:
    """Return a function that appends to a table as `TripTable.with_trips` does; its only caller is the table's only writer."""

    def append(device_id: str, history: Any, seen: int, epoch_ns: int) -> None:
        table.replace(table.value.with_trips(device_id, history, seen, epoch_ns))

    return append
