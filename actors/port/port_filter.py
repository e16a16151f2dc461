"""Select the listed ports that the settings allow to open, and compare two scans. Pure; used by Detection.

Blocked ports pass too: each has a PortLink that waits for the reset.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from actors.values.hardware import Candidate, Transport

if TYPE_CHECKING:
    from actors.settings.messages import SettingsView, SettingView

ENABLED: Final = {
    Transport.SERIAL: "communication/serial/enabled",
    Transport.USB: "communication/usb/enabled",
}
DETECTION_SETTINGS: Final = "devices/detection/"
VENDORS: Final = "devices/detection/advanced/allowed_vendor_id_filter"
NAMES: Final = "devices/detection/advanced/port_name_substring_filter"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which candidates may be opened; a candidate that a setting names passes `vendors` and `names`."""

    transports: frozenset[Transport] = frozenset(Transport)
    vendors: frozenset[int] = field(default_factory=frozenset)  # USB vendor ids; empty: all
    names: tuple[str, ...] = ()  # parts of names or paths; empty: all

    @classmethod
    def of(cls, settings: SettingsView) -> Filter:
        """Return the filter of these settings."""
        return cls(
            frozenset(one for one, key in ENABLED.items() if settings.flag(key)),
            frozenset(int(text, 16) for text in settings.texts(VENDORS)),
            settings.texts(NAMES),
        )


def chosen(listed: Iterable[Candidate], rule: Filter) -> tuple[Candidate, ...]:
    """Return the candidates that pass the filter, in the order of the list."""
    return tuple(one for one in listed if _passes(one, rule))


@dataclass(frozen=True, slots=True)
class PortChanges:
    """Changed ports between two scans."""

    unplugged: tuple[Candidate, ...] = ()  # as they were listed before
    unwanted: tuple[Candidate, ...] = ()  # still plugged in, and let go because of a setting
    plugged: tuple[Candidate, ...] = ()  # new, or plugged in again


def port_changes(
    before: Mapping[str, Candidate], now: Mapping[str, Candidate], listed: Mapping[str, Candidate], *, by_setting: bool
) -> PortChanges:
    """Compare the wanted candidates of two scans, by port name; `by_setting`: settings changed between them."""
    other = [one for port, one in before.items() if now.get(port) != one]
    kept = [by_setting or one.stayed(listed.get(one.port)) for one in other]
    return PortChanges(
        tuple(one for one, is_kept in zip(other, kept, strict=True) if not is_kept),
        tuple(one for one, is_kept in zip(other, kept, strict=True) if is_kept),
        tuple(one for port, one in now.items() if port not in before or not before[port].stayed(one)),
    )


def detection_settings(settings: SettingsView, driver_keys: Collection[str]) -> tuple[SettingView, ...]:
    """Return the records of the settings that decide which ports are listed and opened, to compare two scans by."""
    return tuple(record for key, record in settings.records.items() if is_detection_setting(key, driver_keys))


def is_detection_setting(key: str, driver_keys: Collection[str]) -> bool:
    """Whether a change of the setting calls for a scan; `driver_keys` are the settings of the drivers."""
    return key in ENABLED.values() or key.startswith(DETECTION_SETTINGS) or key in driver_keys


def _passes(candidate: Candidate, rule: Filter) -> bool:
    if candidate.transport not in rule.transports:
        return False
    if candidate.assigned:
        return True
    named = not rule.names or any(part in candidate.port or part in candidate.path for part in rule.names)
    return named and (not rule.vendors or candidate.vendor_id in rule.vendors)
