"""Simulations of hands on virtual walls: random devices, the critical stiffness, and how long a wall oscillates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fastpath.testing.wall_trial import trial

if TYPE_CHECKING:
    from numpy.typing import NDArray

APPROACH_M: Final = 0.002
RAMP_S: Final = 0.4
BRISK_S: Final = 0.15
BRISK_N: Final = 2.0
BUZZ_MM_S: Final = 5.0
LOUD_MM_S: Final = 10.0
STEPS: Final = 5

# kg of the hand, N/m and N s/m of its grip, N/m and N s/m of the arm behind it
LIGHT: Final = (0.15, 300.0, 1.0, 60.0, 3.0)
MEDIUM: Final = (0.4, 800.0, 3.0, 150.0, 8.0)
FIRM: Final = (0.8, 2000.0, 8.0, 400.0, 15.0)


@dataclass(frozen=True, slots=True)
class Device:
    """Apparent mass (kg), viscous (N s/m) and Coulomb friction (N) of one axis, and what one encoder count is worth (m)."""

    mass: float
    viscous: float
    coulomb: float
    encoder_step: float


@dataclass(frozen=True, slots=True)
class Rates:
    """Ticks a second, every how many of them the client computes, and how old (ticks) the positions are that it has."""

    frequency: float = 1000.0
    client_every: int = 1
    delay: int = 1


INVERSE3_LIKE: Final = Device(0.20, 0.30, 0.15, 12e-6)
TOUCH_LIKE: Final = Device(0.045, 0.05, 0.10, 30e-6)
FALCON_LIKE: Final = Device(0.30, 1.0, 0.40, 60e-6)
PANTOGRAPH: Final = Device(0.10, 0.20, 0.10, 45e-6)


@dataclass(frozen=True, slots=True)
class Setup:
    """A device, the hand that holds it, the rates, and how hard the hand presses (N)."""

    device: Device = INVERSE3_LIKE
    hand: tuple[float, float, float, float, float] = LIGHT
    rates: Rates = Rates()
    press: float = 2.0

    def seconds(self, seconds: float) -> NDArray[np.float64]:
        """The time of each tick."""
        return np.arange(round(seconds * self.rates.frequency)) / self.rates.frequency

    def pressing(self, seconds: float, ramp: float = RAMP_S) -> NDArray[np.float64]:
        """Where the hand means to be: from 2 mm before the wall smoothly to where its arm presses so hard."""
        depth = self.press / self.hand[3]
        share = np.minimum(self.seconds(seconds) / ramp, 1)
        path: NDArray[np.float64] = -APPROACH_M + (depth + APPROACH_M) * share * share * (3 - 2 * share)
        return path

    def run(self, path: NDArray[np.float64], stiffness: float = 0.0, **other: Any) -> NDArray[np.void]:
        """One sample for each tick."""
        device = self.device
        return trial(
            (device.mass, device.viscous, device.coulomb),
            self.hand,
            path,
            frequency=self.rates.frequency,
            encoder_step=device.encoder_step,
            stiffness=stiffness,
            client_every=self.rates.client_every,
            delay=self.rates.delay,
            **other,
        )

    def buzzes(self, stiffness: float) -> bool:
        """Whether the hand keeps oscillating once it has gone briskly against the bare wall, with 2 N."""
        path = replace(self, press=BRISK_N).pressing(2.0, BRISK_S)
        return rms_mm_s(self.run(path, stiffness, filtered=False)["v"][path.size // 2 :]) > BUZZ_MM_S

    def critical_stiffness(self) -> float:
        """N/m at which a sustained oscillation starts, to 5 %."""
        low, high = 100.0, 200.0
        while high < 1e6 and not self.buzzes(high):
            low, high = high, 2 * high
        for _ in range(STEPS):
            middle = (low * high) ** 0.5
            low, high = (low, middle) if self.buzzes(middle) else (middle, high)
        return high


def random_setup(random: np.random.Generator) -> Setup:
    """Any device between a stylus and a stiff arm in one of the hands, at one of the usual rates, pressed softly or hard."""

    def between(low: float, high: float) -> float:
        return float(np.exp(random.uniform(np.log(low), np.log(high))))

    rates = (Rates(1000), Rates(2000), Rates(4000), Rates(4000, 4), Rates(1000, 4), Rates(2000, 2))
    chosen = rates[random.integers(len(rates))]
    hand = (LIGHT, MEDIUM, FIRM)[random.integers(3)]
    return Setup(
        Device(between(0.04, 0.4), between(0.05, 1.3), between(0.03, 0.4), between(10e-6, 63e-6)),
        hand,
        Rates(chosen.frequency, chosen.client_every, int(random.integers(1, 3))),
        float(random.uniform(0.5, 5.0)),
    )


def rms_mm_s(velocity: NDArray[np.float64]) -> float:
    """Root mean square of a velocity (m/s) in mm/s."""
    return 1000 * float(np.sqrt(np.mean(velocity**2))) if velocity.size else 0.0


def band_rms_mm_s(velocity: NDArray[np.float64], frequency: float, low: float = 5.0, high: float = 240.0) -> float:
    """As `rms_mm_s`, of what lies between two frequencies (Hz)."""
    if velocity.size == 0:
        return 0.0
    spectrum = np.abs(np.fft.rfft(velocity - velocity.mean())) ** 2
    bins = np.fft.rfftfreq(velocity.size, 1 / frequency)
    inside = spectrum[(bins >= low) & (bins <= high)].sum()
    return 1000 * float(np.sqrt(2 * inside)) / velocity.size


def first(condition: NDArray[np.bool_]) -> int | None:
    """Index of the first sample for which it holds."""
    found = np.flatnonzero(condition)
    return int(found[0]) if found.size else None
