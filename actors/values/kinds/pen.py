"""KindSpec of the pen, a handle without motors."""

from __future__ import annotations

from typing import Final

from actors.values.connection import Connection
from actors.values.firmware import Firmware
from actors.values.kinds.base import HANDLE_SESSION_AREAS, FrameShape, InverseWords, KindSpec, PairSide

PEN: Final = KindSpec(
    name="pen",
    inverse=InverseWords("custom_verse_grip", "custom_verse_grip", "verse_grip", patterns=("*verse_grip",)),
    has_motors=False,
    has_cursor=False,
    pairs_as=PairSide.HANDLE,
    session_areas=HANDLE_SESSION_AREAS,
    frame_shape=FrameShape.HANDLE,
    connections=(Connection.SIMULATED,),
    connection=Connection.SIMULATED,
    firmware=Firmware(1, 4),
    hardware_version=1,
    settles=False,
)
