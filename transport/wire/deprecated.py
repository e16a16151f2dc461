"""Old forms of commands, translated into today's; nothing further inside knows that they existed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RENAMED: Final[Mapping[str, str]] = {
    "set_angular_torque": "set_angular_torques",
    "probe_cursor_position": "probe_position",
}
