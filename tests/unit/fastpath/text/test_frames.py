"""Whole frames of a stepped loop: groups, versions, config, errors, sizes, and refused input of the encoder."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.text.encoder import FrameEncoder, FrameEntry, SharedTexts, nulls
from tests.unit.fastpath.text.frame_rig import ARM, GRIP, SHAPES, FrameRig, Json, shape

READY = 4
LONGEST_NUMBER = "-0.000107305365"

# The default frame of the interface, without `config`.
DOCUMENTED = """
{"session_id": 7,
 "arm": [{"device_id": "049D",
   "state": {"cursor_position": {"x": 0, "y": -0.12, "z": 0.135}, "cursor_velocity": {"x": 0, "y": 0, "z": 0},
     "angular_position": {"a0": 0, "a1": 0, "a2": 0}, "angular_velocity": {"a0": 0, "a1": 0, "a2": 0},
     "body_orientation": {"w": 1, "x": 0, "y": 0, "z": 0},
     "current_cursor_force": {"x": 0, "y": 0, "z": 0}, "current_cursor_position": {"x": 0, "y": 0, "z": 0},
     "current_angular_torques": {"a0": 0, "a1": 0, "a2": 0}, "current_angular_position": {"a0": 0, "a1": 0, "a2": 0},
     "control_domain": "cartesian", "control_mode": "idle", "transform": {}, "transform_velocity": {}},
   "status": {"calibrated": true, "in_use": false, "power_supply": true, "ready": true, "started": true}}],
 "compact": [],
 "grip": [{"device_id": "1605",
   "state": {"orientation": {"w": 1, "x": 0, "y": 0, "z": 0}, "hall": 0, "button": false,
     "buttons": {"a": false, "b": false, "c": false}, "battery_level": 0.816, "battery_voltage": 4, "transform": {}},
   "status": {"ready": true, "error": 0, "connected": true, "awake": true, "attached": true}}],
 "pen": []}
