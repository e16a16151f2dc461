"""Generate invalid messages from a seed: valid ones with one fault, text that is almost JSON, and noise."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from tests.support.clients.raw_websocket import BINARY, TEXT

LONGEST: Final = 60_000


class ModuleInput(NamedTuple):
    """One message: its bytes, and the opcode that they go with."""

    payload: bytes
    opcode: int


class Raw(str):
    """Text that is written into the JSON unchanged."""

    __slots__ = ()


HOSTILE: Final[Sequence[Any]] = (
    None, True, False, "", "x", [], {}, [[]], 0, -0.0, 1e-320, 1e6, 1.0000001e6, -1e308, 2**63, -(2**64), 10**40,
    Raw("NaN"), Raw("-Infinity"), Raw("1e999"), Raw("-1e-999"), Raw("01"), Raw("+1"), Raw("0x1"), Raw("1."), Raw("'a'"),
    Raw("1" + "0" * 400), Raw("undefined"), Raw('"\\ud800"'), Raw('"\\u0000"'), "\u202e\u0000é😀", "A001", "default", "9" * 300,
    {"x": 1, "y": 2, "z": 3}, {"x": 1, "y": 2}, {"w": 1, "x": 0, "y": 0, "z": 0}, [1, 2, 3], [1, 2, 3, 4],
)  # fmt: skip
KEYS: Final = (
    "arm", "compact", "grip", "pen", "inverse3", "wireless_verse_grip", "session", "configure", "commands", "device_id", "preset",
    "mount", "basis", "damping", "force_gate", "filters", "navigation", "profile", "name", "force_render_full_state", "vector",
    "position", "transform", "pivot", "values", "scalar", "gain", "x", "__proto__", "", "é", "a" * 200,
)  # fmt: skip


def templates(device_ids: Sequence[str]) -> list[Callable[[random.Random], Any]]:
    """Return valid messages about devices of these ids, mostly the first, an arm."""

    def vec(rng: random.Random, keys: str = "xyz") -> dict[str, float]:
        return {key: rng.choice((0, 0.5, -1, rng.uniform(-2, 2))) for key in keys}

    def device(rng: random.Random, **parts: Any) -> Any:
        entry = {"device_id": rng.choice(device_ids) if rng.random() < 0.2 else device_ids[0], **parts}
        group = rng.choice(("grip", "verse_grip", "pen") if rng.random() < 0.1 else ("arm", "inverse3", "minverse"))
        if rng.random() < 0.2:
            return {group: {entry.pop("device_id"): entry}}
        return {group: [entry] * rng.choice((1, 1, 1, 2))}

    def joints(rng: random.Random) -> dict[str, float]:
        return {f"a{index}": rng.uniform(-5, 5) for index in range(3)}

    def space(rng: random.Random) -> dict[str, Any]:
        whole = {
            "position": vec(rng),
            "rotation": {"w": 0.6, "x": 0, "y": 0.8, "z": 0},
            "scale": rng.choice((1, 2, vec(rng))),
        }
        return {key: whole[key] for key in whole if rng.random() < 0.7}

    commands: list[Callable[[random.Random], Any]] = [
        lambda rng: {"set_cursor_force": {"vector": vec(rng)}},
        lambda rng: {"set_cursor_position": {"position": vec(rng)}},
        lambda rng: {"set_angular_torques": {"torques": joints(rng)}},
        lambda rng: {"set_angular_position": {"angles": joints(rng)}},
        lambda rng: {"set_transform": {"transform": space(rng)}},
        lambda rng: {"set_transform": {"transform": space(rng), "pivot": vec(rng)}},
        lambda rng: {"set_cursor_force": {"values": [1, 2, 3]}, "probe_position": {}, "set_angular_torque": {"values": vec(rng)}},
        lambda _rng: {"hfx": {}, "keep_alive": None, "probe_cursor_position": 1},
    ]  # fmt: skip
    areas: list[Callable[[random.Random], Any]] = [
        lambda rng: {"preset": rng.choice(("defaults", "arm_front_centered", "custom", "compact_zup"))},
        lambda rng: {"basis": {"permutation": rng.choice(("XYZ", "-Z-Y-X", "XX-", "XZ-Y"))}},
        lambda rng: {"mount": {"transform": space(rng)}},
        lambda rng: {"mount": space(rng), "preset": "defaults"},
        lambda rng: {"damping": {"scalar": rng.uniform(-1, 21), "vector": vec(rng)}},
        lambda rng: {"filters": {"force_gate": {"gain": rng.uniform(-0.1, 1.1)}}, "clutch": {"ratio": 0}},
        lambda rng: {"navigation": {"mode": rng.choice(("off", "bubble", ""))}},
    ]
    return [
        lambda rng: device(rng, commands=rng.choice(commands)(rng)),
        lambda rng: device(rng, commands=rng.choice(commands)(rng)),
        lambda rng: device(rng, commands=rng.choice(commands)(rng)),
        lambda rng: device(rng, configure=rng.choice(areas)(rng)),
        lambda rng: {"session": {"configure": {"profile": {"name": rng.choice(KEYS)}, "required_sdk_version": "3.5"}}},
        lambda rng: {"session": {"force_render_full_state": rng.choice(({}, {"device_types": ["arm", "nope"]}))}},
        lambda rng: {"session": {"set_basis": {"permutation": "X-ZY"}, "set_coordinate_origin": rng.choice(KEYS)}},
    ]


def messages(seed: int, count: int, device_ids: Sequence[str]) -> list[ModuleInput]:
    """Return `count` messages; the same seed gives the same ones."""
    rng = random.Random(seed)
    valid = templates(device_ids)
    return [_one(rng, valid) for _ in range(count)]


def _one(rng: random.Random, valid: Sequence[Callable[[random.Random], Any]]) -> ModuleInput:
    opcode = BINARY if rng.random() < 0.25 else TEXT
    sort = rng.random()
    if sort < 0.70:
        value = rng.choice(valid)(rng)
        for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
            value = _spoiled(rng, value)
        text = written(value)
    elif sort < 0.80:
        text = written(rng.choice(valid)(rng))
        at = rng.randrange(len(text) + 1)
        text = rng.choice((text[:at], text[at:], text[:at] + rng.choice('{}[]",:\\\x00é') + text[at:], text + text))
    elif sort < 0.86:
        text = _twice(written(rng.choice(valid)(rng)))
    elif sort < 0.90:
        text = _nested(rng)
    elif sort < 0.95:
        text = "".join(
            chr(rng.choice((rng.randrange(128), rng.randrange(0xD7FF), 0x1F600))) for _ in range(rng.randrange(60))
        )
    else:
        return ModuleInput(rng.randbytes(rng.randrange(200)), BINARY)
    return ModuleInput(text.encode("utf-8", "replace")[:LONGEST], opcode if len(text) < LONGEST // 4 else BINARY)


def written(value: Any) -> str:
    """Return JSON with Raw values written unchanged."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{written(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)


