"""Scenes that the loop did not take, as a field has no place in the session's space: the configuration goes back to the loop's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actors.kit.errors import HapticError
from actors.session.api import ConfigureSession, SetScene

if TYPE_CHECKING:
    from actors.session.api import Applied, SessionConfig
    from transport.session.device import SessionDevice


@dataclass(frozen=True, slots=True)
class UnplacedScene:
    """A device whose configured scene is not the loop's."""

    device_id: str
    reason: str  # names the field
    back: SetScene  # makes the configured scene that of the loop


def unplaced_scenes(devices: Iterable[SessionDevice]) -> tuple[UnplacedScene, ...]:
    """Return the devices whose configured scene was refused by the loop's side."""
    return tuple(
        UnplacedScene(one.device_id, one.scene_fault, SetScene(one.device_id, tuple(one.scene.items()), replace=True))
        for one in devices
        if one.scene_fault
    )


async def take_back(
    unplaced: tuple[UnplacedScene, ...],
    ask: Callable[[ConfigureSession], Awaitable[Applied]],
    configured: Callable[[SessionConfig], object],
) -> None:
    """Have the session's actor keep the scenes of the loop, and hand its configuration to `configured`; ignore a missing answer."""
    with suppress(HapticError):
        applied = await ask(ConfigureSession(tuple(one.back for one in unplaced)))
        configured(applied.config)
