"""The trip log: causes and samples of the loop become records that outlive a lease."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from actors.device.trips import CAUSES, MOST_DEVICES, TripTable
from fastpath.layout.constants import KEPT_TRIPS, TripCause
from fastpath.layout.dtypes import TRIP_HISTORY

SECOND = 1_000_000_000


def history(trips: int, *, samples: int = 0, at_ns: int = 5 * SECOND, cause: int = TripCause.TRIP_RUNAWAY) -> Any:
    """A history of so many trips at `at_ns`, after samples each ms until then."""
    made = np.zeros((), dtype=TRIP_HISTORY)
    made["trips"], made["samples"] = trips, samples
    for number in range(max(0, trips - KEPT_TRIPS), trips):
        made["trip"][number % KEPT_TRIPS] = (at_ns, cause, 3.5 + number, 3.0)
    for number in range(max(0, samples - 1024), samples):
        sample = made["sample"][number % 1024]
        sample["time_ns"] = at_ns - (samples - 1 - number) * 1_000_000
        sample["position"] = number
    return made


def test_every_cause_of_the_loop_has_a_word() -> None:
    assert set(CAUSES) == set(TripCause)
    assert len({word for word, _unit in CAUSES.values()}) == len(CAUSES)


def test_trip_has_its_cause_value_limit_and_time() -> None:
    (trip,) = TripTable().with_trips("049D", history(1), 0, 100 * SECOND).of("049D")

    assert (trip.number, trip.cause, trip.unit) == (1, "speed", "m/s")
    assert (trip.value, trip.limit, trip.at_ns) == (3.5, 3.0, 105 * SECOND)


@pytest.mark.parametrize("samples", [0, 1, 150, 201, 900, 1024, 5000])
def test_samples_are_those_of_the_200_ms_before_the_trip(samples: int) -> None:
    (trip,) = TripTable().with_trips("049D", history(1, samples=samples), 0, 0).of("049D")
    shown = json.loads(trip.whole)["samples"]
    seconds = shown["time_s"]

    assert len(seconds) == min(max(0, samples - 1), 200)
    assert seconds == pytest.approx(-0.001 * np.arange(len(seconds), 0, -1))
    assert [x for x, _y, _z in shown["position_m"]] == [samples - 1 - back for back in range(len(seconds), 0, -1)]
    assert [len(shown[name]) for name in ("velocity_m_s", "force_n")] == [len(seconds)] * 2


def test_trip_is_encoded_with_and_without_its_samples() -> None:
    (trip,) = TripTable().with_trips("049D", history(1, samples=3), 0, 100 * SECOND).of("049D")

    brief = {
        "number": 1,
        "time": "1970-01-01T00:01:45.000000+00:00",
        "cause": "speed",
        "value": 3.5,
        "limit": 3.0,
        "unit": "m/s",
    }
    assert json.loads(trip.brief) == brief
    assert json.loads(trip.whole) == {
        **brief,
        "samples": {
            "time_s": [-0.002, -0.001],
            "position_m": [[0, 0, 0], [1, 1, 1]],
            "velocity_m_s": [[0, 0, 0]] * 2,
            "force_n": [[0, 0, 0]] * 2,
        },
    }


def test_cause_without_a_measured_value_has_null_in_its_place() -> None:
    made = history(1)
    made["trip"][0]["cause"] = TripCause.TRIP_OSCILLATION
    (trip,) = TripTable().with_trips("049D", made, 0, 0).of("049D")

    shown = json.loads(trip.brief)
    assert [shown[name] for name in ("cause", "value", "limit", "unit")] == ["oscillation", None, None, None]


def test_trips_that_are_kept_are_not_encoded_again() -> None:
    table = TripTable().with_trips("049D", history(2), 0, 0)
    later = table.with_trips("049D", history(3), 2, 0)

    assert [one.whole is two.whole for one, two in zip(table.of("049D"), later.of("049D"), strict=False)] == [True] * 2


def test_only_new_trips_are_appended_and_numbers_go_on_after_a_reconnection() -> None:
    table = TripTable().with_trips("049D", history(2), 0, 0)
    table = table.with_trips("049D", history(3), 2, 0)
    table = table.with_trips("049D", history(1), 0, 0)

    assert [trip.number for trip in table.of("049D")] == [1, 2, 3, 4]
    assert [trip.value for trip in table.of("049D")] == [3.5, 4.5, 5.5, 3.5]


def test_newest_trips_are_kept_and_overwritten_ones_keep_their_numbers() -> None:
    table = TripTable().with_trips("049D", history(100), 10, 0)

    assert len(table.of("049D")) == KEPT_TRIPS
    assert table.of("049D")[-1].number == 90
    assert table.of("049D")[-1].value == 3.5 + 99


def test_oscillations_push_out_no_cause_of_a_brake() -> None:
    table = TripTable().with_trips("049D", history(20), 0, 0)

    table = table.with_trips("049D", history(30, cause=TripCause.TRIP_OSCILLATION), 0, 0)

    kept = table.of("049D")
    assert len(kept) == KEPT_TRIPS
    assert [trip.number for trip in kept] == [*range(5, 21), *range(35, 51)]
    assert [trip.cause for trip in kept].count("speed") == 16
    assert (
        len(TripTable().with_trips("049D", history(32, cause=TripCause.TRIP_OSCILLATION), 0, 0).of("049D"))
        == KEPT_TRIPS
    )


def test_only_so_many_devices_are_kept() -> None:
    table = TripTable()
    for number in range(MOST_DEVICES + 3):
        table = table.with_trips(f"D{number}", history(1), 0, 0)

    assert len(table.trips) == MOST_DEVICES
    assert table.of("D0") == ()
    assert table.of("nobody") == ()
