"""Look-up of the USB numbers that drivers recognise and do not drive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from transport.link.driver_spec import DriverSpec, UnsupportedId

CLOSED: Final = "no open protocol; the vendor's service drives it"


class UnsupportedIds:
    """The unsupported ids of all drivers."""

    def __init__(self, drivers: Iterable[DriverSpec]) -> None:
        self._rows = {(row.vendor_id, row.product_id): row for driver in drivers for row in driver.unsupported}

    def find(self, vendor_id: int | None, product_id: int | None) -> UnsupportedId | None:
        """Return the row of these numbers, the one of the exact product first; None for every other device."""
        if vendor_id is None:
            return None
        return self._rows.get((vendor_id, product_id)) or self._rows.get((vendor_id, None))
