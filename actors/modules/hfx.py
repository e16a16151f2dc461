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
        self._newest: dict[str, Mapping[str, object]] = {}

    def take(self, place: Place, word: str, value: object, device: Device | None) -> None:
        """Keep the command as the newest of its device."""
        del place, word
        if device is not None:
            self._newest[device.device_id] = cast("Mapping[str, object]", value)

    def state(self, device: Device) -> Mapping[str, object]:
        """Return the newest command, `{}` before the first."""
        return {"hfx": self._newest.get(device.device_id, {})} if device.has_motors else {}

    def close(self) -> None:
        """Drop all commands."""
        self._newest.clear()


class Effects:
    """`commands.hfx`, an object of at most MOST_BYTES, and `state.hfx`, which shows the newest one."""

    name = "hfx"
    setting = "features/hfx/enabled"
    words = WordTable(commands=("hfx",), state=("hfx",))

    def read(self, sent: ModuleInput) -> object:
        """Return the object."""
        if sent.kind is None or not sent.kind.has_motors:
            kinds = joined(f"{spec.article} {spec.name}'s" for spec in specs() if spec.has_motors)
            raise InvalidInput(f"effects are {kinds}: send hfx to one of them", sent.path)
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
        """Return a part without commands."""
        del session
        return _Effects()
