"""The likely cause of gaps: a table of permissions and processor use, and the use between two readings."""

from __future__ import annotations

import pytest

from actors.control.gap_cause import ADVICE, ProcessorUse, likely_cause, processor_use
from actors.control.messages import GapCause
from actors.control.processor_times import Ticks

IDLE = ProcessorUse(stolen=0.0, busy=0.05)
STOLEN = ProcessorUse(stolen=0.3, busy=0.6)
BUSY = ProcessorUse(stolen=0.0, busy=0.95)


@pytest.mark.parametrize(
    ("tick_share", "fifo", "use", "own_share", "cause"),
    [
        (0.5, True, IDLE, 0.0, GapCause.TICKS_LEFT_OUT),
        (0.0, False, STOLEN, 0.0, GapCause.TICKS_LEFT_OUT),
        (1.0, True, STOLEN, 0.0, GapCause.STOLEN_TIME),
        (1.0, False, STOLEN, 0.0, GapCause.STOLEN_TIME),
        (1.0, True, ProcessorUse(0.05, 0.1), 0.0, GapCause.STOLEN_TIME),
        (1.0, True, ProcessorUse(0.049, 0.1), 0.0, GapCause.UNKNOWN),
        (1.0, False, BUSY, 0.0, GapCause.NO_PERMISSION),
        (1.0, False, IDLE, 0.0, GapCause.NO_PERMISSION),
        (1.0, False, None, 0.0, GapCause.NO_PERMISSION),
        (1.0, True, BUSY, 0.0, GapCause.BUSY_CORE),
        (1.0, True, BUSY, 0.4, GapCause.BUSY_CORE),
        (1.0, True, BUSY, 0.6, GapCause.UNKNOWN),
        (1.0, True, IDLE, 0.0, GapCause.UNKNOWN),
        (1.0, True, None, 0.0, GapCause.UNKNOWN),
    ],
)
def test_likely_cause_of_permissions_and_use(
    tick_share: float, fifo: bool, use: ProcessorUse | None, own_share: float, cause: GapCause
) -> None:
    assert likely_cause(tick_share=tick_share, fifo=fifo, use=use, own_share=own_share) is cause


def test_every_cause_has_advice() -> None:
    assert set(ADVICE) == set(GapCause)


def test_use_is_that_of_the_loops_processor() -> None:
    before = {"cpu": Ticks(1000, 500, 0), "cpu1": Ticks(500, 100, 10)}
    after = {"cpu": Ticks(1200, 550, 100), "cpu1": Ticks(600, 190, 15)}

    assert processor_use(before, after, 1) == ProcessorUse(stolen=0.05, busy=0.9)
    assert processor_use(before, after, None) == ProcessorUse(stolen=0.5, busy=0.25)


def test_use_is_unknown_without_two_readings_or_without_the_processor() -> None:
    times = {"cpu": Ticks(1000, 500, 0)}

    assert processor_use(None, times, None) is None
    assert processor_use(times, None, None) is None
    assert processor_use(times, times, None) is None
    assert processor_use(times, {"cpu": Ticks(1100, 500, 0)}, 3) is None
