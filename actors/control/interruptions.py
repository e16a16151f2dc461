"""Rules for reports of lost force: what each device lost in a window, at most one report a minute, the first one at once. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from actors.control.gap_cause import ADVICE, likely_cause, processor_use
from actors.control.messages import GapCause, GapCounters, Interruption, LoopCounters, lost_share
from actors.control.processor_times import ProcessorTimes
from actors.event.messages import Emit
from actors.kit.clock import NS_PER_S
from fastpath.layout.constants import FIRST_GAP_NS

REPORT_PERIOD_NS: Final = 60 * NS_PER_S
FIRST_BOUND_S: Final = FIRST_GAP_NS * 1e-9
NO_GAPS: Final = GapCounters()


class DeviceGaps(NamedTuple):
    """Gaps of one device in a reading."""

    family: str
    counters: GapCounters


@dataclass(frozen=True, slots=True)
class Reading:
    """What gaps and their causes are found from, at one time."""

    at_ns: int  # service clock
    loop: LoopCounters
    devices: Mapping[str, DeviceGaps]  # by device id
    processors: ProcessorTimes | None = None
    tick_share: float = 1.0  # share of ticks that run
    cpu: int | None = None  # processor of the loop, None: not pinned


@dataclass(slots=True)
class InterruptionWatch:
    """Compares readings. A window ends with each reading, or a minute after a report; nothing lost gives no report."""

    _began: Reading | None = None
    _newest: Reading | None = None
    _longest_s: dict[str, float] = field(default_factory=dict[str, float])

    def step(self, now: Reading, reported_ns: int | None) -> tuple[Interruption, ...] | None:
        """Return what was lost in the window that ends now, () for nothing; None while the window goes on."""
        began, newest, self._newest = self._began, self._newest, now
        if began is None or newest is None:
            self._began = now
            return None
        for device_id, (_, counters) in now.devices.items():
            longest_s = longest_since(_before(newest, device_id, counters), counters)
            self._longest_s[device_id] = max(longest_s, self._longest_s.get(device_id, 0.0))
        if reported_ns is not None and now.at_ns - reported_ns < REPORT_PERIOD_NS:
            return None
        lost = interruptions(began, now, self._longest_s)
        self._began, self._longest_s = now, {}
        return lost


def interruptions(began: Reading, now: Reading, longest_s: Mapping[str, float]) -> tuple[Interruption, ...]:
    """Return the devices that lost force between two readings, the one that lost most first."""
    cause = cause_between(began, now)
    found: list[Interruption] = []
    for device_id, (family, counters) in now.devices.items():
        then = _before(began, device_id, counters)
        interrupted_s = counters.interrupted_s - then.interrupted_s
        if interrupted_s > 0:
            found.append(
                Interruption(
                    device_id,
                    family,
                    window_s=(now.at_ns - began.at_ns) / NS_PER_S,
                    gaps=counters.gaps - then.gaps,
                    longest_s=longest_s.get(device_id, 0.0),
                    interrupted_s=interrupted_s,
                    force_lost=lost_share(interrupted_s, counters.force_s - then.force_s),
                    cause=cause,
                )
            )
    return tuple(sorted(found, key=lambda one: one.force_lost, reverse=True))


def cause_between(began: Reading, now: Reading) -> GapCause:
    """Return the likely cause of gaps and late ticks between two readings."""
    return likely_cause(
        tick_share=min(began.tick_share, now.tick_share),
        fifo=now.loop.fifo,
        use=processor_use(began.processors, now.processors, now.cpu),
        own_share=own_share(began, now),
    )


def longest_since(then: GapCounters, now: GapCounters) -> float:
    """Return the longest gap (s) since `then`: exact for the newest ones, else at least the bound of its bucket; 0 without any."""
    kept = len(now.lengths_s)
    longest_s = max((now.lengths_s[n % kept] for n in range(max(then.gaps, now.gaps - kept), now.gaps)), default=0.0)
    if now.gaps - then.gaps > kept:
        counts = then.buckets or (0,) * len(now.buckets)
        highest = max(
            (b for b, (was, count) in enumerate(zip(counts, now.buckets, strict=True)) if count > was), default=0
        )
        longest_s = max(longest_s, FIRST_BOUND_S * 2.0 ** (highest - 1) if highest else 0.0)
    return longest_s


def own_share(began: Reading, now: Reading) -> float:
    """Return the share of its processor that the pinned loop takes: ticks and the spinning before them; 0 if it is not pinned."""
    elapsed_s = (now.at_ns - began.at_ns) / NS_PER_S
    if now.cpu is None or elapsed_s <= 0:
        return 0.0
    tick_s = now.loop.tick_seconds / max(now.loop.step_samples, 1)
    return (now.loop.ticks - began.loop.ticks) / elapsed_s * (tick_s + now.loop.margin)


def interruption_event(lost: Interruption) -> Emit:
    """Return the event of a device that lost force."""
    data = {"device_id": lost.device_id, "device_family": lost.device_family, **interruption_data(lost)}
    return Emit("device-force-interrupted", data, sentence(lost))


def interruption_data(lost: Interruption) -> dict[str, object]:
    """Return what an event and `/readyz` show of an interruption, without the device."""
    shown = _shown(lost.interrupted_s, lost.force_lost, lost.gaps, lost.longest_s)
    return {**shown, "window_s": round(lost.window_s, 3), "cause": str(lost.cause)}


def gap_data(counters: GapCounters) -> dict[str, object]:
    """Return what `/devices` shows of a device's gaps since it connected."""
    return _shown(counters.interrupted_s, counters.force_lost, counters.gaps, counters.longest_s)


def log_line(lost: Sequence[Interruption]) -> str:
    """Return one line for all devices that lost force; the first one is told whole."""
    others = len(lost) - 1
    return sentence(lost[0]) + (f"; {others} other device{'s' if others > 1 else ''} lost force too" if others else "")


def sentence(lost: Interruption) -> str:
    """Return what a device lost and the likely cause, with what to do."""
    return (
        f"{lost.device_family} {lost.device_id} was without its force for {lost.interrupted_s:.3f} s of {lost.window_s:.0f} s"
        f" ({lost.force_lost:.1%} of the time with force): {lost.gaps} gap{'s' if lost.gaps > 1 else ''} of the control loop,"
        f" the longest {lost.longest_s * 1e3:.0f} ms; likely cause: {ADVICE[lost.cause]}"
    )


def _shown(interrupted_s: float, force_lost: float, gaps: int, longest_s: float) -> dict[str, object]:
    return {
        "interrupted_s": round(interrupted_s, 6),
        "force_lost": round(force_lost, 6),
        "gaps": gaps,
        "longest_ms": round(longest_s * 1e3, 3),
    }


def _before(reading: Reading, device_id: str, counters: GapCounters) -> GapCounters:
    """Return the counters of a device in an earlier reading; zero for a device that came, or came back, since."""
    found = reading.devices.get(device_id)
    if found is None or found.counters.gaps > counters.gaps or found.counters.force_s > counters.force_s:
        return NO_GAPS
    return found.counters