def _spoiled(rng: random.Random, value: Any) -> Any:
    """The same value with one place of it replaced, taken away, renamed or put deeper."""
    if isinstance(value, dict) and value and rng.random() < 0.95:
        key = rng.choice(list(value))
        return _spoiled_key(rng, value, key)
    if isinstance(value, list) and value and rng.random() < 0.95:
        at = rng.randrange(len(value))
        return [*value[:at], _spoiled(rng, value[at]), *value[at + 1 :]]
    return rng.choice((rng.choice(HOSTILE), [value], {rng.choice(KEYS): value}))


def _spoiled_key(rng: random.Random, value: dict[str, Any], key: str) -> dict[str, Any]:
    rest = {name: part for name, part in value.items() if name != key}
    match rng.randrange(6):
        case 0:
            return rest
        case 1:
            return {**rest, rng.choice(KEYS): value[key]}
        case 2:
            return {**value, rng.choice(KEYS): rng.choice(HOSTILE)}
        case _:
            return {**value, key: _spoiled(rng, value[key])}


def _twice(text: str) -> str:
    """An object that has everything of `text` twice, under the same keys."""
    return f"{text[:-1]},{text[1:]}" if len(text) > 2 else text


def _nested(rng: random.Random) -> str:
    depth = rng.choice((10, 200, 1_100, 9_000))
    before, after = rng.choice((("[", "]"), ('{"arm":', "}"), ('{"session":{"configure":', "}}"), ("[", "")))
    return before * depth + "1" + after * depth
