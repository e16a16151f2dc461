"""The ledger section of the ports that a connection loop has blocked."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from actors.port.messages import LoopBlock, PortStatus, PortTable
from actors.settings.messages import Frozen

logger = logging.getLogger(__name__)


def as_json(table: PortTable) -> dict[str, object]:
    """Return the ledger section; blocks by a setting are not in it."""
    return {
        status.port: {
            "path": status.path,
            "device_id": status.device_id,
            "since": status.loop_block.since,
            "loops": status.loop_block.loops,
        }
        for status in table.ports
        if status.loop_block is not None
    }


def from_json(value: Frozen) -> PortTable:
    """Parse the ledger section; a port with an invalid entry stays blocked."""
    if value is None:
        return PortTable()
    if not isinstance(value, Mapping):
        logger.error("The blocked ports in the ledger are no object and are forgotten: a loop is blocked anew.")
        return PortTable()
    return PortTable(tuple(_status(port, row if isinstance(row, Mapping) else {}) for port, row in value.items()))


def _status(port: str, row: Mapping[str, Frozen]) -> PortStatus:
    path, device_id, since, loops = (row.get(name) for name in ("path", "device_id", "since", "loops"))
    return PortStatus(
        port,
        path if isinstance(path, str) else port,
        device_id if isinstance(device_id, str) else None,
        loop_block=LoopBlock(since if isinstance(since, str) else "", loops if type(loops) is int else 0),
    )
