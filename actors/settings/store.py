"""SettingsStore, the actor that changes settings and ledger: writes to the disk, publishes, then notifies the followers."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.errors import HapticError, StateNotWritable
from actors.kit.message import Announce, Message
from actors.settings.effective import EffectiveSettings
from actors.settings.ledger import Ledger
from actors.settings.messages import (
    STORE,
    ConfirmLedger,
    ReserveSessionIds,
    ResetSetting,
    SaveLedger,
    SetSetting,
    SetSettings,
    SettingChanged,
    SettingView,
)
from actors.settings.state import SettingsState

RETRY_S: Final = 5.0
LOG_LEVEL: Final = "misc/log_level"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WriteLedger(Message):
    """Told to the SettingsStore by its timer: retry a failed write of the ledger."""


class SettingsStore(ServiceActor):
    """Actor of settings and ledger, the only writer of their files while the service runs."""

    def __init__(
        self,
        context: Context,
        settings: SettingsState,
        ledger: Ledger,
        followers: Sequence[str] = (),
        name: str = STORE,
    ) -> None:
        """`followers` are actors' names, or patterns such as `device/*`, that are told each SettingChanged."""
        super().__init__(name, context)
        self._settings = settings
        self._ledger = ledger
        self._followers = tuple(followers)

    def started(self) -> None:
        """Reserve session ids before sessions are opened."""
        self.reserve_session_ids()

    def stopped(self) -> None:
        """Write pending ledger changes and return unused session ids."""
        self._write_ledger()
        try:
            self._ledger.return_session_ids()
        except StateNotWritable as error:
            logger.error("Session ids go on at the next block: %s", error)  # noqa: TRY400

    @handles(SetSetting)
    def set_setting(self, message: SetSetting) -> SettingView:
        """Store one value. Return its new record."""
        self._commit(self._settings.current.settings({message.key: message.value}))
        return self._answer(message.key)

    @handles(SetSettings)
    def set_settings(self, message: SetSettings) -> tuple[SettingView, ...]:
        """Store several values, all or none. Return their new records."""
        self._commit(self._settings.current.settings(message.values))
        return tuple(self._answer(key) for key in message.values)

    @handles(ResetSetting)
    def reset_setting(self, message: ResetSetting) -> SettingView:
        """Remove a stored value. Return the new record."""
        self._commit(self._settings.current.resetting(message.key))
        return self._answer(message.key)

    @handles(SaveLedger)
    def save_ledger(self, message: SaveLedger) -> HapticError | None:
        """Store a section. Return None once it is on the disk, else the error."""
        try:
            self._ledger.remember(message.section, message.value)
        except HapticError as error:
            logger.error("A section of the ledger was not remembered: %s", error)  # noqa: TRY400
            return error
        return self._write_ledger()

    @handles(ConfirmLedger)
    def confirm_ledger(self, _message: ConfirmLedger) -> None:
        """Return when all sections are on the disk; StateNotWritable."""
        error = self._write_ledger()
        if error is not None:
            raise error

    @handles(WriteLedger)
    def write_ledger(self, _message: WriteLedger) -> None:
        """Retry a failed write."""
        self._write_ledger()

    @handles(ReserveSessionIds)
    def reserve(self, _message: ReserveSessionIds) -> None:
        """Reserve the next block of session ids if they run low."""
        self.reserve_session_ids()

    @handles(Announce)
    def on_announce(self, message: Announce) -> None:
        """Tell a new follower all changes, in case it read the settings before one."""
        if not self._follows(message.name):
            return
        view = self._settings.view.value
        for key in sorted(self._settings.changed):
            self.tell(message.name, SettingChanged(key, view.value(key)))

    def reserve_session_ids(self) -> None:
        """Reserve session ids; log a failure, the next call tries again."""
        try:
            self._ledger.reserve_session_ids()
        except StateNotWritable as error:
            logger.error("No session ids could be reserved: %s", error)  # noqa: TRY400

    def _commit(self, current: EffectiveSettings) -> None:
        changed = self._settings.commit(current)
        if LOG_LEVEL in changed:
            logging.getLogger().setLevel(str(changed[LOG_LEVEL]).upper())
            logger.info("log level is %s", changed[LOG_LEVEL])
        names = [name for name in self.context.directory.names() if self._follows(name)]
        for key, value in changed.items():
            for name in names:
                self.tell(name, SettingChanged(key, value))

    def _answer(self, key: str) -> SettingView:
        record = self._settings.view.value.record(key)
        return replace(record, restart_required=record.locked)

    def _follows(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self._followers)

    def _write_ledger(self) -> StateNotWritable | None:
        if not self._ledger.unwritten:
            return None
        try:
            self._ledger.write()
        except StateNotWritable as error:
            logger.error("The ledger is ahead of the disk: %s", error)  # noqa: TRY400
            self.context.timers.after(RETRY_S, self.name, WriteLedger(), key=(self.name, WriteLedger))
            return error
        return None
