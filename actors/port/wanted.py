"""Which of the ports that are listed may be opened, as a rule of the settings; blocked ones have a PortLink that waits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from actors.values.hardware import Candidate, Transport

if TYPE_CHECKING:
    from actors.settings.messages import SettingsView

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
