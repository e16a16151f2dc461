"""Tables of the oscillation filter, `make bench-haptics`: detection, false alarms, known walls, holds, recovery."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.haptics.runs import DEVICES, HANDS, hold, recovery, stage_times
from tests.haptics.test_no_false_alarms import (
    free_motion,
    grating,
    of_power,
    press,
    tapping,
    transients,
    tremor,
    vibration,
)
from tests.support.loop.walls import LOUD_MM_S, Rates, Setup, band_rms_mm_s, first, random_setup, rms_mm_s

SEED: Final = 7
PLANTS: Final = 300
PUT_ON_WALLS: Final = 200
RATIOS: Final = (1.5, 2.0, 3.0, 5.0, 8.0)
SECONDS: Final = 3.0
AFTER_S: Final = 0.100
QUIET_MM_S: Final = 1.0

Population = Sequence[tuple[Setup, float]]
CLASSES: Final[tuple[tuple[str, Callable[[Setup, float, np.random.Generator], NDArray[np.void]]], ...]] = (
    ("free motion, 1 to 20 Hz", free_motion),
    ("texture, 250 Hz, 1 N", vibration(lambda _: 250.0, lambda _setup, _f: 1.0)),
    ("texture, 100 Hz, 0.7 N", vibration(lambda _: 100.0, lambda _setup, _f: 0.7)),
    ("vibration, 20 to 300 Hz, 5 mW", vibration(lambda r: r.uniform(20, 300), of_power(0.005))),
    ("press, 0.15 of critical", press(0.15)),
    ("press, 0.3 of critical", press(0.3)),
    ("tremor, 0.3 of critical", tremor(0.3)),
    ("tapping, 0.3 of critical", tapping),
    ("taps with transients", transients),
    ("gratings", grating),
)


def population(plants: int = PLANTS) -> Population:
    """Return random setups, each with its critical stiffness (N/m)."""
    random = np.random.default_rng(SEED)
    setups = [random_setup(random) for _ in range(plants)]
    return [(setup, setup.critical_stiffness()) for setup in setups]


def detection(plants: Population) -> Iterable[str]:
    """Walls stiffer than critical: rate of detected oscillations, detection delay, attenuation."""
    latency: list[float] = []
    quieter: list[float] = []
    yield f"{'stiffness / critical':24}{'buzz':>6}{'found':>7}{'share':>8}"
    for ratio in RATIOS:
        loud_runs, found_runs = 0, 0
        for setup, critical in plants:
            path, frequency = setup.pressing(SECONDS), setup.rates.frequency
            bare = setup.run(path, ratio * critical, filtered=False)
            if rms_mm_s(bare["v"][path.size // 3 :]) <= LOUD_MM_S:
                continue
            loud_runs += 1
            held = setup.run(path, ratio * critical)
            found, hot = first(held["entries"] > 0), first(held["power"] >= 0.015)
            if found is None or hot is None:
                continue
            found_runs += 1
            latency.append(1000 * (found - hot) / frequency)
            after = found + round(AFTER_S * frequency)
            loud, quiet = (band_rms_mm_s(one["v"][after:], frequency) for one in (bare, held))
            if loud >= QUIET_MM_S:
                quieter.append(20 * np.log10(loud / max(quiet, 1e-9)))
        yield f"{ratio:<24}{loud_runs:6}{found_runs:7}{found_runs / max(loud_runs, 1):8.1%}"
    yield ""
    marks = (50, 90, 95, 99, 100)
    yield f"{'percentile':24}" + "".join(f"{mark:>8}" for mark in marks)
    yield f"{'latency, ms':24}" + "".join(f"{value:8.0f}" for value in np.percentile(latency, marks))
    marks = (50, 10, 5, 1, 0)
    yield f"{'percentile':24}" + "".join(f"{mark:>8}" for mark in marks)
    yield f"{'attenuation, dB':24}" + "".join(f"{value:8.1f}" for value in np.percentile(quieter, marks))


def legitimate(plants: Population) -> Iterable[str]:
    """Motions that are no oscillation: number of plants in which the filter acts by mistake."""
    yield f"{'class, 3 s each':34}{'runs':>6}{'acted':>7}"
    for name, run in CLASSES:
        random = np.random.default_rng(11)
        acted = sum(int(run(setup, critical, random)["entries"][-1] > 0) for setup, critical in plants)
        yield f"{name:34}{len(plants):6}{acted:7}"


def anchors() -> Iterable[str]:
    """Walls with a known outcome: an arm of 0.2 kg, a press of 2 N."""
    yield f"{'hand':8}{'Hz':>6}{'N/m':>8}{'bare mm/s':>11}{'15 mW at s':>12}{'found at s':>12}{'held mm/s':>11}{'entries':>9}"
    for name, stiffness, frequency in (
        ("light", 3000, 1000),
        ("light", 5000, 1000),
        ("light", 12000, 1000),
        ("medium", 5000, 1000),
        ("medium", 8000, 1000),
        ("medium", 20000, 1000),
        ("medium", 20000, 4000),
    ):
        setup = Setup(hand=HANDS[name], rates=Rates(frequency))
        path = setup.pressing(SECONDS)
        bare, held = setup.run(path, stiffness, filtered=False), setup.run(path, stiffness)
        hot, found = first(held["power"] >= 0.015), first(held["entries"] > 0)
        moved = [rms_mm_s(one["v"][path.size // 3 :]) for one in (bare, held)]
        texts = ["never" if at is None else f"{at / frequency:.3f}" for at in (hot, found)]
        entries = int(held["entries"][-1])
        yield f"{name:8}{frequency:6}{stiffness:8}{moved[0]:11.1f}{texts[0]:>12}{texts[1]:>12}{moved[1]:11.1f}{entries:9}"


def holds() -> Iterable[str]:
    """Ten seconds on walls of 2 and 6 times the critical stiffness, 1 kHz, 2 N."""
    yield f"{'device':16}{'hand':8}{'ratio':>6}{'critical N/m':>14}{'entries':>9}{'mm/s 0.5-10 s':>15}{'last gain':>11}"
    for device in DEVICES:
        for hand in HANDS:
            for ratio in (2, 6):
                wall = hold(device, hand, ratio)
                held = wall.run()
                quiet = rms_mm_s(held["v"][500:])
                entries, gain = int(held["entries"][-1]), float(held["gain"][-1])
                yield f"{device:16}{hand:8}{ratio:6}{wall.critical:14.0f}{entries:9}{quiet:15.1f}{gain:11.2f}"


def timeline() -> Iterable[str]:
    """Recovery: seconds from the end of an oscillation to each stage, and to a gain of 0.99."""
    seen, stop = recovery()
    reached = stage_times(seen, stop)
    free = first(seen["gain"][stop:] > 0.99)
    yield f"{'stage':16}" + "".join(f"{stage:>8}" for stage in reached)
    yield f"{'after s':16}" + "".join(f"{at:8.3f}" for at in reached.values())
    yield f"{'gain above 0.99':16}" + ("never" if free is None else f"{free / 1000:8.3f}")


def main() -> None:
    """Print every table."""
    begun = perf_counter()
    plants = population()
    rates = Counter(f"{s.rates.frequency:.0f}/{s.rates.frequency / s.rates.client_every:.0f}" for s, _ in plants)
    print(f"{len(plants)} random plants, loop/client Hz: " + ", ".join(f"{k} ({v})" for k, v in sorted(rates.items())))
    for title, lines in (
        ("Walls stiffer than critical", detection(plants[:PUT_ON_WALLS])),
        ("What is no oscillation", legitimate(plants)),
        ("Known walls", anchors()),
        ("Ten-second holds", holds()),
        ("Recovery", timeline()),
    ):
        print(f"\n{title}\n")
        for line in lines:
            print(f"  {line}".rstrip())
    print(f"\n{perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
