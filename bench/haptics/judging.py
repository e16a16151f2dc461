"""What a run did: whether its motion is an oscillation that the rendered force feeds, when it began, and what a filter did to it.

An oscillation moves by more than 10 mm/s rms in 2 to 400 Hz in both halves of the last two seconds, the force that was really
applied does net positive work on it, and the work that sampling, delay and encoder add is the largest source: larger than what
hands put in, and than what the same laws would give without delay, or play. `samples` are those of `contact_trial` without a filter.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fastpath.testing.contact_trial import SAMPLE_RATE

LOUD_MM_S: Final = 10.0
LOWEST_HZ: Final = 2.0
HIGHEST_HZ: Final = 400.0
SETTLED_MS: Final = 1000
ONSET_W: Final = 0.015
LOST_N: Final = 0.01
# A force error has ended when over so many ms it stays below this share of the force.
ERROR_MS: Final = 100
ERROR_SHARE: Final = 0.1
KEPT: Final = 0.8

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """An unfiltered run."""

    oscillates: bool
    frequency: float  # Hz, the largest part of the spectrum of velocity
    speed: float  # mm/s rms in the band
    fed: float  # W, of the applied force on the motion in the band
    excess: float  # W, that sampling, delay and encoder add
    given: float  # W, of the hands
    onset: int | None  # ms of the end of the first half-cycle of 15 mW


@dataclass(frozen=True, slots=True)
class Answered:
    """What a filter, or a reference in its place, did to a contact."""

    found: int | None  # ms of the first entry
    entries: int
    lost: float  # share of the commanded force that did not reach the motors
    error: float  # force error: rms of what was put out beside or instead of the command, over the command's rms
    error_after: float  # the same from the first entry on; 0 without one
    error_seconds: float  # s from the first entry until the error over 100 ms stays below a tenth; 0 without one
    speed: float  # mm/s rms in the band, last second
    unfiltered: float  # the same without the filter
    still_fed: (
        bool  # in the last second it still moves as an oscillation does: loud, and fed by sampling and delay above all
    )


def feeds(samples: NDArray[np.void]) -> bool:
    """Return whether sampling, delay and encoder give the motion more than the hands do, and than the laws would without them."""
    excess, given, fed = (float(samples[name].mean()) for name in ("excess", "given", "fed"))
    return excess > max(given, fed - excess, 0)


def band(values: Array, low: float = LOWEST_HZ, high: float = HIGHEST_HZ) -> Array:
    """Return what lies between two frequencies (Hz); one row for each ms."""
    spectrum = np.fft.rfft(values - values.mean(axis=0), axis=0)
    hertz = np.fft.rfftfreq(len(values), 1 / SAMPLE_RATE)
    spectrum[(hertz < low) | (hertz > high)] = 0
    return np.fft.irfft(spectrum, len(values), axis=0)


def above(values: Array, low: float) -> Array:
    """Return what a causal second-order Butterworth high-pass of this corner (Hz) lets through; one value for each ms."""
    w = np.tan(np.pi * low / SAMPLE_RATE)
    n = 1 / (1 + np.sqrt(2) * w + w * w)
    back = np.exp(-2j * np.pi * np.fft.rfftfreq(2 * len(values)))
    passed = n * (1 - back) ** 2 / (1 + 2 * (w * w - 1) * n * back + (1 - np.sqrt(2) * w + w * w) * n * back**2)
    return np.fft.irfft(np.fft.rfft(values, 2 * len(values)) * passed, 2 * len(values))[: len(values)]


def rms(values: Array) -> float:
    """Return the root mean square of the length of the rows."""
    return float(np.sqrt(np.mean(np.sum(values * values, axis=1))))


def main_frequency(velocity: Array) -> float:
    """Return the frequency (Hz) of the largest part of the spectrum over all axes."""
    window = np.hanning(len(velocity))[:, None]
    spectrum = np.sum(np.abs(np.fft.rfft(window * velocity, 4 * len(velocity), axis=0)) ** 2, axis=1)
    return float(np.fft.rfftfreq(4 * len(velocity), 1 / SAMPLE_RATE)[int(np.argmax(spectrum))])


def main_direction(velocity: Array) -> Array:
    """Return the unit vector along which the motion is largest."""
    return np.asarray(np.linalg.eigh(velocity.T @ velocity)[1][:, -1])


def first_loud(force: Array, velocity: Array) -> int | None:
    """Return the ms at which the first half-cycle of velocity ends whose power, half of peak force by peak speed, is 15 mW."""
    ends = np.flatnonzero(np.diff(np.signbit(velocity))) + 1
    for begin, end in pairwise(ends):
        if 0.5 * np.abs(force[begin:end]).max() * np.abs(velocity[begin:end]).max() >= ONSET_W:
            return int(end)
    return None


def judge(samples: NDArray[np.void]) -> Judged:
    """Return what an unfiltered run is."""
    late = samples[SETTLED_MS:]
    moved = band(late["v"])
    half = len(moved) // 2
    frequency = main_frequency(moved)
    fed = float(np.mean(np.sum(band(late["force"]) * moved, axis=1)))
    excess, given = float(late["excess"].mean()), float(late["given"].mean())
    loud = min(rms(moved[:half]), rms(moved[half:])) > 1e-3 * LOUD_MM_S
    oscillates = loud and fed > 0 and feeds(late)
    onset = None
    if oscillates:
        along, low = main_direction(moved), min(8.0, 0.5 * frequency)
        onset = first_loud(above(samples["force"] @ along, low), above(samples["v"] @ along, low))
    return Judged(oscillates, frequency, 1000 * rms(moved), fed, excess, given, onset)


def sustains(samples: NDArray[np.void]) -> bool:
    """Return whether a run that was left alone (`Contact.left_alone`) moves on by itself: loud, fed and not decaying at its end."""
    excess, given = samples["excess"][-SAMPLE_RATE:].mean(), samples["given"][-SAMPLE_RATE:].mean()
    late = band(samples["v"])[-SAMPLE_RATE:]
    before, after = rms(late[: SAMPLE_RATE // 2]), rms(late[SAMPLE_RATE // 2 :])
    return bool(excess > max(given, 0) and after > max(1e-3 * LOUD_MM_S, KEPT * before))


def force_error(samples: NDArray[np.void]) -> float:
    """Return the rms of |output - asked| over the rms of what was asked; 0 where nothing that is felt was."""
    asked = rms(samples["asked"])
    return rms(samples["output"] - samples["asked"]) / asked if asked > LOST_N else 0.0


def seconds_of_error(samples: NDArray[np.void]) -> float:
    """Return the time (s) until the force error over ERROR_MS stays below ERROR_SHARE of the rms of what was asked; at most the whole."""
    square = np.sum((samples["output"] - samples["asked"]) ** 2, axis=1)
    summed = np.concatenate(([0.0], np.cumsum(square)))
    window = min(ERROR_MS, len(square))
    bound = window * (ERROR_SHARE * max(rms(samples["asked"]), LOST_N)) ** 2
    late = np.flatnonzero(summed[window:] - summed[:-window] > bound)
    return float(late[-1] + window) / SAMPLE_RATE if late.size else 0.0


def answer(samples: NDArray[np.void], unfiltered: NDArray[np.void]) -> Answered:
    """Return what was done to a contact, from its run with a filter and without."""
    entered = np.flatnonzero(samples["entries"] > 0)
    commanded = np.linalg.norm(samples["command"], axis=1)
    acts = commanded > LOST_N
    lost = 1 - np.linalg.norm(samples["output"][acts], axis=1).sum() / commanded[acts].sum() if acts.any() else 0.0
    last = samples[-SAMPLE_RATE:]
    speed = 1000 * rms(band(last["v"]))
    after = samples[int(entered[0]) :] if entered.size else None
    return Answered(
        int(entered[0]) if entered.size else None,
        int(samples["entries"][-1]),
        float(max(lost, 0.0)),
        force_error(samples),
        0.0 if after is None else force_error(after),
        0.0 if after is None else seconds_of_error(after),
        speed,
        1000 * rms(band(unfiltered["v"][-SAMPLE_RATE:])),
        speed > LOUD_MM_S and feeds(last),
    )
