"""Generated messages of a session about set-points: most are plain, the rest are wrong by a little, or right in a rare way."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

SPACES: Final = ("", "", "", "", "", " ", "\n", "\t", "  ", "\r\n", "\x0b", "\ufeff")
NUMBERS: Final = (
    *(
        "0",
        "1",
        "-1",
        "0.5",
        "-0.25",
        "1e-3",
        "12.75E+1",
        "0.1",
        "0.30000000000000004",
        "-1.1102230246251565e-16",
        "9007199254740993",
    ),
    *(
        "1e6",
        "1000000.0000000001",
        "-0",
        "-0.0",
        "0e5",
        "1e-400",
        "4.9e-324",
        "1e400",
        "123456789012345678901234567890",
        "1e22",
        "1e23",
    ),
    *(
        "2.2250738585072014e-308",
        "0.1000000000000000055511151231257827021181583404541015625",
        "8.5",
        "3.14159",
        "1.7976931348623157e308",
    ),
    *("NaN", "Infinity", "01", "+1", "1.", ".5", "1e", "0x10", "true", "null", '"1"', "[1]", "-", "1_0", "--1"),
)
PLAIN_NUMBERS: Final = 10
GROUPS: Final = ("arm", "arm", "arm", "compact", "grip", "pen", "inverse3", "verse_grip", "session", "Arm", "")
IDS: Final = ("049D", "049D", "049D", "04EA", "05E7", "1605", "1700", "ABCD", "", "049d", "04\\u0039D", "äöü")
COMMANDS: Final = {
    "set_cursor_force": ("vector", "xyz"),
    "set_cursor_position": ("position", "xyz"),
    "set_angular_torques": ("torques", ("a0", "a1", "a2")),
    "set_angular_position": ("angles", ("a0", "a1", "a2")),
}
PROBES: Final = ("probe_position", "probe_orientation", "keep_alive")
RARE_COMMANDS: Final = (
    "set_angular_torque",
    "probe_cursor_position",
    "set_transform",
    "configure",
    "",
    "set_contact",
    "unknown",
)


class Messages:
    """An endless row of messages; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        # Share of the choices that leave the plain form; drawn anew for each message.
        self._odd = 0.0

    def __iter__(self) -> Iterator[bytes]:
        while True:
            yield self.message()

    def message(self) -> bytes:
        """Return one message."""
        self._odd = self._random.choice((0.0, 0.0, 0.02, 0.2))
        text = self._object(
            [(group, self._group()) for group in self._several(GROUPS, self._random.choice((0, 1, 1, 1, 2)))]
        )
        data = text.encode()
        if self._is_odd() and data:
            at = self._random.randrange(len(data))
            data = (
                data[:at]
                + self._random.choice((b"", b"\x00", b"\\", b'"', b"}", b",", b"\xff", data[at : at + 1] * 2))
                + data[at + 1 :]
            )
        return data

    def _is_odd(self) -> bool:
        return self._random.random() < self._odd

    def _pick(self, usual: tuple[str, ...], all_of_them: tuple[str, ...]) -> str:
        return self._random.choice(all_of_them if self._is_odd() else usual)

    def _several(self, names: tuple[str, ...], count: int) -> list[str]:
        chosen = [self._pick(names[:5], names) for _ in range(count)]
        return chosen if self._is_odd() else list(dict.fromkeys(chosen))

    def _space(self) -> str:
        return self._pick(SPACES[:10], SPACES) if self._random.random() < 0.2 else ""

    def _object(self, members: list[tuple[str, str]]) -> str:
        if self._random.random() < 0.3:
            self._random.shuffle(members)
        inside = ",".join(
            f'{self._space()}"{name}"{self._space()}:{self._space()}{value}{self._space()}' for name, value in members
        )
        return f"{self._space()}{{{inside}{',' if self._is_odd() else ''}}}{self._space()}"

    def _group(self) -> str:
        count = self._random.choice((0, 1, 1, 1, 2, 3))
        if self._random.random() < 0.6:
            entries = (self._device(self._pick(IDS[:5], IDS)) for _ in range(count))
            return f"[{','.join(entries)}]"
        names = [self._pick(IDS[:5], IDS) for _ in range(count)]
        return self._object(
            [(name, self._device(None)) for name in (names if self._is_odd() else dict.fromkeys(names))]
        )

    def _device(self, device_id: str | None) -> str:
        members: list[tuple[str, str]] = []
        if device_id is not None or self._is_odd():
            members.append(("device_id", f'"{device_id}"'))
        if self._random.random() < 0.9:
            members.append((self._random.choice(("commands", "commands", "command_data")), self._commands()))
        if self._is_odd():
            members.append(
                (
                    self._random.choice(("commands", "configure", "device_id", "other")),
                    self._random.choice(("{}", "1", "[]", '"x"')),
                )
            )
        return self._object(members)

    def _commands(self) -> str:
        members: list[tuple[str, str]] = []
        for _ in range(self._random.choice((0, 1, 1, 1, 2, 4))):
            name = self._pick((*COMMANDS, *PROBES), (*COMMANDS, *PROBES, *RARE_COMMANDS))
            members.append((name, self._body(name)))
        return self._object(members if self._is_odd() else list(dict(members).items()))

    def _body(self, name: str) -> str:
        if name not in COMMANDS:
            return "{}" if not self._is_odd() else self._random.choice(('{"x": 1}', "[]", "null", "1"))
        field, keys = COMMANDS[name]
        shown = list(keys)
        if self._is_odd():
            shown = self._random.choice((shown[:2], [*shown, shown[0]], [*shown, "w"], ["x", "y", "z"]))
        vector = self._object([(key, self._number()) for key in shown])
        return self._object([(self._pick((field,), (field, "values", "vector")), vector)])

    def _number(self) -> str:
        if self._is_odd():
            return self._random.choice(NUMBERS)
        if self._random.random() < 0.5:
            return self._random.choice(NUMBERS[:PLAIN_NUMBERS])
        return repr(self._random.uniform(-1, 1) * 10 ** self._random.randint(-12, 5))
