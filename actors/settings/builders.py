"""Builders of rows of the settings catalogue, one for each value type, and rules for text values."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final

from actors.settings.messages import Constraint
from actors.settings.schema import Setting, TextRule, TypeHint

PORT: Final = Constraint(0, 65535)


def flag(key: str, description: str, *, default: bool = False, locked: bool = False, advanced: bool = False) -> Setting:
    """Return a BOOL row."""
    return Setting(key, TypeHint.BOOL, default, description, locked=locked, advanced=advanced)


def whole(
    key: str,
    default: int | None,
    constraint: Constraint,
    description: str,
    *,
    unit: str | None = None,
    locked: bool = False,
    advanced: bool = False,
) -> Setting:
    """Return an INT row."""
    return Setting(key, TypeHint.INT, default, description, unit, constraint, locked=locked, advanced=advanced)


def real(
    key: str,
    default: float,
    least: float,
    most: float,
    description: str,
    *,
    unit: str | None = None,
    advanced: bool = False,
) -> Setting:
    """Return a FLOAT row with the range `least` to `most`."""
    return Setting(
        key, TypeHint.FLOAT, float(default), description, unit, Constraint(float(least), float(most)), advanced=advanced
    )


def choice(
    key: str,
    default: str,
    choices: tuple[str, ...],
    description: str,
    *,
    locked: bool = False,
    advanced: bool = False,
) -> Setting:
    """Return a STRING row with `choices`."""
    return Setting(
        key,
        TypeHint.STRING,
        default,
        description,
        constraint=Constraint(choices=choices),
        locked=locked,
        advanced=advanced,
    )


def texts(
    key: str,
    default: tuple[str, ...],
    description: str,
    *,
    rule: TextRule | None = None,
    advanced: bool = False,
) -> Setting:
    """Return an ARR_STRING row."""
    return Setting(key, TypeHint.ARR_STRING, default, description, text_rule=rule, advanced=advanced)


def pattern(expression: str, words: str) -> TextRule:
    """Return the rule that the whole text matches `expression`; `words` finishes the sentence "give …"."""
    compiled = re.compile(expression)
    return TextRule(words, lambda text: compiled.fullmatch(text) is not None, f"^({expression})$")


def _address(text: str) -> bool:
    if text == "localhost":
        return True
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


ADDRESS: Final = TextRule("localhost or an IP address such as 192.0.2.7", _address)
ORIGIN: Final = pattern(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s]+", "an origin such as https://example.org")
HOST: Final = pattern(r"[A-Za-z0-9_.-]+|\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]+\]?", "a host name or address without a port")
VENDOR_ID: Final = pattern(r"[0-9A-Fa-f]{4}", "a USB vendor id of four hex digits such as 16D0")