"""


@pytest.fixture
def rig() -> FrameRig:
    return FrameRig()


# ---------------------------------------------------------------- the whole frame


def test_keys_order_and_types_are_those_of_the_documented_frame(rig: FrameRig) -> None:
    rig.runtime.step()
    frame = json.loads(rig.encoder("049D", "16F2").encode())
    frame["grip"][0]["device_id"] = "1605"
    documented = json.loads(DOCUMENTED)
    assert shape(frame) == shape(documented)
    assert frame["session_id"] == 7
    assert frame["arm"][0]["status"] == documented["arm"][0]["status"]
    assert frame["grip"][0]["status"] == documented["grip"][0]["status"]


def test_a_frame_is_compact_text(rig: FrameRig) -> None:
    text = rig.encoder("049D", "1605").encode()
    assert b" " not in text
    assert b"\n" not in text


def test_every_group_is_present_without_devices(rig: FrameRig) -> None:
    assert rig.encoder().encode() == b'{"session_id":7,"arm":[],"compact":[],"grip":[],"pen":[]}'
    assert rig.encoder(version=30).encode() == b'{"session_id":7,"arm":{},"compact":{},"grip":{},"pen":{}}'


def test_a_frame_without_session_id_starts_with_its_groups(rig: FrameRig) -> None:
    assert rig.encoder(session_id=None).encode() == b'{"arm":[],"compact":[],"grip":[],"pen":[]}'
    assert FrameEncoder(None, [], version=31).encode() == b"{}"
    assert FrameEncoder(3, [], version=31).encode() == b'{"session_id":3}'


def test_groups_and_entries_keep_their_order(rig: FrameRig) -> None:
    groups = [("pen", [rig.entry("1700")]), ("g", [rig.entry("16F2"), rig.entry("049D"), rig.entry("1605")])]
    frame = json.loads(FrameEncoder(1, groups, version=31).encode())
    assert list(frame) == ["session_id", "pen", "g"]
    assert [entry["device_id"] for entry in frame["g"]] == ["16F2", "049D", "1605"]
    assert list(json.loads(FrameEncoder(1, groups, version=30).encode())["g"]) == ["16F2", "049D", "1605"]


def test_each_frame_shows_the_newest_state(rig: FrameRig) -> None:
    encoder, reader = rig.encoder("049D", "16A5"), rig.reader("049D")
    seen: set[str] = set()
    for _ in range(5):
        rig.runtime.step(100)
        frame = json.loads(encoder.encode())
        shown = list(frame["arm"][0]["state"]["cursor_position"].values())
        assert np.array_equal(np.array(shown, dtype=np.float32), reader.snapshot()["position"].astype(np.float32))
        seen.add(json.dumps(frame["compact"][0]["state"]["cursor_position"]))
    assert len(seen) == 5


def test_a_frame_of_an_unchanged_state_is_the_same_text(rig: FrameRig) -> None:
    rig.runtime.step(10)
    encoder = rig.encoder("049D", "16A5", "1605", "16F2", "1700")
    assert encoder.encode() == encoder.encode()


def test_ids_and_group_names_are_escaped(rig: FrameRig) -> None:
    odd = 'a"\\\n\ud800é'
    entry = FrameEntry(odd, SHAPES[GRIP], rig.reader("1605"), None)
    assert (
        json.loads(FrameEncoder(1, [(odd, [entry])], version=31).encode())['a"\\\n\ufffdé'][0]["device_id"]
        == 'a"\\\n\ufffdé'
    )
    assert list(json.loads(FrameEncoder(1, [("g", [entry])], version=30).encode())["g"]) == ['a"\\\n\ufffdé']


# ---------------------------------------------------------------- frame v3.0


def test_a_v30_frame_has_groups_keyed_by_id_and_the_mode_twice(rig: FrameRig) -> None:
    rig.runtime.step(20)
    new = json.loads(rig.encoder("049D", "16A5", "1605", "16F2").encode())
    old = json.loads(rig.encoder("049D", "16A5", "1605", "16F2", version=30).encode())
    for group in ("arm", "compact"):
        for entry in old[group].values():
            assert list(entry["state"])[9:12] == ["control_domain", "control_mode", "mode"]
            assert entry["state"].pop("mode") == entry["state"]["control_mode"]
    for group in ("arm", "compact", "grip", "pen"):
        assert [{"device_id": device_id} | entry for device_id, entry in old[group].items()] == new[group]


# ---------------------------------------------------------------- config, errors, tick


@pytest.mark.parametrize("version", [30, 31])
def test_a_device_in_configs_shows_its_config_as_it_was_given(rig: FrameRig, version: int) -> None:
    encoder = rig.encoder("049D", "1605", "16F2", version=version)
    plain = encoder.encode()
    text = encoder.encode(
        {("arm", "049D"): b'{"type":"arm","n":1.50}', ("grip", "16F2"): b"{}", ("arm", "16F2"): b"[]"}
    )
    frame = json.loads(text)
    entries = (
        {e["device_id"]: e for g in ("arm", "grip") for e in frame[g]}
        if version == 31
        else frame["arm"] | frame["grip"]
    )
    keys = ["device_id", "config", "state", "status"] if version == 31 else ["config", "state", "status"]
    assert b'"config":{"type":"arm","n":1.50},"state"' in text
    assert list(entries["049D"]) == list(entries["16F2"]) == keys
    assert "config" not in entries["1605"]
    assert encoder.encode({}) == encoder.encode(None) == encoder.encode({("arm", "FFFF"): b"{}"}) == plain


def test_configs_of_any_length_fit(rig: FrameRig) -> None:
    encoder = rig.encoder("049D", "16A5", "1605", "16F2", "1700")
    plain = encoder.encode()
    for size in (0, 3000, 200_000, 10):
        config = b'"' + b"c" * size + b'"'
        frame = json.loads(encoder.encode(dict.fromkeys(rig.places, config)))
        assert [entry["config"] for group in list(frame)[1:] for entry in frame[group]] == ["c" * size] * 5
        assert encoder.encode() == plain


def test_configs_are_bytes(rig: FrameRig) -> None:
    encoder = rig.encoder("049D")
    with pytest.raises(TypeError, match="bytes"):
        encoder.encode({("arm", "049D"): "{}"})  # type: ignore[dict-item]
    assert "config" not in json.loads(encoder.encode())["arm"][0]


@pytest.mark.parametrize("none", [None, [], ()])
def test_without_errors_there_is_no_key(rig: FrameRig, none: Sequence[tuple[str, str]] | None) -> None:
    assert "errors" not in json.loads(rig.encoder("049D").encode(errors=none))


def test_errors_name_path_and_reason_and_come_last(rig: FrameRig) -> None:
    errors = [("", "not JSON"), ('arm[0].commands["x"]', "must be a number"), ("\x00\ud800é", "\\")]
    frame = json.loads(rig.encoder("049D").encode(errors=errors))
    assert list(frame)[-1] == "errors"
    expected = [(path.replace("\ud800", "\ufffd"), reason) for path, reason in errors]
    assert frame["errors"] == [{"path": path, "reason": reason} for path, reason in expected]


def test_at_most_eight_errors_of_a_hundred_characters(rig: FrameRig) -> None:
    errors = [(f"{n}" + "p" * 200, f"{n}" + "r" * 200) for n in range(20)]
    frame = json.loads(rig.encoder().encode(errors=errors))
    assert frame["errors"] == [{"path": path[:100], "reason": cut(reason)} for path, reason in errors[:8]]
    assert json.loads(rig.encoder().encode(errors=[("é" * 101, "😀" * 101)]))["errors"] == [
        {"path": "é" * 100, "reason": "😀" * 99 + "…"}
    ]


def cut(reason: str) -> str:
    return reason if len(reason) <= 100 else f"{reason[:99].rstrip(' ,;:(')}…"


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("a" * 100, "a" * 100),
        (f"{'a' * 60} {'b' * 40}", f"{'a' * 60}…"),
        (f"{'a' * 60}, {'b' * 40}", f"{'a' * 60}…"),
        (f"{'a' * 98} b c", f"{'a' * 98}…"),
        (f"{'a' * 10} {'b' * 100}", f"{'a' * 10} {'b' * 88}…"),
    ],
)
def test_a_reason_that_is_too_long_ends_behind_a_word(rig: FrameRig, reason: str, shown: str) -> None:
    frame = json.loads(rig.encoder().encode(errors=[("", reason)]))

    assert frame["errors"][0]["reason"] == shown


@given(st.lists(st.tuples(st.text(st.characters(), max_size=150), st.text(st.characters(), max_size=150)), max_size=10))
def test_errors_stay_within_their_bytes_and_are_the_first_ones(errors: list[tuple[str, str]]) -> None:
    text = FrameEncoder(1, [], version=31).encode(errors=errors)
    assert len(text) <= len(b'{"session_id":1}') + 2048
    shown = json.loads(text).get("errors", [])
    whole = [path[:100].encode("utf-16", "surrogatepass").decode("utf-16", "replace") for path, _ in errors]
    assert [error["path"] for error in shown] == whole[: len(shown)]
    assert all(len(error["reason"]) <= 100 for error in shown)
    assert len(shown) >= min(len(errors), 1)


@pytest.mark.parametrize("escaped", range(0, 101, 2))
def test_escaped_errors_are_fewer_but_at_least_one(escaped: int) -> None:
    encoder = FrameEncoder(1, [], version=31)
    errors = [("\x00" * escaped, "r" * 100)] * 8
    bare, text = len(encoder.encode()), encoder.encode(errors=errors)
    shown = len(json.loads(text)["errors"])
    one_more = len(text) - bare + len(b',{"path":"","reason":""}') + 6 * escaped + 100
    assert shown >= 1
    assert len(text) - bare <= 2048
    assert shown == 8 or one_more > 2048


@pytest.mark.parametrize(("beyond", "shown"), [(0, 4), (1, 3)])
def test_the_last_error_that_fits_is_shown(beyond: int, shown: int) -> None:
    encoder = FrameEncoder(1, [], version=31)
    first = [("\x00" * 95, "")] * 3
    fill = 2048 + beyond - (len(encoder.encode(errors=[*first, ("", "")])) - len(encoder.encode()))
    text = encoder.encode(errors=[*first, ("\x00" * (fill // 6), "r" * (fill % 6))])
    assert len(json.loads(text)["errors"]) == shown


def test_tick_and_time_of_the_first_device(rig: FrameRig) -> None:
    rig.runtime.step(123)
    before = time.time()
    text = rig.encoder("049D", "1605", timestamps=True).encode()
    after = time.time()
    frame = json.loads(text)
    assert list(frame)[:4] == ["session_id", "tick", "time", "arm"]
    assert frame["tick"] == int(rig.reader("049D").snapshot()["tick"]) == 123
    digits = text.split(b'"time":')[1].split(b",")[0]
    assert len(digits.split(b".")[1]) == 6
    one_second_of_slack = 1
    assert before - one_second_of_slack < frame["time"] < after + one_second_of_slack
    bare = json.loads(rig.encoder(session_id=None, timestamps=True).encode())
    assert list(bare)[:2] == ["tick", "time"]
    assert bare["tick"] == 0


# ---------------------------------------------------------------- numbers that float32 cannot hold


def test_a_number_that_float32_cannot_hold_is_null_and_counted(rig: FrameRig) -> None:
    encoder = rig.encoder("16F2")
    rig.runtime.step()
    encoder.encode()
    assert encoder.nulls == 0
    rig.publish("16F2", battery_start=math.nan)
    rig.runtime.step()
    before = nulls()
    state = json.loads(encoder.encode())["grip"][0]["state"]
    assert (state["battery_level"], state["battery_voltage"]) == (None, None)
    encoder.encode()
    assert encoder.nulls == nulls() - before == 4
    assert rig.encoder("16F2").nulls == 0


def test_a_view_beyond_float32_is_null(rig: FrameRig) -> None:
    writer = rig.writer("049D")
    writer.set_workspace((1e300, 0, 0), (1, 0, 0, 0), (1, 1, 1))
    state = rig.frame("049D", writer)["state"]
    assert state["cursor_position"]["x"] is None
    assert state["transform"]["position"] == {"x": None, "y": 0, "z": 0}


# ---------------------------------------------------------------- sizes


def with_longest_numbers(text: bytes) -> bytes:
    """The frame with every real number of its states replaced by the longest text that a number has."""

    def replaced(value: Json) -> Json:
        if isinstance(value, dict):
            return {key: replaced(item) for key, item in value.items()}
        return "number" if isinstance(value, int | float) and not isinstance(value, bool) else value

    frame = json.loads(text)
    for name in frame.keys() - {"session_id", "tick", "time", "errors"}:
        keys: Iterable[str | int] = list(frame[name]) if isinstance(frame[name], dict) else range(len(frame[name]))
        for key in keys:
            frame[name][key]["state"] = replaced(frame[name][key]["state"])
    return json.dumps(frame, separators=(",", ":")).replace('"number"', LONGEST_NUMBER).encode()


GROUPS: dict[str, Callable[[list[FrameEntry]], list[tuple[str, list[FrameEntry]]]]] = {
    "neutral": lambda e: [("arm", e[:1]), ("compact", e[1:2]), ("grip", e[2:]), ("pen", [])],
    "longest": lambda e: [("a" * 8, e[:2]), ("b" * 10, e[2:3]), ("c" * 19, e[3:]), ("d" * 17, [])],
}


@pytest.mark.parametrize("version", [30, 31])
@pytest.mark.parametrize("words", GROUPS)
def test_a_frame_without_config_stays_within_4096_bytes_whatever_the_numbers(
    rig: FrameRig, words: str, version: int
) -> None:
    entries: list[FrameEntry] = []
    for device_id in ("049D", "16A5", "1605", "16F2"):
        writer = rig.writer(device_id)
        writer.set_workspace((1, 2, 3), (0.5, 0.5, -0.5, 0.5), (2, 3, 4))
        wide = FrameEntry(
            device_id * 2, SHAPES[rig.kinds[device_id]], rig.reader(device_id), writer, device_id == "16F2"
        )
        entries.append(wide)
    rig.runtime.step()
    text = FrameEncoder(2**63 - 1, GROUPS[words](entries), version=version).encode()
    assert len(with_longest_numbers(text)) <= 4096
    everything = FrameEncoder(
        2**63 - 1, GROUPS[words](entries), version=version, explicit_fields=True, status_safety=True, timestamps=True
    )
    # A full frame has the configs of four devices on top, none of more than 400 bytes in the mean.
    crowded = with_longest_numbers(everything.encode(errors=[("p" * 100, "r" * 100)] * 8))
    assert len(crowded) + 4 * 400 <= 8192


@pytest.mark.parametrize("device_id", ["049D", "16A5", "1605", "16F2", "1700"])
def test_longest_entry_fits_its_reserved_room(rig: FrameRig, device_id: str) -> None:
    encoder = rig.encoder(device_id, explicit_fields=True, status_safety=True, version=30)
    assert len(with_longest_numbers(encoder.encode())) < 4096


# ---------------------------------------------------------------- a device in two groups


OPTIONS: list[dict[str, bool]] = [{}, {"timestamps": True}, {"explicit_fields": True, "status_safety": True}]


@pytest.mark.parametrize("version", [30, 31])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("sharing", [False, True])
def test_a_device_in_two_groups_has_the_same_state_in_both(
    rig: FrameRig, version: int, options: dict[str, bool], sharing: bool
) -> None:
    ids = ("049D", "16A5", "1605", "16F2", "1700")
    entries = [rig.entry(device_id, rig.writer(device_id)) for device_id in ids]
    encoder = FrameEncoder(
        7, [("one", entries), ("none", []), ("two", entries[3:]), ("three", entries[:3])], version=version, **options
    )
    shared = SharedTexts() if sharing else None
    for _ in range(3):
        rig.runtime.step()
        frame = json.loads(encoder.encode(shared=shared))
        assert list(frame)[-4:] == ["one", "none", "two", "three"]
        if version == 30:
            assert frame["two"] | frame["three"] == frame["one"]
        else:
            assert frame["three"] + frame["two"] == frame["one"]


def test_a_device_in_two_groups_has_a_config_in_each_and_the_same_further_members(rig: FrameRig) -> None:
    entry = rig.entry("049D", rig.writer("049D"))
    encoder = FrameEncoder(7, [("arm", [entry]), ("inverse3", [entry])], version=31)

    text = encoder.encode(
        {("arm", "049D"): b'"a"', ("inverse3", "049D"): b'"i"'}, states={"049D": b',"module":{"x":1}'}
    )

    (arm,), (inverse,) = json.loads(text)["arm"], json.loads(text)["inverse3"]
    assert (arm.pop("config"), inverse.pop("config")) == ("a", "i")
    assert arm == inverse
    assert arm["state"]["module"] == {"x": 1}


def test_nulls_of_a_device_in_two_groups_are_counted_as_often_as_they_are_written(rig: FrameRig) -> None:
    writer = rig.writer("049D")
    writer.set_workspace((1e39, 0, 0), (1, 0, 0, 0), (1, 1, 1))
    entry = rig.entry("049D", writer)
    encoder = FrameEncoder(7, [("arm", [entry]), ("inverse3", [entry])], version=31)
    rig.runtime.step()

    text = encoder.encode()

    assert text.count(b"null") == encoder.nulls > 0


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("shape", [0, 3, 4, -1])
def test_an_entry_needs_a_shape(rig: FrameRig, shape: int) -> None:
    with pytest.raises(ValueError, match="no shape of a state"):
        FrameEntry("049D", shape, rig.reader("049D"), None)


def test_an_entry_needs_reader_and_writer_of_one_device(rig: FrameRig) -> None:
    with pytest.raises(ValueError, match="a reader and a writer of one device"):
        FrameEntry("049D", SHAPES[ARM], rig.reader("049D"), rig.writer("1605"))
    with pytest.raises(ValueError, match="a reader and a writer of one device"):
        FrameEntry("049D", SHAPES[ARM], FrameRig().reader("049D"), rig.writer("049D"))
    with pytest.raises(TypeError):
        FrameEntry("049D", SHAPES[ARM], None, None)  # type: ignore[arg-type]


def test_entry_keeps_its_construction_arguments(rig: FrameRig) -> None:
    reader, writer = rig.reader("16F2"), rig.writer("16F2")
    entry = FrameEntry("16F2", SHAPES[GRIP], reader, writer, wireless=True)
    assert (entry.device_id, entry.shape, entry.reader, entry.writer, entry.wireless) == (
        "16F2",
        SHAPES[GRIP],
        reader,
        writer,
        True,
    )
    assert not FrameEntry("1605", SHAPES[GRIP], rig.reader("1605"), None).wireless


@pytest.mark.parametrize(("device_id", "kind"), [("049D", ARM), ("1605", GRIP)])
def test_a_device_is_ready_once_its_entry_and_the_loop_say_so(rig: FrameRig, device_id: str, kind: int) -> None:
    def ready(said: bool) -> bool:
        entry = FrameEntry(device_id, SHAPES[kind], rig.reader(device_id), None, ready=said)
        return bool(json.loads(FrameEncoder(1, [("g", [entry])], version=31).encode())["g"][0]["status"]["ready"])

    rig.runtime.step(2)
    assert [ready(True), ready(False)] == [True, False]
    rig.publish(device_id, flags=127 & ~READY)
    rig.runtime.step(2)
    assert [ready(True), ready(False)] == [False, False]


@pytest.mark.parametrize(("session_id", "version"), [(7, 32), (7, 0), (0, 31), (-1, 31)])
def test_an_encoder_needs_a_version_and_a_positive_session(session_id: int, version: int) -> None:
    with pytest.raises(ValueError, match="give"):
        FrameEncoder(session_id, [], version=version)


def test_an_encoder_needs_entries(rig: FrameRig) -> None:
    with pytest.raises(TypeError):
        FrameEncoder(7, [("arm", [rig.reader("049D")])], version=31)  # type: ignore[list-item]
