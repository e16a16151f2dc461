"""KindSpec of the hand grip, wired or wireless: a handle without motors."""

from __future__ import annotations

from typing import Final

from actors.values.connection import Connection
from actors.values.firmware import Firmware
from actors.values.kinds.base import HANDLE_SESSION_AREAS, FrameShape, InverseWords, KindSpec, PairSide

GRIP: Final = KindSpec(
    name="grip",
    inverse=InverseWords(
        "verse_grip", "verse_grip", "verse_grip", wireless="wireless_verse_grip", patterns=("*verse_grip",)
    ),
    has_motors=False,
    has_cursor=False,
    pairs_as=PairSide.HANDLE,
    session_areas=HANDLE_SESSION_AREAS,
    frame_shape=FrameShape.HANDLE,
    connections=(Connection.WIRED, Connection.WIRELESS),
    connection=Connection.WIRELESS,
    firmware=Firmware(1, 4),
    hardware_version=1,
    settles=False,
)
