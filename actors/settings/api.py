"""Public interface of the settings slice (catalogue, values, state directory): transport imports only this module of it."""

from __future__ import annotations

from actors.settings.builders import ADDRESS, pattern, real, texts
from actors.settings.catalog import CORE_CATALOG
from actors.settings.key_lookup import KINDS, Catalog, variable
from actors.settings.ledger import Ledger
from actors.settings.messages import (
    DEVICE_KEY,
    FAMILY,
    STORE,
    ConfirmLedger,
    Constraint,
    ResetSetting,
    SetSetting,
    SetSettings,
    SettingsView,
    SettingView,
    value_as_json,
)
from actors.settings.schema import TEXT_LENGTH, Setting, TypeHint
from actors.settings.sources import Override, read_overrides
from actors.settings.state import SettingsState
from actors.settings.state_directory import StateDirectory, default_state_path
from actors.settings.stored_token import state_path_in_use, stored_token

__all__ = [
    "ADDRESS",
    "CORE_CATALOG",
    "DEVICE_KEY",
    "FAMILY",
    "KINDS",
    "STORE",
    "TEXT_LENGTH",
    "Catalog",
    "ConfirmLedger",
    "Constraint",
    "Ledger",
    "Override",
    "ResetSetting",
    "SetSetting",
    "SetSettings",
    "Setting",
    "SettingView",
    "SettingsState",
    "SettingsView",
    "StateDirectory",
    "TypeHint",
    "default_state_path",
    "pattern",
    "read_overrides",
    "real",
    "state_path_in_use",
    "stored_token",
    "texts",
    "value_as_json",
    "variable",
]
