"""Soak: ten million different faulty messages; each gets its frame, and memory stays flat.

HAPTICD_SOAK_BAD_MESSAGES sets another number for a short run.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing
from typing import Final

import pytest

from bench.support.machine import memory_mib
from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.support.clients.raw_websocket import encode_frame
from tests.support.clients.session_attack import Pipeline
from tests.support.service.process import RunningService

SECTION: Final = "memory of the service · messages with faults, eight sessions, 64 messages at once · reference: after the first tenth of them"
MESSAGES: Final = int(os.environ.get("HAPTICD_SOAK_BAD_MESSAGES", "10000000"))
PARTS: Final = 10
SESSIONS: Final = 8
AT_ONCE: Final = 64
LIMIT: Final = Limit(2.0, "≤", of="figure")

# NUMBER is that of the message, ARM the id of the device.
FAULTS: Final = (
    "{NUMBER",
    "[NUMBER]",
    '{"unknownNUMBER": NUMBER}',
    '{"session": {"unknownNUMBER": {}}}',
    '{"session": {"force_render_full_state": {"device_types": ["sortNUMBER"]}}}',
    '{"arm": [{"device_id": "ANUMBER", "commands": {"probe_position": {}}}]}',
    '{"arm": [{"device_id": "ARM", "commands": {"commandNUMBER": {}}}]}',
    '{"arm": [{"device_id": "ARM", "commands": {"set_cursor_force": {"vector": {"x": "NUMBER"}}}}]}',
    '{"arm": [{"device_id": "ARM", "configure": {"preset": {"preset": "presetNUMBER"}}}]}',
    '{"arm": [{"device_id": "ARM", "commands": {"set_transform": {"transform": {"memberNUMBER": 1}}}}]}',
    '{"a": ' * 100 + "NUMBER" + "}" * 100,
)

pytestmark = pytest.mark.soak


def test_memory_stays_flat_while_messages_have_faults(results: ResultTable) -> None:
    sizes: list[float] = []
    with RunningService(simulate="arm") as service, ExitStack() as stack:
        (arm,) = (device["device_id"] for device in service.request("GET", "/devices")[1]["arm"])
        lines = [stack.enter_context(closing(Pipeline(service.ws))) for _ in range(SESSIONS)]
        sent = 0
        while sent < MESSAGES:
            for line in lines:
                texts = ((FAULTS[n % len(FAULTS)], str(n)) for n in range(sent, sent + AT_ONCE))
                line.send([encode_frame(text.replace("NUMBER", number).replace("ARM", arm)) for text, number in texts])
                sent += AT_ONCE
            for line in lines:
                line.take_all()
            if sent * PARTS // MESSAGES > len(sizes):
                sizes.append(memory_mib(service.process.pid, "RssAnon"))
                sys.stdout.write(f"{sent:,} messages: {sizes[-1]:.2f} MiB\n")
        assert sum(line.frames for line in lines) == sent
        assert "Traceback" not in service.log
    apart = max(sizes) - min(sizes)
    note = f"{MESSAGES:,} messages, {', '.join(f'{size:.1f}' for size in sizes)} MiB"
    hold(results.add(Row(SECTION, "most less least", apart, "MiB", sizes[0], LIMIT, note)))
