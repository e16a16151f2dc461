"""Benchmark: encode the frame of an arm and a wireless grip, against building a dict and encoding it with orjson.

The reference gets its numbers as Python floats, in application space and rounded to float32: it neither reads a cell nor
transforms a vector. The two run alternately, so that the ratio holds on any machine.
"""

from __future__ import annotations

import json
from typing import Final, TypeAlias

import numpy as np
import orjson
import pytest

from bench.support.plugin import Benchmark
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.turns import ns_per_call
from fastpath.text.encoder import FrameEncoder, SharedTexts, encode_json, number
from tests.unit.fastpath.text.frame_rig import FrameRig, Json

Values: TypeAlias = dict[str, tuple[float, ...]]

SECTION: Final = "text on the wire · arm and wireless grip"
LIMIT: Final = Limit(0.25, "≤")
ROUNDS: Final = 500
CALLS: Final = 40


@pytest.fixture
def encoder() -> FrameEncoder:
    """FrameEncoder of two moving devices, with a commanded force and a mount and workspace other than the identity."""
    rig = FrameRig()
    arm, grip = rig.writer("049D"), rig.writer("16F2")
    arm.set_mount((0.01, 0.12, -0.1), (0.6, 0.0, 0.8, 0.0), (1, 1, 1))
    arm.set_workspace((0.001, 0, 0), (0.5, 0.5, -0.5, 0.5), (2, 2, 2))
    arm.force(0.5, -1, 0.25)
    arm.publish()
    rig.runtime.step(150)
    assert np.count_nonzero(rig.reader("049D").snapshot()["force"]) == 3
    arms, grips = [rig.entry("049D", arm)], [rig.entry("16F2", grip)]
    return FrameEncoder(7, [("arm", arms), ("compact", []), ("grip", grips), ("pen", [])], version=31)


def xyz(v: tuple[float, ...]) -> Json:
    return {"x": v[0], "y": v[1], "z": v[2]}


def joints(v: tuple[float, ...]) -> Json:
    return {"a0": v[0], "a1": v[1], "a2": v[2]}


def wxyz(v: tuple[float, ...]) -> Json:
    return {"w": v[0], "x": v[1], "y": v[2], "z": v[3]}


def values_of(frame: bytes) -> tuple[Values, Values, Values]:
    """Return the numbers of a frame: of the arm's state, of its transform, of the grip's state."""

    def tuples(state: dict[str, Json]) -> Values:
        found: Values = {}
        for name, value in state.items():
            if isinstance(value, dict):
                found[name] = tuple(item for item in value.values() if isinstance(item, int | float))
            elif isinstance(value, int | float):
                found[name] = (value,)
        return found

    groups = json.loads(frame)
    arm, grip = groups["arm"][0]["state"], groups["grip"][0]["state"]
    return tuples(arm), tuples(arm["transform"]), tuples(grip)


def as_dict(arm: Values, transform: Values, grip: Values) -> Json:
    """Build the frame as a new dict."""
    return {
        "session_id": 7,
        "arm": [
            {
                "device_id": "049D",
                "state": {
                    "cursor_position": xyz(arm["cursor_position"]),
                    "cursor_velocity": xyz(arm["cursor_velocity"]),
                    "angular_position": joints(arm["angular_position"]),
                    "angular_velocity": joints(arm["angular_velocity"]),
                    "body_orientation": wxyz(arm["body_orientation"]),
                    "current_cursor_force": xyz(arm["current_cursor_force"]),
                    "current_cursor_position": xyz(arm["current_cursor_position"]),
                    "current_angular_torques": joints(arm["current_angular_torques"]),
                    "current_angular_position": joints(arm["current_angular_position"]),
                    "control_domain": "cartesian",
                    "control_mode": "force",
                    "transform": {
                        "position": xyz(transform["position"]),
                        "rotation": wxyz(transform["rotation"]),
                        "scale": xyz(transform["scale"]),
                    },
                    "transform_velocity": {},
                },
                "status": {"calibrated": True, "in_use": False, "power_supply": True, "ready": True, "started": True},
            }
        ],
        "compact": [],
        "grip": [
            {
                "device_id": "16F2",
                "state": {
                    "orientation": wxyz(grip["orientation"]),
                    "hall": grip["hall"][0],
                    "button": False,
                    "buttons": {"a": False, "b": False, "c": False},
                    "battery_level": grip["battery_level"][0],
                    "battery_voltage": grip["battery_voltage"][0],
                    "transform": {},
                },
                "status": {"ready": True, "error": 0, "connected": True, "awake": True, "attached": True},
            }
        ],
        "pen": [],
    }


def test_encode_of_an_arm_and_a_wireless_grip(
    benchmark: Benchmark, results: ResultTable, encoder: FrameEncoder
) -> None:
    values = values_of(encoder.encode())
    assert orjson.loads(orjson.dumps(as_dict(*values))) == json.loads(encoder.encode())

    def reference() -> bytes:
        return orjson.dumps(as_dict(*values))

    ours, theirs = ns_per_call([[encoder.encode], [reference]], rounds=ROUNDS, number=CALLS)
    benchmark.pedantic(encoder.encode, rounds=ROUNDS, iterations=CALLS, warmup_rounds=2)
    row = results.add(Row(SECTION, "frame", ours, "ns", theirs, LIMIT, "reference: dict + orjson.dumps"))
    hold(row)


def test_frame_whose_texts_are_there(benchmark: Benchmark, results: ResultTable, encoder: FrameEncoder) -> None:
    values = values_of(encoder.encode())
    shared = SharedTexts()

    def ours() -> bytes:
        return encoder.encode(shared=shared)

    assert ours() == ours() == encoder.encode()
    cost, theirs = ns_per_call([[ours], [lambda: orjson.dumps(as_dict(*values))]], rounds=ROUNDS, number=CALLS)
    benchmark.pedantic(ours, rounds=ROUNDS, iterations=CALLS, warmup_rounds=2)
    note = "of each session but the first in one space and tick; reference: dict + orjson.dumps"
    results.add(Row(SECTION, "frame from texts of another session", cost, "ns", theirs, note=note))


def test_generic_json_of_the_same_dict(benchmark: Benchmark, results: ResultTable, encoder: FrameEncoder) -> None:
    value = as_dict(*values_of(encoder.encode()))
    ours, theirs = ns_per_call([[encode_json, value], [orjson.dumps, value]], rounds=ROUNDS, number=CALLS)
    benchmark.pedantic(encode_json, (value,), rounds=ROUNDS, iterations=CALLS, warmup_rounds=2)
    results.add(Row(SECTION, "JSON of a dict that is there", ours, "ns", theirs, note="reference: orjson.dumps"))


@pytest.mark.parametrize("value", [0.0, 0.135, -0.11997774, 6.3050475e-6])
def test_one_number(benchmark: Benchmark, results: ResultTable, value: float) -> None:
    ours, theirs = ns_per_call([[number, value], [repr, value]], rounds=ROUNDS, number=CALLS)
    benchmark.pedantic(number, (value,), rounds=ROUNDS, iterations=CALLS, warmup_rounds=2)
    results.add(Row(SECTION, f"number {value:g}", ours, "ns", theirs, note="reference: repr"))
