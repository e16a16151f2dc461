"""What the udev rules of this machine do with serial boards: which vendors brltty takes, and which are kept from ModemManager."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

# The first folder that has a file of a name decides; a link to /dev/null or an empty file there hides the others.
FOLDERS: Final = ("/etc/udev/rules.d", "/run/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d")
# CH340, CP210x, FTDI: chips of braille displays as well as of boards.
BRIDGES: Final[Mapping[int, str]] = {0x1A86: "CH340", 0x10C4: "CP210x", 0x0403: "FTDI"}
TAKEN_WITHIN_S: Final = 3.0
_BRLTTY_VENDOR: Final = re.compile(r"(?:ENV\{PRODUCT\}|ATTRS?\{idVendor\})==\"0*([0-9a-fA-F]{3,4})[/\"|]")
_IGNORED: Final = re.compile(r"ATTRS?\{idVendor\}==\"([0-9a-fA-F|]+)\".*ID_MM_DEVICE_IGNORE")
_ANY_TTY: Final = re.compile(r"KERNEL==\"[^\"]*ttyUSB")


def rule_files(wanted: str, folders: Iterable[str] = FOLDERS) -> list[Path]:
    """Return the rule files whose name has `wanted` in it and that are in force, in the order of their names."""
    found: dict[str, Path] = {}
    for folder in folders:
        with suppress(OSError):
            for path in sorted(Path(folder).glob(f"*{wanted}*.rules")):
                found.setdefault(path.name, path)
    return [found[name] for name in sorted(found)]


def brltty_takes(folders: Iterable[str] = FOLDERS) -> tuple[Path, frozenset[int]] | None:
    """Return brltty's rules and the vendors among BRIDGES whose ports they hand to it; None without such rules."""
    for path in rule_files("brltty", folders):
        vendors = {int(found, 16) for line in _lines(path) for found in _BRLTTY_VENDOR.findall(line)}
        if taken := vendors & BRIDGES.keys():
            return path, frozenset(taken)
    return None


def kept_from_modem_manager(folders: Iterable[str] = FOLDERS) -> frozenset[int]:
    """Return the vendors whose ports at a USB bridge (`ttyUSB`) the rules of hapticd keep ModemManager from."""
    return frozenset(
        int(vendor, 16)
        for path in rule_files("hapticd", folders)
        for line in _lines(path)
        if _ANY_TTY.search(line)
        for found in _IGNORED.findall(line)
        for vendor in found.split("|")
    )


def keep_rule(vendors: Iterable[int]) -> str:
    """Return the rule that keeps ModemManager from the serial ports of these vendors, and gives them to the group dialout."""
    ids = "|".join(f"{vendor:04x}" for vendor in sorted(vendors))
    return (
        f'SUBSYSTEM=="tty", KERNEL=="ttyACM*|ttyUSB*", ATTRS{{idVendor}}=="{ids}", ENV{{ID_MM_DEVICE_IGNORE}}="1",'
        ' MODE="0660", GROUP="dialout", TAG+="uaccess"'
    )


def brltty_cure(rules: Path) -> str:
    """Return the command, for root, after which brltty takes no serial board any more."""
    return f"ln -sf /dev/null /etc/udev/rules.d/{rules.name} && udevadm control --reload"


def taker(vendor: int | None, folders: Iterable[str] = FOLDERS) -> str:
    """Return what takes a serial port of that vendor away on this machine, with the cure; "" when nothing does."""
    found = brltty_takes(folders)
    if found is None or vendor not in found[1]:
        return ""
    return f"brltty takes it for a braille display ({found[0]}): {brltty_cure(found[0])}, then plug it in again"


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    whole = text.replace("\\\n", "")
    return [line for line in whole.splitlines() if not line.lstrip().startswith("#")]
