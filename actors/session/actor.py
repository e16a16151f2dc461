"""SessionActor: applies the configuration changes of one session. Forces never pass through it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from actors.device.messages import unsupported_event
from actors.event.messages import HUB, Emit
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.errors import FirmwareTooOld
from actors.session import configure, scene
from actors.session.messages import (
    MANAGER,
    Applied,
    Change,
    ClearDamping,
    ConfigurationChanged,
    ConfigureSession,
    SessionConfig,
    SessionDescribed,
    SetDamping,
)
from actors.settings.messages import SettingChanged

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord, Inventory
    from actors.kit.published import Published
    from actors.session.open_sessions import OpenSessions, SessionEntry
    from actors.settings.messages import SettingsView


FORCE_GATE: Final = "filters/force_gate/gain"


def actor_name(session_id: int) -> str:
    """Return the directory name of a session's actor."""
    return f"session/{session_id}"


def unsupported_events(applied: Applied, inventory: Inventory) -> Iterator[Emit]:
    """Yield a `device-protocol-unsupported` event for each change refused because the firmware is too old."""
    for refused in applied.refused:
        if isinstance(refused.error, FirmwareTooOld) and isinstance(refused.change, (SetDamping, ClearDamping)):
            yield unsupported_event(inventory.get(refused.change.device_id), refused.error)


class SessionActor(ServiceActor):
    """Actor of one session. Its state is in the session's entry, so a restarted actor loses no configuration."""

    def __init__(
        self,
        context: Context,
        entry: SessionEntry,
        inventory: Published[Inventory],
        open_sessions: OpenSessions,
        settings: Published[SettingsView],
    ) -> None:
        super().__init__(actor_name(entry.session_id), context)
        self._entry = entry
        self._inventory = inventory
        self._open_sessions = open_sessions
        self._settings = settings

    @handles(ConfigureSession)
    def configure(self, message: ConfigureSession) -> Applied:
        """Apply or refuse each change, and emit `session-updated` for what changed."""
        before = self._entry.config.value.required_sdk_version
        applied = self._apply(message.changes)
        for event in unsupported_events(applied, self._inventory.value):
            self.tell(HUB, event)
        for change in message.changes:
            if (reason := configure.version_refusal(change)) is not None:
                self._warn_of_version(reason)
        config = applied.config
        if config.sdk_from_profile and config.required_sdk_version != before:
            # The version comes from the profile, so no change was refused for it above.
            reason = configure.newer_version_warning(config.required_sdk_version)
            if reason is not None:
                self._warn_of_version(reason)
        return applied

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """Recompute whether the profile starts with `compact_zup`, or drop the scenes when they are switched off; the edge reads both settings itself."""
        if message.key == configure.FREEFORM:
            self._apply(())
        elif message.key == scene.SCENES_ENABLED and not message.value:
            self._drop_scenes()

    @handles(ConfigurationChanged)
    def on_changed(self, message: ConfigurationChanged) -> None:
        """Emit `session-updated` for scopes whose values the edge keeps."""
        self._emit_updated(message.scopes)

    def _apply(self, changes: tuple[Change, ...]) -> Applied:
        context = configure.ValidationContext(
            self._inventory.value,
            self._open_sessions.memory.value,
            self._open_sessions.defaults.value,
            self._settings.value.texts(configure.FREEFORM),
            self._gate,
        )
        applied = configure.apply(self._entry.config.value, changes, context)
        self._keep(applied.config)
        if applied.scopes:
            self._emit_updated(applied.scopes)
        return applied

    def _drop_scenes(self) -> None:
        before = self._entry.config.value
        self._keep(configure.without_scenes(before))
        if self._entry.config.value != before:
            self._emit_updated(("config.scene",))

    def _keep(self, config: SessionConfig) -> None:
        """Store the configuration and tell the manager if it is another one."""
        if config != self._entry.config.value:
            self._entry.config.replace(config)
            self.tell(MANAGER, SessionDescribed(self._entry.session_id, config))

    def _gate(self, record: DeviceRecord) -> float | None:
        gain = self._settings.value.device(record.device_id, record.kind, FORCE_GATE)
        return float(gain) if isinstance(gain, (int, float)) else None

    def _warn_of_version(self, reason: str) -> None:
        self.tell(HUB, Emit("session-warning", {"session_id": self._entry.session_id, "reason": "sdk_version"}, reason))

    def _emit_updated(self, scopes: tuple[str, ...]) -> None:
        session_id = self._entry.session_id
        data = {"session_id": session_id, "scopes": list(scopes)}
        self.tell(HUB, Emit("session-updated", data, f"session {session_id} changed {', '.join(scopes)}"))
