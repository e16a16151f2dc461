"""Frames of one arm, compact and grip of each kind stay within 4096 bytes, the buffer of older clients; docs/wire.md has a table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.device.messages import SimulatedSpec
from actors.values.identity import Connection, Kind
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.loop.readings import READINGS
from tests.support.service.in_process_service import InProcessService

# As long as ids get.
ARM, COMPACT, WIRED, WIRELESS = "A0000001", "C0000001", "B0000001", "B0000002"
DEVICES = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, ARM),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, COMPACT),
    SimulatedSpec(Kind.GRIP, Connection.WIRED, WIRED),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, WIRELESS),
)
FOUR_KIB, EIGHT_KIB = 4096, 8192
# As long as the ports of a machine with many boards; a simulated one has `sim0`.
REAL_PORT = "ttyACM10"
# A compact pushes with less than 10 N.
FORCE_OF_A_COMPACT = "-9.1234"
LONGEST_NUMBER = "-0.000107305365"
# Damping has two digits before the point, everything else one.
LONGEST_SETTING = "12.34567"
LONGEST_ID = 10**9
# Whole numbers by meaning: they are as long as they are.
WHOLE = {"major_version", "minor_version", "hardware_version", "device_type", "model", "error"}
VECTOR = {"x": 1, "y": 2, "z": 3}
TURNED = {"w": 0.5, "x": 0.5, "y": 0.5, "z": -0.5}
MOVED = {"position": VECTOR, "rotation": TURNED, "scale": {"x": 2, "y": 3, "z": 4}}
FULL: dict[str, Any] = {"session": {"force_render_full_state": {}}}
WAYS = [(version, vocabulary) for version in ("3.0", "3.1") for vocabulary in ("neutral", "inverse")]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    settings = {"simulation/settle_time": 0.01}
    folder = tmp_path_factory.mktemp("state")
    with InProcessService(folder, simulated=DEVICES, stepping=True, settings=settings) as running:
        yield running


@pytest.fixture(params=WAYS, ids="-".join)
def client(service: InProcessService, request: pytest.FixtureRequest) -> Iterator[RawWebSocket]:
    version, vocabulary = request.param
    with RawWebSocket(service.ws, {"version": version, "vocabulary": vocabulary}) as peer:
        peer.frame()
        yield peer


def ask(client: RawWebSocket, content: object) -> Any:
    """The frame that answers, which names no error."""
    frame = client.ask(content)
    assert "errors" not in frame
    return frame


def widest(value: Any, key: str = "") -> Any:
    """The same frame with the longest text in each place; a number is a mark that `size` replaces."""
    if isinstance(value, dict):
        if key == "transform" and value:
            return {"position": widest(VECTOR), "rotation": widest(TURNED), "scale": widest(VECTOR)}
        if key == "transform_velocity" and value:
            return {"position": dict.fromkeys("xyz", "#"), "rotation": dict.fromkeys("xyz", "#")}
        return {name: widest(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [widest(part) for part in value]
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return LONGEST_ID if key == "session_id" else value if key in WHOLE else "#"
    if key == "paired_with":
        return ARM
    return {"control_mode": "position", "mode": "position", "control_domain": "cartesian"}.get(key, value)


def moving(frame: Any) -> Any:
    """The same frame while every workspace moves."""
    text = json.dumps(frame, ensure_ascii=False).replace('"transform_velocity": {}', '"transform_velocity": {"any": 1}')
    return json.loads(text)


def written(marked: Any) -> bytes:
    """The frame as the service writes it, with the longest number for each mark."""
    text = json.dumps(marked, separators=(",", ":"), ensure_ascii=False)
    return text.replace('"#"', LONGEST_NUMBER).encode()


def size(frame: Any) -> int:
    """Bytes of the frame at its longest."""
    return len(written(widest(frame)))


def everywhere(**parts: Any) -> dict[str, Any]:
    """A message that does the same to arm and compact."""
    return {"arm": [{"device_id": ARM, **parts}, {"device_id": COMPACT, **parts}]}


WIDEST_BASIS = "-Z-Y-X"
GRIPS_TURNED = [{"device_id": device_id, "configure": {"basis": WIDEST_BASIS}} for device_id in (WIRED, WIRELESS)]


def test_a_frame_without_config_stays_within_4096_bytes_whatever_the_numbers(client: RawWebSocket) -> None:
    frame = ask(client, everywhere(commands={"set_transform": {"transform": MOVED}}))

    assert json.dumps(frame).count('"scale"') == json.dumps(moving(frame)).count('"any"') == 2
    assert size(moving(frame)) <= FOUR_KIB


def with_longest_readings(frame: Any) -> bytes:
    """The same full frame with every reading at its longest in device space, and every other number at its longest too.

    One of the two domains has no target: the joints', which are shorter. A part of a quaternion is positive, and so is
    whatever is configured while the mount is identity.
    """
    shown = widest(frame)
    for name, group in shown.items():
        for key in [] if name == "session_id" else group if isinstance(group, dict) else range(len(group)):
            state, config = group[key]["state"], json.dumps(group[key]["config"])
            group[key]["config"] = json.loads(config.replace('"#"', f'"={LONGEST_SETTING}"'))
            for field, (_, text) in READINGS.items():
                if field in state:
                    state[field] = marked(state[field], f"={text}")
            if group[key].get("device_id", key) == COMPACT:
                state["current_cursor_force"] = marked(VECTOR, f"={FORCE_OF_A_COMPACT}")
            for field in ("body_orientation", "orientation"):
                if field in state:
                    state[field]["w"] = state[field]["w"].replace("-", "")
            if "current_angular_position" in state:
                state["current_angular_position"] = {"a0": 0, "a1": 0, "a2": 0}
    return re.sub(rb'"=([^"]+)"', rb"\1", written(shown))


def on_real_ports(frame: Any) -> Any:
    """The same frame with every device on a serial port of a machine with many of them."""
    text = re.sub(r'"port": "sim[0-9]+"', f'"port": "{REAL_PORT}"', json.dumps(frame, ensure_ascii=False))
    return json.loads(text.replace('"connection": "simulated"', '"connection": "serial"'))


def marked(value: Any, mark: str) -> Any:
    """`mark` in place of the number, or of each number of an object."""
    return dict.fromkeys(value, mark) if isinstance(value, dict) else mark


def test_a_full_frame_of_defaults_stays_within_4096_bytes(client: RawWebSocket) -> None:
    frame = ask(client, FULL)

    text = json.dumps(frame)
    assert text.count('"mount": {}') == text.count('"transform_velocity": {}') == 2
    assert text.count('"preset": "defaults"') == 2
    assert len(with_longest_readings(frame)) <= FOUR_KIB
    assert len(with_longest_readings(on_real_ports(frame))) <= FOUR_KIB


def test_a_full_frame_stays_within_4096_bytes_whatever_is_commanded_and_configured(
    service: InProcessService, client: RawWebSocket
) -> None:
    """Identity transforms, the preset `defaults` and no navigation are all that it takes."""
    odd = 0.000107305365
    damping = {"scalar": odd, "vector": dict.fromkeys("xyz", odd)}
    configured = everywhere(configure={"damping": damping, "force_gate": odd, "basis": WIDEST_BASIS})
    ask(client, {**configured, "grip": GRIPS_TURNED})
    held = {"position": {"x": 0.0012345679, "y": -0.1234567, "z": 0.0123456789}}
    ask(client, everywhere(commands={"set_cursor_position": held}))
    service.step()
    frame = ask(client, FULL)

    assert json.dumps(frame).count(WIDEST_BASIS) == 4
    assert json.dumps(frame).count('"vector"') == 2
    assert json.dumps(frame).count('"control_mode": "position"') == 2
    assert len(with_longest_readings(frame)) <= FOUR_KIB
    real = on_real_ports(frame)
    assert json.dumps(real).count(REAL_PORT) == 4
    assert len(with_longest_readings(real)) <= FOUR_KIB


@pytest.mark.promise(
    224,
    "Full frames with mounts, workspaces or navigation stay within 8,192 bytes, frames without `config` within 4,096",
)
def test_no_frame_passes_8192_bytes_even_with_eight_long_errors(client: RawWebSocket) -> None:
    everything = {"damping": {"scalar": 1, "vector": VECTOR}, "mount": MOVED, "basis": "-Z-Y-X", "force_gate": 0.125}
    ask(client, everywhere(configure=everything, commands={"set_transform": {"transform": MOVED}}))
    faulty = {f"{'é' * 60}{number}": 1 for number in range(20)}
    frame = client.ask({**FULL, **faulty})

    assert len(frame["errors"]) == 8
    assert size(moving(frame)) <= EIGHT_KIB


@pytest.mark.promise(
    224,
    "Full frames with mounts, workspaces or navigation stay within 8,192 bytes, frames without `config` within 4,096",
)
def test_with_navigation_a_frame_stays_within_4096_bytes_and_a_full_one_within_8192(client: RawWebSocket) -> None:
    shape = {"primitive": "capped_cone", "parameters": {"a": VECTOR, "b": VECTOR | {"x": 0.5}, "r1": 0.125, "r2": 0.25}}
    bubble = {"shape": shape, "center": {"mode": "drift", "position": VECTOR}}
    bubbles = {"navigation": {"mode": "bubble", "bubble": bubble}}
    ask(client, everywhere(configure=bubbles, commands={"set_transform": {"transform": MOVED}}))
    try:
        assert size(moving(ask(client, FULL))) <= EIGHT_KIB
        assert size(moving(ask(client, {}))) <= FOUR_KIB
    finally:
        ask(client, everywhere(configure={"navigation": "off"}))


def test_with_every_field_explicit_no_frame_passes_8192_bytes(service: InProcessService, client: RawWebSocket) -> None:
    http = HttpClient(service.http)
    key = "/settings/serialization/explicit_fields"
    assert http.post(key, True).status == 200
    try:
        ask(client, everywhere(configure={"mount": MOVED}, commands={"set_transform": {"transform": MOVED}}))
        assert size(moving(ask(client, FULL))) <= EIGHT_KIB
    finally:
        http.delete(key)


# ---------------------------------------------------------------- the table of docs/wire.md

PAGE = Path(__file__).parents[2] / "docs/wire.md"
WORDS = {"both": "auto", "neutral": "neutral", "inverse": "inverse"}
NUMBERS = (1, 2, 4, 16)


def devices(number: int) -> tuple[SimulatedSpec, ...]:
    """Arms and wired grips in turn, with ids as long as they get."""
    sorts = ((Kind.ARM, Connection.SIMULATED, "A"), (Kind.GRIP, Connection.WIRED, "B"))
    return tuple(
        SimulatedSpec(kind, connection, f"{first}{at:07}")
        for at in range(number)
        for kind, connection, first in (sorts[at % 2],)
    )


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[int]]:
    """Bytes at most of frames by number of devices: full ones in each of WORDS, then those without `config`."""
    found = {}
    for number in NUMBERS:
        settings = {"simulation/settle_time": 0.01}
        folder = tmp_path_factory.mktemp("state")
        with InProcessService(folder, simulated=devices(number), stepping=True, settings=settings) as service:
            full, short = [], []
            for name in WORDS.values():
                with RawWebSocket(service.ws, {"vocabulary": name}) as peer:
                    full.append(len(with_longest_readings(on_real_ports(peer.frame()))))
                    short.append(len(written(widest(peer.ask({})))))
            found[number] = full + short
    return found


def test_both_vocabularies_of_an_arm_and_a_grip_stay_within_4096_bytes(sizes: dict[int, list[int]]) -> None:
    assert max(sizes[2]) <= FOUR_KIB


def test_both_vocabularies_are_at_most_twice_as_long_as_one(sizes: dict[int, list[int]]) -> None:
    for full, neutral, inverse, *short in sizes.values():
        assert full <= 2 * max(neutral, inverse)
        assert short[0] <= 2 * max(short[1:])


def test_page_has_the_sizes(sizes: dict[int, list[int]]) -> None:
    heads = [f"{kind}, {name}" for kind in ("full", "without `config`") for name in WORDS]
    rows = [
        ["devices", *heads],
        ["---:"] * 7,
        *([str(number), *(f"{n:,}" for n in row)] for number, row in sizes.items()),
    ]

    table = "\n".join(f"| {' | '.join(row)} |".replace("| ---: ", "|---:").replace("---: |", "---:|") for row in rows)

    assert f"\n\n{table}\n\n" in PAGE.read_text(encoding="utf-8"), f"the page lacks\n{table}"
