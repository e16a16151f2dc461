"""Module `scene`: switches `configure.scene` on, the force fields that a session describes once and the loop evaluates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from actors.modules.module import Part, WordTable
from actors.session.scene import SCENES_ENABLED

if TYPE_CHECKING:
    from actors.modules.module import ModuleInput, Session

WORD: Final = "scene"


class Scenes:
    """`configure.scene`; it is configuration, so that the session's actor keeps it and no part of the module takes it."""

    name = "scene"
    setting = SCENES_ENABLED
    words = WordTable(configure=(WORD,))

    def read(self, sent: ModuleInput) -> object:
        """Return the value as it was sent: `transport.wire.scene` reads it."""
        return sent.value

    def open(self, session: Session) -> Part:
        """Return a part without state."""
        del session
        return Part()
