"""Reports of lost force: at once, then at most once a minute, with count, longest gap, share and cause; none without a loss."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.control.interruptions import (
    REPORT_PERIOD_NS,
    DeviceGaps,
    InterruptionWatch,
    Reading,
    interruption_event,
    log_line,
    longest_since,
    own_share,
)
from actors.control.messages import GapCause, GapCounters, Interruption
from actors.control.processor_times import Ticks
from actors.event.catalog import EVENT_KINDS
from actors.kit.clock import NS_PER_S
from fastpath.layout.constants import GAP_BUCKETS, KEPT_GAPS
from tests.unit.control.counter_samples import counters


def with_gaps(before: GapCounters, *lengths_s: float, force_s: float = 1.0) -> GapCounters:
    """The counters a second later, all of it with force, after such gaps."""
    kept = list(before.lengths_s or (0.0,) * KEPT_GAPS)
    counts = list(before.buckets or (0,) * GAP_BUCKETS)
    for number, length_s in enumerate(lengths_s, before.gaps):
        kept[number % KEPT_GAPS] = length_s
        counts[next(b for b in range(GAP_BUCKETS) if length_s < 0.0025 * 2**b or b == GAP_BUCKETS - 1)] += 1
    return GapCounters(
        force_s=before.force_s + force_s,
        interrupted_s=before.interrupted_s + force_s * sum(max(0.0, length_s - 0.02) for length_s in lengths_s),
        gaps=before.gaps + len(lengths_s),
        gap_s=before.gap_s + sum(lengths_s),
        longest_s=max((before.longest_s, *lengths_s)),
        buckets=tuple(counts),
        lengths_s=tuple(kept),
    )


class Minute:
    """Readings each second, and what is reported of them."""

    def __init__(self, fifo: bool = True) -> None:
        self.watch = InterruptionWatch()
        self.loop = counters(fifo=fifo, running=1)
        self.gaps = with_gaps(GapCounters())
        self.second = 0
        self.reported_ns: int | None = None
        self.reports: list[tuple[int, Interruption]] = []
        self.passes()

    def passes(self, *lengths_s: float, force_s: float = 1.0) -> None:
        """A second with such gaps."""
        self.second += 1
        self.gaps = with_gaps(self.gaps, *lengths_s, force_s=force_s)
        at_ns = self.second * NS_PER_S
        lost = self.watch.step(Reading(at_ns, self.loop, {"049D": DeviceGaps("arm", self.gaps)}), self.reported_ns)
        if lost:
            self.reported_ns = at_ns
            self.reports += ((self.second, one) for one in lost)


def test_first_loss_is_reported_at_once() -> None:
    minute = Minute()

    minute.passes(0.12, 0.003)

    ((_, lost),) = minute.reports
    assert (lost.device_id, lost.device_family, lost.gaps) == ("049D", "arm", 2)
    assert lost.longest_s == 0.12
    assert (lost.interrupted_s, lost.force_lost, lost.window_s) == pytest.approx((0.1, 0.1, 1.0))


def test_permanent_gaps_are_reported_once_a_minute() -> None:
    minute = Minute()
    for second in range(200):
        minute.passes(0.05, 0.09 if second == 30 else 0.04)

    assert [second for second, _ in minute.reports] == [2, 62, 122, 182]
    later = minute.reports[1][1]
    assert (later.gaps, later.window_s, later.longest_s) == (120, 60.0, 0.09)
    assert later.force_lost == pytest.approx(minute.reports[2][1].force_lost, rel=0.1)


@pytest.mark.parametrize(
    "lengths", [(), (0.003,) * 50, (0.02,)], ids=["no gap", "short gaps", "gap as long as an order is kept"]
)
def test_nothing_is_reported_without_a_loss(lengths: tuple[float, ...]) -> None:
    minute = Minute(fifo=False)
    for _ in range(200):
        minute.passes(*lengths)

    assert minute.reports == []


def test_gaps_without_force_are_not_reported() -> None:
    minute = Minute(fifo=False)
    for _ in range(200):
        minute.passes(0.5, force_s=0.0)

    assert minute.reports == []


def test_loss_after_a_quiet_time_is_reported_at_once_over_its_second() -> None:
    minute = Minute()
    for _ in range(300):
        minute.passes()
    minute.passes(0.52)

    ((_, lost),) = minute.reports
    assert (lost.window_s, lost.force_lost) == pytest.approx((1.0, 0.5))


def test_loss_soon_after_a_report_waits_for_the_minute() -> None:
    minute = Minute()
    minute.passes(0.1)
    minute.passes(0.2)
    for _ in range(100):
        minute.passes()

    assert [(second, lost.longest_s) for second, lost in minute.reports] == [(2, 0.1), (62, 0.2)]


def test_first_reading_reports_no_earlier_loss() -> None:
    watch = InterruptionWatch()
    old = with_gaps(GapCounters(), 0.5)

    assert watch.step(Reading(0, counters(), {"049D": DeviceGaps("arm", old)}), None) is None
    assert watch.step(Reading(NS_PER_S, counters(), {"049D": DeviceGaps("arm", old)}), None) == ()


def test_device_that_came_back_is_counted_from_zero() -> None:
    watch = InterruptionWatch()
    old, new = with_gaps(GapCounters(), 0.5, 0.5), with_gaps(GapCounters(), 0.12)
    watch.step(Reading(0, counters(), {"049D": DeviceGaps("arm", old)}), None)

    lost = watch.step(Reading(NS_PER_S, counters(), {"049D": DeviceGaps("arm", new)}), None)

    assert lost is not None
    assert (lost[0].gaps, lost[0].longest_s) == (1, 0.12)


def test_cause_comes_from_both_readings_of_the_processors() -> None:
    watch = InterruptionWatch()
    before = Reading(0, counters(fifo=1), {}, {"cpu0": Ticks(100, 0, 0)}, cpu=0)
    watch.step(before, None)
    after = replace(
        before,
        at_ns=NS_PER_S,
        devices={"049D": DeviceGaps("arm", with_gaps(GapCounters(), 0.12))},
        processors={"cpu0": Ticks(200, 10, 40)},
    )

    lost = watch.step(after, None)

    assert lost is not None
    assert lost[0].cause is GapCause.STOLEN_TIME


def test_gaps_while_ticks_are_left_out_have_that_cause_also_when_it_ended() -> None:
    watch = InterruptionWatch()
    watch.step(Reading(0, counters(), {}, tick_share=0.1), None)

    lost = watch.step(
        Reading(NS_PER_S, counters(), {"049D": DeviceGaps("arm", with_gaps(GapCounters(), 0.12))}),
        REPORT_PERIOD_NS * -1,
    )

    assert lost is not None
    assert lost[0].cause is GapCause.TICKS_LEFT_OUT


def test_longest_of_more_gaps_than_are_kept_is_at_least_its_bucket() -> None:
    first = with_gaps(GapCounters(), 0.9)
    many = with_gaps(first, 0.3, *[0.003] * (KEPT_GAPS + 5))

    assert longest_since(first, many) == 0.160
    assert longest_since(with_gaps(first, 0.3), many) == 0.003
    assert longest_since(many, many) == 0


def test_own_share_is_that_of_ticks_and_spinning() -> None:
    loop = counters(ticks=32_000, tick_seconds=1e-6, step_samples=1, margin=19e-6)
    began, now = Reading(0, counters(), {}, cpu=1), Reading(NS_PER_S, loop, {}, cpu=1)

    assert own_share(began, now) == pytest.approx(0.64)
    assert own_share(began, replace(now, cpu=None)) == 0


# ---------------------------------------------------------------- what is said

LOST = Interruption("049D", "arm", 60.0, 31, 0.084, 1.2, 0.04, GapCause.NO_PERMISSION)


def test_event_is_that_of_the_catalogue() -> None:
    event = interruption_event(LOST)
    row = EVENT_KINDS[event.kind]

    assert set(event.data) == row.keys(event.data)
    assert event.data == row.example.data
    assert event.message == row.example.message


def test_log_line_has_count_longest_share_and_cause() -> None:
    line = log_line([LOST])

    for words in ("arm 049D", "31 gaps", "84 ms", "4.0%", "no realtime permission"):
        assert words in line


def test_log_line_is_one_for_all_devices() -> None:
    assert log_line([LOST, LOST]).endswith("; 1 other device lost force too")
    assert log_line([LOST, LOST, LOST]).endswith("; 2 other devices lost force too")
    assert "\n" not in log_line([LOST, LOST])
