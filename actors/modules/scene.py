"""Module `scene`: switches `configure.scene` on, the force fields that a session describes once and the loop evaluates; shows what is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from actors.modules.module import Part, WordTable
from actors.session.scene import SCENES_ENABLED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.modules.module import Device, ModuleInput, Session

WORD: Final = "scene"


class SessionTouches(Part):
    """What one session touches."""

    def state(self, device: Device) -> Mapping[str, object]:
        """Return ids of the touched fields, force of the whole scene (N), proxy and depth (m) of the deepest; nothing without a scene."""
        found = device.reader.touched(device.writer)
        if found is None:
            return {}
        shown: dict[str, object] = {"touched": found.fields, "force": dict(zip("xyz", found.force, strict=True))}
        if found.proxy is not None:
            shown |= {"proxy": dict(zip("xyz", found.proxy, strict=True)), "depth": found.depth}
        return {"scene": shown}


class Scenes:
    """`configure.scene`, which is configuration, so that the session's actor keeps it and no part of the module takes it; and `state.scene`."""

    name = "scene"
    setting = SCENES_ENABLED
    words = WordTable(configure=(WORD,), state=(WORD,))

    def read(self, sent: ModuleInput) -> object:
        """Return the value as it was sent: `transport.wire.scene` reads it."""
        return sent.value

    def open(self, session: Session) -> Part:
        """Return the part of one session."""
        del session
        return SessionTouches()
