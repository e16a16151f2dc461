"""Modules of one session at the edge: opened and closed by their settings; their keys and state fields.

A module that fails is closed for the session with one log line; disabling and enabling it opens it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from actors.kit.errors import HapticError, InvalidInput
from actors.modules.module import Place
from actors.modules.registry import NOTHING_ON
from fastpath.text.encoder import encode_json

if TYPE_CHECKING:
    from actors.modules.module import Part
    from actors.session.api import SessionTable
    from actors.settings.api import SettingsView
    from transport.session.device import SessionDevice
    from transport.session.edge_state import EdgeState
    from transport.wire.parsed_message import ModuleChange, ParsedMessage

CONFIGURING: Final = frozenset({Place.CONFIGURE, Place.SESSION})
MOST_STATE_BYTES: Final = 4096

Devices: TypeAlias = "Callable[[], Mapping[str, SessionDevice]]"

logger = logging.getLogger(__name__)


class ModuleSession:
    """A session's interface for modules."""

    def __init__(self, edge: EdgeState, session_id: int, devices: Devices) -> None:
        self.session_id = session_id
        self._devices = devices
        self._edge = edge

    @property
    def devices(self) -> Mapping[str, SessionDevice]:
        """All devices by id."""
        return self._devices()

    @property
    def sessions(self) -> SessionTable:
        """All open sessions."""
        return self._edge.sessions

    def scale_output(self, session_id: int, gain: float) -> None:
        """Scale the output of a session by `gain`, 0 to 1; no effect if it is not open."""
        self._edge.scale_output(session_id, gain)


class SessionModules:
    """Main thread only; `active` are the enabled modules."""

    def __init__(self, edge: EdgeState, session_id: int, devices: Devices) -> None:
        self._edge = edge
        self._session = ModuleSession(edge, session_id, devices)
        self._parts: dict[str, Part] = {}
        self.shown: tuple[str, ...] = ()
        self.active = NOTHING_ON

    def update(self, settings: SettingsView) -> None:
        """Close modules that the settings disabled and open those that they enabled."""
        before, self.active = self.active, self._edge.modules.active(settings)
        disabled = [name for name in before.modules if name not in self.active.modules]
        if disabled:
            self._close(disabled)
        for name, module in self.active.modules.items():
            if name not in before.modules:
                try:
                    self._parts[name] = module.open(self._session)
                except Exception as error:  # noqa: BLE001 - logged there
                    self._failed(name, error)
        self._list_shown()

    def take(self, parsed: ParsedMessage, *, configuring: bool) -> set[str]:
        """Apply the module keys of a message, its configuration or its commands. Return the ids of their devices."""
        device_ids: set[str] = set()
        for change in parsed.module_changes or ():
            if (change.place in CONFIGURING) is configuring:
                self._apply_change(parsed, change)
                if change.device_id is not None:
                    device_ids.add(change.device_id)
        return device_ids

    def states(self) -> dict[str, bytes] | None:
        """Return device id -> JSON members for its state; None if no module has state fields."""
        if not self.shown:
            return None
        texts = {
            device.device_id: b"".join(self._state(name, device) for name in self.shown)
            for device in self._session.devices.values()
        }
        return {device_id: text for device_id, text in texts.items() if text}

    def close(self) -> None:
        """Close all modules with the session."""
        self._close(tuple(self._parts))
        self.active = NOTHING_ON
        self.shown = ()

    def _apply_change(self, parsed: ParsedMessage, change: ModuleChange) -> None:
        part = self._parts.get(change.module)
        device = None if change.device_id is None else self._session.devices.get(change.device_id)
        if part is None or (device is None and change.device_id is not None):
            parsed.fault(change.path, f"module {change.module} is not there: switch it off and on, or look at the log")
            return
        try:
            part.take(change.place, change.word, change.value, device)
        except InvalidInput as error:
            parsed.fault(error.path or change.path, error.reason)
        except HapticError as error:
            parsed.fault(change.path, error.sentence)
        except Exception as error:  # noqa: BLE001 - logged there
            self._failed(change.module, error)
            parsed.fault(change.path, f"module {change.module} failed: look at the log")

    def _state(self, name: str, device: SessionDevice) -> bytes:
        part = self._parts.get(name)
        if part is None:
            return b""
        words = self.active.modules[name].words.state
        try:
            shown = part.state(device)
            fields = {word: shown[word] for word in words if word in shown}
            text = _members(fields)
        except Exception as error:  # noqa: BLE001 - logged there
            self._failed(name, error)
            return b""
        return b"," + text if text else b""

    def _close(self, names: Iterable[str]) -> None:
        for name in names:
            part = self._parts.pop(name, None)
            if part is None:
                continue
            try:
                part.close()
            except Exception:
                number = self._session.session_id
                logger.exception("module %s failed to close in session %d", name, number, extra={"session": number})
        for device in self._session.devices.values():
            device.writer.publish(refresh=False)

    def _failed(self, name: str, error: Exception) -> None:
        """Close the failed module for this session."""
        number = self._session.session_id
        logger.error(
            "module %s failed in session %d and is closed for it",
            name,
            number,
            exc_info=error,
            extra={"session": number},
        )
        self._parts.pop(name, None)
        self._list_shown()

    def _list_shown(self) -> None:
        self.shown = tuple(name for name in self._parts if name in self.active.shown)


def _members(fields: Mapping[str, object]) -> bytes:
    """Return the members of an object as JSON text; ValueError past MOST_STATE_BYTES."""
    text = encode_json(fields)[1:-1]
    if len(text) > MOST_STATE_BYTES:
        raise ValueError(f"its state has {len(text)} bytes, and may have {MOST_STATE_BYTES}")
    return text
