"""Features that are off unless a setting says otherwise: their words on the wire, refused by name as long as nothing takes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actors.kit.errors import InvalidInput

SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "clutch": "features/clutch/enabled",
        "force_scale": "features/session_force_scale/enabled",
        "pivot": "features/workspace_zoom/enabled",
        "hfx": "features/hfx/enabled",
    }
)


def refuse(word: str, path: str) -> None:
    """InvalidInput that names the setting, if `word` is a preview's."""
    setting = SETTINGS.get(word)
    if setting is not None:
        raise InvalidInput(f"{word} is a preview: set {setting} first", path)
