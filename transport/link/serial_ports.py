"""List the serial ports that are candidates; a port that nothing identifies is never opened.

A candidate is a port in `devices/detection/serial_ports`, one whose USB vendor is in the vendor filter, one whose product text
announces the open link protocol, or a recognised unsupported one. Listing reads the operating system's table.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import serial.tools.list_ports

from actors.values.hardware import Candidate, Transport

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.settings.api import SettingsView
    from transport.link.driver_spec import UnsupportedIds

NAMED: Final = "devices/detection/serial_ports"
VENDORS: Final = "devices/detection/advanced/allowed_vendor_id_filter"
# Part of the USB product text (case ignored) of boards that are detected automatically.
PRODUCT_MARK: Final = "open haptic link"

ListPorts = Callable[[], Iterable[Any]]


class SerialPorts:
    """Reads the settings at each call, so that the next scan follows them."""

    def __init__(
        self,
        settings: Published[SettingsView],
        unsupported: UnsupportedIds,
        list_ports: ListPorts = serial.tools.list_ports.comports,
    ) -> None:
        """`list_ports` returns what pyserial's does."""
        self._settings = settings
        self._unsupported = unsupported
        self._list_ports = list_ports

    def candidates(self) -> tuple[Candidate, ...]:
        """List candidates in the system's order, then existing ports that only the setting names."""
        settings = self._settings.value
        named = {os.path.realpath(path): path for path in self.named_paths()}
        vendors = {int(text, 16) for text in settings.texts(VENDORS)}
        found: list[Candidate] = []
        for info in self._list_ports():
            assigned = named.pop(os.path.realpath(info.device), None) is not None
            candidate = serial_candidate(info.device, info, assigned=assigned)
            if assigned or self._is_recognised(candidate, vendors):
                found.append(candidate)
        found += [serial_candidate(path, None, assigned=True) for real, path in named.items() if there(real)]
        return tuple(found)

    def named_paths(self) -> tuple[str, ...]:
        """Return the paths of `devices/detection/serial_ports`, whether they exist or not."""
        return tuple(map(path_of, self._settings.value.texts(NAMED)))

    def _is_recognised(self, candidate: Candidate, vendors: set[int]) -> bool:
        """Whether USB numbers or product text identify a supported or a recognised device."""
        if candidate.vendor_id is None:
            return False
        unsupported = self._unsupported.find(candidate.vendor_id, candidate.product_id) is not None
        return unsupported or candidate.vendor_id in vendors or PRODUCT_MARK in candidate.name.lower()


def named_apart(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates with unique names: where two have the same, the whole paths become the names."""
    every = tuple(candidates)
    counts = Counter(one.port for one in every)
    return tuple(
        one if counts[one.port] == 1 else replace(one, port=one.path.strip("/").replace("/", "-")) for one in every
    )


def path_of(text: str) -> str:
    """Return the path of a port in a setting: a path, or a base name in /dev."""
    return text if "/" in text or os.name == "nt" else f"/dev/{text}"


def there(path: str) -> bool:
    """Whether something exists at that path; False if the path is invalid or not accessible."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def base_name(path: str) -> str:
    """Return `ttyACM0` of `/dev/ttyACM0`."""
    return path.rstrip("/").rpartition("/")[2] or path


def serial_candidate(path: str, info: Any, *, assigned: bool) -> Candidate:
    """Return the candidate at `path`; `info` is pyserial's row of it, None when the port is not listed."""
    return Candidate(
        port=base_name(path),
        path=path,
        transport=Transport.SERIAL,
        vendor_id=getattr(info, "vid", None),
        product_id=getattr(info, "pid", None),
        name=getattr(info, "product", None) or "",
        serial=getattr(info, "serial_number", None) or "",
        assigned=assigned,
    )
