"""Module `hfx`: parse, check and show the command of haptic effects; it produces no force yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from actors.kit.errors import InvalidInput
from actors.modules.module import Part, Place, WordTable
from actors.values.kinds.nouns import joined
from actors.values.kinds.registry import specs
from fastpath.text.encoder import encode_json

if TYPE_CHECKING:
    from actors.modules.module import Device, ModuleInput, Session

MOST_BYTES: Final = 1024


class _Effects(Part):
    def __init__(self) -> None:
        self._taken: dict[str, Mapping[str, object]] = {}

    def take(self, place: Place, word: str, value: object, device: Device | None) -> None:
        """Keep it: the last one counts."""
        del place, word
        if device is not None:
            self._taken[device.device_id] = cast("Mapping[str, object]", value)

    def state(self, device: Device) -> Mapping[str, object]:
        """The last command, `{}` before there was one."""
        return {"hfx": self._taken.get(device.device_id, {})} if device.has_motors else {}

    def close(self) -> None:
        """Forget what was taken."""
        self._taken.clear()


class Effects:
    """`commands.hfx`, any object of at most a kilobyte, and `state.hfx`, which shows the last one."""

    name = "hfx"
    setting = "features/hfx/enabled"
    words = WordTable(commands=("hfx",), state=("hfx",))

    def read(self, sent: ModuleInput) -> object:
        """An object."""
        if sent.kind is None or not sent.kind.has_motors:
            whose = joined(f"{spec.article} {spec.name}'s" for spec in specs() if spec.has_motors)
            raise InvalidInput(f"effects are {whose}: send hfx to one of them", sent.path)
        if not isinstance(sent.value, dict):
            raise InvalidInput("an object is needed", sent.path)
        try:
            size = len(encode_json(cast("object", sent.value)))
        except ValueError:
            raise InvalidInput("it is nested too deep: make it flatter", sent.path) from None
        if size > MOST_BYTES:
            raise InvalidInput(f"it is too long: send at most {MOST_BYTES} bytes", sent.path)
        return cast("object", sent.value)

    def open(self, session: Session) -> Part:
        """Nothing is taken yet."""
        del session
        return _Effects()
