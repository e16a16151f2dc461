"""Create the built-in modules, new ones for each System."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.modules.clutch import Clutch
from actors.modules.contact import Contact
from actors.modules.force_ducking import ForceDucking
from actors.modules.hfx import Effects
from actors.modules.scene import Scenes
from actors.modules.workspace_zoom import WorkspaceZoom

if TYPE_CHECKING:
    from actors.modules.module import Module


def built_in() -> tuple[Module, ...]:
    """Return the built-in modules, new objects; each is off until its setting enables it."""
    return (Clutch(), ForceDucking(), WorkspaceZoom(), Effects(), Contact(), Scenes())
