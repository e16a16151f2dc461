"""The scan of the streaming thread against the general reader: what it takes, it reads the same; what is plain, it takes."""

from __future__ import annotations

import json
import math
import os
from itertools import islice
from typing import Any, Final

import pytest

from fastpath.stream.streaming import Plan
from tests.support.wire.generated_messages import Messages
from tests.unit.fastpath.text.frame_rig import FrameRig
from tests.unit.wire.parser_samples import DEVICES, arm, commanded, joints, read, xyz
from transport.session.stream_plan import GROUPS, KIND_BITS, POINTS, takes
from transport.wire.commands import PROBES

GENERATED: Final = int(os.environ.get("HAPTICD_GENERATED_MESSAGES", "20000"))
FRAME_IDS: Final = ("049D", "16A5", "1605", "16F2", "1700")


@pytest.fixture(scope="module")
def plan() -> Plan:
    """A plan for the devices that the tests of the general reader have; their records are those of the frame rig's devices."""
    rig = FrameRig()
    devices = [
        (device.device_id, rig.writer(of_rig), KIND_BITS[device.kind], takes(device))
        for device, of_rig in zip(DEVICES.values(), FRAME_IDS, strict=True)
    ]
    return Plan(
        rig.runtime, rig.encoder("049D"), GROUPS, POINTS, sorted(PROBES), devices, timeout_ns=50_000_000, version=0
    )


