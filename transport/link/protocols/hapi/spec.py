"""Settings of the hAPI driver."""

from __future__ import annotations

from typing import Final

from actors.settings.api import pattern, texts

PORTS: Final = "devices/hapi/ports"
BOARD_AT: Final = pattern(
    r"[^\s=]+=(pantograph|2diy-metal|2diy-plastic)",
    "PORT=MECHANISM such as ttyACM0=2diy-plastic, with a mechanism of pantograph, 2diy-metal, 2diy-plastic",
)

SETTINGS: Final = (
    texts(
        PORTS,
        (),
        "Ports with a hAPI board and what is wired to it; such a board says nothing of itself. Port by base name or path.",
        rule=BOARD_AT,
    ),
)
