"""Blocked ports in the ledger: which are stored, and how a start reads an edited ledger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.port.messages import LoopBlock, PortStatus, PortTable
from actors.port.stored_blocks import as_json, from_json
from actors.settings.immutable_json import freeze

SINCE = "2026-01-01T00:00:00+00:00"
BLOCKED = PortStatus("ttyACM0", "/dev/ttyACM0", "049D", loop_block=LoopBlock(SINCE, 5))


def test_only_loop_blocks_are_stored() -> None:
    table = PortTable((BLOCKED, PortStatus("sim0", "sim0"), PortStatus("sim1", "sim1", configured_since=SINCE)))
    assert from_json(freeze(as_json(table))) == PortTable((BLOCKED,))
    assert from_json(None) == PortTable()


@pytest.mark.parametrize("row", [None, 7, [], {}, {"path": 1, "device_id": [], "since": None, "loops": "many"}])
def test_unreadable_row_still_blocks_its_port(row: object) -> None:
    table = from_json(freeze({"sim0": row}))
    assert table.is_blocked("sim0")
    assert as_json(table) == {"sim0": {"path": "sim0", "device_id": None, "since": "", "loops": 0}}


@pytest.mark.parametrize("value", [7, "sim0", ["sim0"], True])
def test_non_object_section_is_ignored(value: object) -> None:
    assert from_json(freeze(value)) == PortTable()


@given(
    st.dictionaries(st.text(max_size=10), st.builds(LoopBlock, st.text(max_size=10), st.integers(0, 100)), max_size=5)
)
def test_blocks_round_trip(blocks: dict[str, LoopBlock]) -> None:
    table = PortTable(tuple(PortStatus(port, port, loop_block=block) for port, block in blocks.items()))
    assert from_json(freeze(as_json(table))) == table
