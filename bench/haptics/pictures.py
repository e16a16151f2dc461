"""The pictures of docs/force-path.md, drawn from runs of the code that ships: `python -m bench.haptics.pictures docs/img`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from bench.haptics.runs import hold, recovery, stage_times

WIDTH_IN: Final = 8.0
DOTS_PER_INCH: Final = 110
BARE: Final = "#c44e52"
HELD: Final = "#1f5a99"
GREY: Final = "#666666"


def wall() -> Figure:
    """Speed and force of a light hand on a wall of twice the critical stiffness, with and without the filter."""
    pressed = hold("arm", "light", 2, seconds=3.0)
    held, bare = pressed.run(), pressed.run(filtered=False)
    time = np.arange(held.size) / 1000
    figure = Figure(figsize=(WIDTH_IN, 6.0), layout="constrained")
    speed, force, gain = figure.subplots(3, 1, sharex=True)
    speed.set_title(f"A light hand presses 2 N on a wall of {pressed.stiffness:,.0f} N/m, twice what it bears (1 kHz)")
    speed.plot(time, 1000 * bare["v"], color=BARE, lw=0.8, label="without the filter")
    speed.plot(time, 1000 * held["v"], color=HELD, lw=1.0, label="with the filter")
    speed.set_ylabel("velocity, mm/s")
    speed.legend(loc="upper right", framealpha=1)
    force.plot(time, bare["command"], color=BARE, lw=0.8)
    force.plot(time, held["command"] * held["gain"], color=HELD, lw=1.0)
    force.set_ylabel("force put out, N")
    gain.plot(time, held["gain"], color=HELD, lw=1.2)
    gain.set_ylabel("gain of the filter")
    gain.set_ylim(0, 1.05)
    gain.set_xlabel("time, s")
    for axes in (speed, force, gain):
        axes.grid(alpha=0.3)
        axes.set_xlim(0, time[-1])
    return figure


def stages() -> Figure:
    """Gain and stages after an oscillation has stopped."""
    seen, stop = recovery()
    time = (np.arange(seen.size) - stop) / 1000
    figure = Figure(figsize=(WIDTH_IN, 3.6), layout="constrained")
    gain = figure.subplots()
    gain.set_title("Recovery: the oscillation stops at 0 s, the push stays")
    steps = 0.12 ** (1 - seen["stage"] / 8)
    gain.step(time, steps, where="post", color=GREY, lw=0.9, label="gain of the stage")
    gain.plot(time, seen["gain"], color=HELD, lw=1.6, label="gain of the filter")
    gain.axvspan(time[0], 0, color=BARE, alpha=0.12, lw=0, label="oscillation of 15 Hz, 3 N")
    for stage, at in stage_times(seen, stop).items():
        level = 0.12 ** (1 - stage / 8)
        gain.annotate(
            f"{stage}" if stage < 8 else "free",
            (at, level),
            xytext=(-4, 4),
            textcoords="offset points",
            ha="right",
            color=GREY,
            fontsize=9,
        )
    gain.set_xlabel("time, s")
    gain.set_ylabel("gain")
    gain.set_xlim(time[0], 2.8)
    gain.set_ylim(0, 1.1)
    gain.grid(alpha=0.3)
    gain.legend(loc="lower right", framealpha=1)
    return figure


def main() -> None:
    """Draw all pictures into the folder that is named."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img")
    folder.mkdir(parents=True, exist_ok=True)
    mpl.rcParams["font.family"] = "DejaVu Sans"
    for name, draw in (("wall-with-and-without-filter", wall), ("stages-of-recovery", stages)):
        target = folder / f"{name}.png"
        draw().savefig(target, dpi=DOTS_PER_INCH, metadata={"Software": ""})
        print(target)


if __name__ == "__main__":
    main()
