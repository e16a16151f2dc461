"""Build short device ids for devices that have only a serial number or a port."""

from __future__ import annotations

from typing import Final

LETTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
SHORTEST: Final = 4  # letters and digits of a serial number that is used
LONGEST: Final = 8


def short_id(prefix: str, serial: str, port: str) -> str:
    """Return an id of 1 to 8 letters and digits: the end of the serial number, else `prefix` and the port's name."""
    kept = [letter for letter in serial.upper() if letter in LETTERS]
    if len(kept) >= SHORTEST:
        return "".join(kept[-LONGEST:])
    digits = [letter for letter in port if letter in LETTERS]
    return "".join([*prefix, *digits])[:LONGEST]
