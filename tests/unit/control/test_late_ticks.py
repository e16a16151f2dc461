"""Reports of late ticks: after ten seconds, then once a minute, from 1 % on, with the cause that lost force would have."""

from __future__ import annotations

from actors.control.interruptions import Reading
from actors.control.late_ticks import LateTicks, LateTicksWatch, sentence
from actors.control.messages import GapCause
from actors.control.processor_times import Ticks
from actors.kit.clock import NS_PER_S
from tests.unit.control.counter_samples import counters

HZ = 4000


def reading(second: int, missed: int, *, fifo: bool = True, started_ns: int = 1, **processor: int) -> Reading:
    """A reading after so many seconds in each of which `missed` ticks were missed."""
    loop = counters(
        ticks=(HZ - missed) * second, missed=missed * second, fifo=fifo, started_ns=started_ns, step_samples=1
    )
    busy, stolen = processor.get("busy", 0) * second, processor.get("stolen", 0) * second
    return Reading(second * NS_PER_S, loop, {}, {"cpu1": Ticks(100 * second, busy, stolen)}, cpu=1)


def reports(missed: int, seconds: int, *, fifo: bool = True, **processor: int) -> list[tuple[int, LateTicks]]:
    watch = LateTicksWatch()
    told = ((second, watch.step(reading(second, missed, fifo=fifo, **processor))) for second in range(seconds + 1))
    return [(second, late) for second, late in told if late is not None]


def test_windows_end_after_ten_seconds_and_then_each_minute() -> None:
    assert [(second, late.window_s, late.missed) for second, late in reports(400, 140)] == [
        (10, 10, 4_000),
        (70, 60, 24_000),
        (130, 60, 24_000),
    ]


def test_one_percent_is_told_and_less_is_not() -> None:
    assert [late.share for _, late in reports(40, 10)] == [0.01]
    assert reports(39, 200) == []
    assert reports(0, 200) == []


def test_loop_that_was_started_again_begins_a_new_window() -> None:
    watch = LateTicksWatch()
    watch.step(reading(0, 400))
    assert watch.step(reading(10, 400, started_ns=2)) is None
    assert watch.step(reading(19, 400, started_ns=2)) is None
    assert watch.step(reading(20, 400, started_ns=2)) is not None


def test_cause_is_told_from_permission_stolen_time_and_work_of_others() -> None:
    (no_permission,) = reports(400, 10, fifo=False)
    (stolen,) = reports(400, 10, fifo=False, stolen=10)
    (busy,) = reports(400, 10, busy=90)
    (unknown,) = reports(400, 10)

    assert [late.cause for _, late in (no_permission, stolen, busy, unknown)] == [
        GapCause.NO_PERMISSION,
        GapCause.STOLEN_TIME,
        GapCause.BUSY_CORE,
        GapCause.UNKNOWN,
    ]


def test_sentence_has_count_share_window_and_what_to_do() -> None:
    assert sentence(LateTicks(60.0, 24_000, 0.1, GapCause.STOLEN_TIME)) == (
        "24000 ticks of the control loop (10.0%) were missed in 60 s; likely cause: the host takes time from this virtual "
        "machine; give it processors of its own"
    )
