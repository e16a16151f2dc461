"""Messages and frames of the client's core, without I/O."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hapticd_client import (
    DeviceGone,
    FrameErrors,
    HapticsError,
    InvalidCommand,
    ProtocolBroken,
    ServiceState,
    WrongWords,
)
from hapticd_client.core.wire import FULL, PROBE
from tests.clients.python.frames import arm, frame, opened


def message(wire: Any) -> Any:
    made = wire.act()
    return None if made is None else json.loads(made)


def test_assigned_force_is_sent_once_and_released_in_the_next_turn() -> None:
    session, wire = opened()
    device = session.devices["049D"]

    device.force = 0, 0, 1.5
    assert message(wire) == {
        "arm": [{"device_id": "049D", "commands": {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1.5}}}}]
    }
    assert message(wire) == {"arm": [{"device_id": "049D", "commands": {}}]}
    assert message(wire) is None


def test_force_longer_than_max_force_is_shortened_in_its_direction() -> None:
    session, wire = opened()
    session.most_force = 2.0
    session.devices["049D"].force = np.array([3.0, 0.0, 4.0])

    sent = message(wire)["arm"][0]["commands"]["set_cursor_force"]["vector"]

    assert sent == pytest.approx({"x": 1.2, "y": 0, "z": 1.6})


@pytest.mark.parametrize("value", [(1, 2), (1, 2, 3, 4), (0, 0, float("nan")), (0, float("inf"), 0), "abc", 1.0, None])
def test_force_that_is_not_three_finite_numbers_is_refused_and_nothing_is_sent(value: Any) -> None:
    session, wire = opened()

    with pytest.raises(InvalidCommand, match="a force is three"):
        session.devices["049D"].force = value

    assert message(wire) is None


def test_configuration_is_sent_once_beside_commands_and_the_next_turn_asks_for_a_full_frame() -> None:
    session, wire = opened()
    device = session.devices["049D"]
    device.mount = {"position": (0, 0, 0.1), "scale": 2}
    device.force_gate = 0.5
    device.workspace = {"rotation": (1, 0, 0, 0)}

    (entry,) = message(wire)["arm"]

    assert entry["configure"] == {
        "mount": {"position": {"x": 0, "y": 0, "z": 0.1}, "scale": {"x": 2, "y": 2, "z": 2}},
        "force_gate": {"gain": 0.5},
    }
    assert entry["commands"] == {"set_transform": {"transform": {"rotation": {"w": 1, "x": 0, "y": 0, "z": 0}}}}
    assert wire.probe() == FULL
    assert wire.probe() == PROBE


def test_workspace_alone_does_not_keep_the_force_of_the_turn_before() -> None:
    session, wire = opened()
    device = session.devices["049D"]
    device.force = 0, 0, 1
    message(wire)
    device.workspace = {"scale": 2}

    assert list(message(wire)["arm"][0]["commands"]) == ["set_transform"]
    assert message(wire) is None


@pytest.mark.parametrize(
    ("assign", "value"),
    [
        ("damping", 21),
        ("damping", "much"),
        ("force_gate", -0.1),
        ("mount", {"place": (0, 0, 0)}),
        ("mount", 3),
        ("mount", {"rotation": (1, 1, 0, 0)}),
        ("mount", {"rotation": (1, 0)}),
        ("mount", {"scale": 0}),
        ("preset", 3),
    ],
)
def test_configuration_out_of_range_is_refused_where_it_is_assigned(assign: str, value: Any) -> None:
    session, wire = opened()

    with pytest.raises(InvalidCommand):
        setattr(session.devices["049D"], assign, value)

    assert message(wire) is None


def test_state_is_kept_unchanged_while_later_frames_come() -> None:
    session, wire = opened()
    device = session.devices["049D"]
    before = device.state
    wire.probe()
    wire.take(frame(arm(config=False, z=0.2)))

    assert (before.position[2], device.position[2]) == (0.1, 0.2)
    with pytest.raises(ValueError, match="read-only"):
        device.position[2] = 3


def test_null_in_a_frame_is_not_a_number_and_no_force_can_be_made_of_it() -> None:
    session, _ = opened(frame(arm(z=None)))
    device = session.devices["049D"]

    assert np.isnan(device.position[2])
    with pytest.raises(InvalidCommand):
        device.force = 0, 0, 500 * (0.12 - device.position[2])


def test_only_the_newest_of_several_owed_frames_is_shown_and_errors_of_the_older_count() -> None:
    session, wire = opened()
    session.devices["049D"].force = 0, 0, 1
    wire.act()
    wire.probe()
    wire.take(frame(arm(config=False, z=0.3), errors=[{"path": "arm[0]", "reason": "The device is busy."}]))
    assert session.devices["049D"].position[2] == 0.1
    wire.take(frame(arm(config=False, z=0.4)))
    assert session.devices["049D"].position[2] == 0.4

    session.devices["049D"].force = 0, 0, 1
    with pytest.raises(FrameErrors, match=r"arm\[0\]: The device is busy") as caught:
        session.check()

    assert caught.value.faults[0].path == "arm[0]"
    assert message(wire) == {"arm": [{"device_id": "049D", "commands": {}}]}


def test_faults_are_collected_without_strict() -> None:
    session, wire = opened(strict=False)
    wire.probe()
    wire.take(frame(arm(config=False), errors=[{"path": "x", "reason": "Unknown."}]))

    session.check()

    assert [str(fault) for fault in session.faults] == ["x: Unknown."]


def test_unplugged_device_is_gone_and_stays_withheld_after_it_has_come_back() -> None:
    session, wire = opened()
    device = session.devices["049D"]
    device.force = 0, 0, 1
    wire.probe()
    wire.take(frame())

    assert not device.present
    with pytest.raises(DeviceGone, match="unplugged"):
        _ = device.position
    device.force = 0, 0, 1
    device.withheld = False
    with pytest.raises(DeviceGone):
        wire.act()

    device.withheld = True
    wire.probe()
    wire.take(frame(arm(config=False)))
    assert session.devices["049D"] is device
    device.force = 0, 0, 1
    assert message(wire) is None
    device.resume()
    device.force = 0, 0, 1
    assert message(wire) is not None


def test_device_without_config_makes_the_next_turn_ask_for_a_full_frame() -> None:
    session, wire = opened()
    wire.probe()
    wire.take(frame(arm(config=False), arm("02C4", config=False)))

    assert wire.probe() == FULL
    wire.take(frame(arm(), arm("02C4")))
    assert session.devices["02C4"].config["preset"] == "defaults"
    assert wire.probe() == PROBE


def test_returned_session_holds_forces_back_and_sends_configuration_again() -> None:
    session, wire = opened()
    device = session.devices["049D"]
    device.damping = 3
    device.force = 0, 0, 1
    wire.act()
    session.lost()
    assert session.state is ServiceState.LOST
    session.opened(7, "beef")

    assert (session.state, session.withheld, device.withheld) == (ServiceState.RETURNED, True, True)
    device.force = 0, 0, 1
    (entry,) = message(wire)["arm"]
    assert entry == {"device_id": "049D", "commands": {}, "configure": {"damping": {"scalar": 3}}}
    session.resume()
    device.force = 0, 0, 1
    assert "set_cursor_force" in message(wire)["arm"][0]["commands"]


def test_frames_v30_and_inverse_words_show_the_same_devices() -> None:
    old = json.dumps({"session_id": 7, "arm": {"049D": arm()}, "compact": {}, "grip": {}, "pen": {}}).encode()
    inverse = frame(arm(kind="inverse3"), arm("02C4", kind="minverse"), group="inverse3", verse_grip=[])
    both = json.loads(frame(arm()))
    both["inverse3"] = both["arm"]

    for payload in (old, inverse, json.dumps(both).encode()):
        session, wire = opened(payload)
        device = session.devices["049D"]
        assert (device.kind, device.position[2]) == ("arm", 0.1)
        device.force = 0, 0, 1
        assert list(message(wire)) == [device.group]

    session, wire = opened(inverse)
    assert session.devices["02C4"].kind == "compact"
    wire.probe()
    wire.take(frame(arm(config=False), arm("02C4", config=False), group="inverse3"))
    assert session.devices["02C4"].kind == "compact"


def test_other_words_than_those_asked_for_are_an_error_that_names_what_to_do() -> None:
    with pytest.raises(WrongWords, match='words="auto"'):
        opened(frame(arm(), group="inverse3"), words="neutral")


GARBAGE = [
    b"",
    b"{",
    b"[]",
    b"3",
    b"null",
    b"{}",
    b'{"session_id": 7}',
    b'{"session_id": 7, "arm": [3]}',
    b'{"session_id": 7, "arm": [{}]}',
    b'{"session_id": 7, "arm": [{"device_id": "A"}]}',
    b'{"session_id": 7, "arm": [{"device_id": "A", "state": 3, "status": {}}]}',
    b'{"session_id": 7, "arm": [{"device_id": ["A"], "state": {}, "status": {}}]}',
    b'{"session_id": [], "arm": []}',
    b'{"session_id": 7, "arm": {"A": 3}}',
    b"[" * 100_000,
    b"\xff\xfe",
]


@pytest.mark.parametrize("payload", GARBAGE, ids=lambda payload: repr(payload[:30]))
def test_first_frame_that_is_none_is_an_error_of_ours(payload: bytes) -> None:
    with pytest.raises(ProtocolBroken, match="is this hapticd"):
        opened(payload)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.dictionaries(st.sampled_from(["arm", "grip", "errors", "session_id", "x"]), json_values))
def test_any_json_as_a_later_frame_is_taken_or_is_an_error_of_ours(found: dict[str, Any]) -> None:
    session, wire = opened()
    wire.probe()
    try:
        wire.take(json.dumps(found).encode())
        session.check()
        for device in session.devices.values():
            if device.present:
                _ = device.position, device.orientation, device.buttons, device.mode
    except HapticsError:
        pass
