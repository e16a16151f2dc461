"""Which of the ports that are listed may be opened, as a rule of the settings, and what one look has seen that the one before had not.

Blocked ports are among them: they have a PortLink that waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from actors.values.hardware import Candidate, Transport

if TYPE_CHECKING:
    from actors.settings.messages import SettingsView, SettingView

ENABLED: Final = {
    Transport.SERIAL: "communication/serial/enabled",
    Transport.USB: "communication/usb/enabled",
}
# Where settings are that a look at the ports reads: what is looked for, and what boards do not say of themselves.
LOOKED_AT: Final = ("devices/detection/", "devices/hapi/", "devices/falcon/")
VENDORS: Final = "devices/detection/advanced/allowed_vendor_id_filter"
NAMES: Final = "devices/detection/advanced/port_name_substring_filter"


@dataclass(frozen=True, slots=True)
class Filter:
    """`vendors` and `names` empty: all."""

    transports: frozenset[Transport] = frozenset(Transport)
    vendors: frozenset[int] = field(default_factory=frozenset)
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: SettingsView) -> Filter:
        """As the settings have it now."""
        return cls(
            frozenset(one for one, key in ENABLED.items() if settings.flag(key)),
            frozenset(int(text, 16) for text in settings.texts(VENDORS)),
            settings.texts(NAMES),
        )


def chosen(listed: Iterable[Candidate], rule: Filter) -> tuple[Candidate, ...]:
    """Those that the rule lets through, in the order of the list."""
    return tuple(one for one in listed if _passes(one, rule))


@dataclass(frozen=True, slots=True)
class PortChanges:
    """Candidates as they were before: pulled out, or let go on purpose; then those that are there now and were not."""

    unplugged: tuple[Candidate, ...] = ()
    unwanted: tuple[Candidate, ...] = ()
    plugged: tuple[Candidate, ...] = ()


def news(
    before: Mapping[str, Candidate], now: Mapping[str, Candidate], listed: Mapping[str, Candidate], *, by_setting: bool
) -> PortChanges:
    """`now` are the wanted ones of `listed`, all by name; `by_setting`: settings may have kept some from being listed."""
    other = [one for port, one in before.items() if now.get(port) != one]
    kept = [by_setting or one.stayed(listed.get(one.port)) for one in other]
    return PortChanges(
        tuple(one for one, is_kept in zip(other, kept, strict=True) if not is_kept),
        tuple(one for one, is_kept in zip(other, kept, strict=True) if is_kept),
        tuple(one for port, one in now.items() if port not in before or not before[port].stayed(one)),
    )


def chosen_by(settings: SettingsView) -> tuple[SettingView, ...]:
    """Equal as long as no setting was changed that decides which ports are listed and wanted."""
    return tuple(record for key, record in settings.records.items() if matters(key))


def matters(key: str) -> bool:
    """Whether a setting may change what is wanted or found."""
    return key in ENABLED.values() or key.startswith(LOOKED_AT)


def _passes(candidate: Candidate, rule: Filter) -> bool:
    if candidate.transport not in rule.transports:
        return False
    if candidate.assigned:
        return True
    named = not rule.names or any(part in candidate.port or part in candidate.path for part in rule.names)
    return named and (not rule.vendors or candidate.vendor_id in rule.vendors)