def scanned(plan: Plan, message: object) -> Any:
    """What the scan reads, in the general reader's terms; None for a message that is not plain."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    found = plan.scan(data)
    if found is None:
        return None
    ids = list(DEVICES)
    return {ids[at] for at in found[0]}, [(ids[at], code, *numbers) for at, code, *numbers in found[1]]


def general(message: bytes) -> Any:
    """What the general reader reads, if the message holds nothing but set-points and probes."""
    parsed = read(message)
    other = (parsed.faults, parsed.changes, parsed.workspaces, parsed.module_changes, parsed.deprecated, parsed.full)
    assert not any(other), f"the scan took {message!r}, but it says more: {other}"
    return parsed.mapped, [(command[0], command[1], *map(float, command[2:5])) for command in parsed.commands]


def same_bits(one: Any, other: Any) -> bool:
    """Whether two readings are equal, their numbers to the bit."""
    return bool(one == other) and repr(one[1]) == repr(other[1])


def test_what_the_scan_takes_the_general_reader_reads_the_same(plan: Plan) -> None:
    taken = 0
    for message in islice(Messages(seed=2026), GENERATED):
        found = scanned(plan, message)
        if found is not None:
            taken += 1
            assert same_bits(found, general(message)), message

    assert taken > 0.2 * GENERATED


PLAIN: Final[dict[str, tuple[Any, list[tuple[Any, ...]]]]] = {
    "force": (commanded(set_cursor_force={"vector": xyz(0.5, -1, 2e-3)}), [("049D", 0, 0.5, -1.0, 0.002)]),
    "any order": (
        {"arm": [{"commands": {"set_cursor_force": {"vector": {"z": 3, "x": 1, "y": 2}}}, "device_id": "049D"}]},
        [("049D", 0, 1.0, 2.0, 3.0)],
    ),
    "by id": (
        {"arm": {"049D": {"commands": {"set_angular_torques": {"torques": joints(1, 2, 3)}}}}},
        [("049D", 2, 1.0, 2.0, 3.0)],
    ),
    "several devices": (
        {
            "inverse3": [{"device_id": "049D", "commands": {"set_cursor_force": {"vector": xyz(1, 0, 0)}}}],
            "compact": [{"device_id": "04EA", "commands": {"set_angular_position": {"angles": joints(4, 5, 6)}}}],
        },
        [("049D", 0, 1.0, 0.0, 0.0), ("04EA", 3, 4.0, 5.0, 6.0)],
    ),
    "probe": (commanded(probe_position={}), []),
    "keep alive": (commanded(keep_alive={}), []),
    "second name of the map": (
        arm(command_data={"set_cursor_force": {"vector": xyz(0, 0, 1)}}),
        [("049D", 0, 0.0, 0.0, 1.0)],
    ),
    "handle": ({"grip": [{"device_id": "1605", "commands": {"probe_orientation": {}}}]}, []),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_message_is_taken(plan: Plan, name: str) -> None:
    message, points = PLAIN[name]

    found = scanned(plan, message)

    assert found is not None
    assert found[1] == points
    assert found == general(json.dumps(message).encode())


def test_nothing_is_plain(plan: Plan) -> None:
    assert scanned(plan, {}) == (set(), [])


NOT_PLAIN: Final[dict[str, object]] = {
    "configuration": arm(configure={"preset": {"preset": "defaults"}}),
    "configuration in the map": arm(command_data={"configure": {}}),
    "session": {"session": {"force_render_full_state": {}}},
    "transform": commanded(set_transform={"transform": {}}),
    "deprecated values": commanded(set_cursor_force={"values": xyz(0, 0, 1)}),
    "old name": commanded(set_angular_torque={"torques": joints(0, 0, 1)}),
    "two numbers": commanded(set_cursor_force={"vector": {"x": 1, "y": 2}}),
    "text for a number": commanded(set_cursor_force={"vector": xyz("1", 0, 0)}),
    "beyond the limit": commanded(set_cursor_force={"vector": xyz(1.1e6, 0, 0)}),
    "not ready": arm(device_id="05E7", commands={"set_cursor_force": {"vector": xyz(0, 0, 1)}}),
    "no motors": {"grip": [{"device_id": "1605", "commands": {"set_cursor_force": {"vector": xyz(0, 0, 1)}}}]},
    "unknown device": arm(device_id="FFFF", commands={}),
    "device of another group": {"grip": [{"device_id": "049D", "commands": {}}]},
    "without an id": {"arm": [{"commands": {}}]},
    "unknown group": {"arms": []},
    "module's command": commanded(set_contact={}),
    "member twice": b'{"arm":[{"device_id":"049D","commands":{},"commands":{}}]}',
    "group twice": b'{"arm":[],"arm":[]}',
    "device twice in an object": b'{"arm":{"049D":{},"049D":{}}}',
    "command twice": b'{"arm":{"049D":{"commands":{"set_cursor_force":{"vector":{"x":1,"y":1,"z":1}},"set_cursor_force":{"vector":{"x":2,"y":2,"z":2}}}}}}',
    "key twice": b'{"arm":{"049D":{"commands":{"set_cursor_force":{"vector":{"x":1,"x":1,"y":1,"z":1}}}}}}',
    "escape": b'{"arm":[{"device_id":"\\u003049D"}]}',
    "beyond ASCII": '{"arm":[{"device_id":"049Ü"}]}'.encode(),
    "broken UTF-8": b'{"arm":[{"device_id":"049\xff"}]}',
    "array": b"[]",
    "nothing": b"",
    "cut": b'{"arm":[{"device_id":"049D","commands":{"set_cursor_force":{"vector":{"x":1,"y":2,"z":3',
    "more behind": b"{} {}",
    "comma at the end": b'{"arm":[],}',
    "not a number": b'{"arm":{"049D":{"commands":{"set_cursor_force":{"vector":{"x":NaN,"y":1,"z":1}}}}}}',
    "leading zero": b'{"arm":{"049D":{"commands":{"set_cursor_force":{"vector":{"x":01,"y":1,"z":1}}}}}}',
    "zero byte": b'{"arm":[]\x00}',
}


@pytest.mark.parametrize("name", NOT_PLAIN)
def test_everything_else_is_the_general_reader_s(plan: Plan, name: str) -> None:
    assert scanned(plan, NOT_PLAIN[name]) is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "0.1",
            "0.30000000000000004",
            "2.2250738585072014e-308",
            "4.9e-324",
            "1e-400",
            "123456.78901234567",
            "9.999999999999999e5",
        ),
        *(
            "0.1000000000000000055511151231257827021181583404541",
            "1e0",
            "1E-7",
            "-1.5e+2",
            "0.000001",
            "1e22",
            "-0.0",
            "0e9",
            "1e-22",
        ),
    ],
)
def test_number_is_correctly_rounded(plan: Plan, text: str) -> None:
    message = (
        f'{{"arm":{{"049D":{{"commands":{{"set_cursor_force":{{"vector":{{"x":{text},"y":0,"z":-0}}}}}}}}}}}}'.encode()
    )
    found = scanned(plan, message)

    if abs(float(text)) > 1e6:
        assert found is None
    else:
        ((_, _, x, _, z),) = found[1]
        assert repr(x) == repr(float(text))
        assert math.copysign(1, z) == 1
