"""Plot the figures of docs/force-path.md from runs of the real code: `python -m bench.haptics.pictures docs/img`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from bench.haptics.runs import bubble_speeds, hold, recovery, stage_times
from tests.support.loop.held_device import FREQUENCY, SECONDS, Pressed, described, press, streamed

WIDTH_IN: Final = 8.0
WIDE_IN: Final = 10.0
DOTS_PER_INCH: Final = 110
BARE: Final = "#c44e52"
HELD: Final = "#1f5a99"
GREY: Final = "#666666"


def wall() -> Figure:
    """Plot speed and force of a light hand on walls of twice and six times the critical stiffness, with and without the filter."""
    figure = Figure(figsize=(WIDE_IN, 6.0), layout="constrained")
    columns = figure.subplots(3, 2, sharex=True, sharey="row").T
    for (speed, force, gain), (ratio, times) in zip(columns, ((2, "twice"), (6, "six times")), strict=True):
        pressed = hold("arm", "light", ratio, seconds=2.5)
        held, bare = pressed.run(), pressed.run(filtered=False)
        time = np.arange(held.size) / 1000
        speed.set_title(f"A light hand presses 2 N on {pressed.stiffness:,.0f} N/m,\n{times} what it bears (1 kHz)")
        speed.plot(time, 1000 * bare["v"], color=BARE, lw=0.8, label="without the filter")
        speed.plot(time, 1000 * held["v"], color=HELD, lw=1.0, label="with the filter")
        force.plot(time, bare["command"], color=BARE, lw=0.8)
        force.plot(time, held["command"] * held["gain"], color=HELD, lw=1.0)
        gain.plot(time, held["gain"], color=HELD, lw=1.2)
        gain.set_ylim(0, 1.05)
        gain.set_xlabel("time, s")
        for axes in (speed, force, gain):
            axes.grid(alpha=0.3)
            axes.set_xlim(0, time[-1])
            for at in np.flatnonzero(np.diff(held["entries"])) / 1000:
                axes.axvline(at, color=GREY, lw=0.8, ls=":")
    speed, force, gain = columns[0]
    speed.set_ylabel("velocity, mm/s")
    speed.legend(loc="upper right", framealpha=1)
    force.set_ylabel("gain times command, N")
    gain.set_ylabel("gain of the filter")
    return figure


def stages() -> Figure:
    """Plot gain and stages after the end of an oscillation."""
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


def bubble() -> Figure:
    """Plot the scene's speed and the bubble's force against the hand's distance outside, as measured on the loop."""
    seen = bubble_speeds()
    figure = Figure(figsize=(WIDTH_IN, 6.6), layout="constrained")
    around, along = figure.subplots(2, 1, height_ratios=(3, 2))
    around.set_title("How fast the scene goes by, by where the hand is")
    grid = (seen["x"] % 10 == 0) & (seen["y"] % 10 == 0)
    x, y, vx, vy = (seen[name][grid] for name in ("x", "y", "vx", "vy"))
    flow = around.quiver(x, y, vx, vy, np.hypot(vx, vy), cmap="viridis", scale=9.0, width=0.003)
    figure.colorbar(flow, ax=around, label="speed of the scene, m/s")
    angle = np.linspace(0, 2 * np.pi, 200)
    for radius, style in ((50.0, "-"), (80.0, "--")):
        around.plot(radius * np.cos(angle), radius * np.sin(angle), style, color=GREY, lw=1.0)
    around.set_aspect("equal")
    around.set_xlabel("x from the centre, mm")
    around.set_ylabel("y from the centre, mm")
    ray = np.flatnonzero((seen["y"] == 0) & (seen["x"] >= 0))
    ray = ray[np.argsort(seen["x"][ray])]
    out = seen["x"][ray] - 50
    law = np.linspace(0, 30, 100)
    along.plot(law, 500 * (law / 30) ** 3, color=GREY, lw=3.0, alpha=0.4, label="0.5 m/s (d / 30 mm)³")
    along.plot(out, 1000 * seen["vx"][ray], "o", color=HELD, ms=4, label="speed of the scene, mm/s")
    along.set_ylabel("mm/s")
    along.set_xlabel("d, distance of the hand from the surface, mm (dead zone, velocity zone, wall)")
    push = along.twinx()
    push.plot(out, seen["force"][ray], color=BARE, lw=1.4, label="force back, N")
    push.set_ylabel("N")
    for border in (0.0, 30.0):
        along.axvline(border, color=GREY, lw=0.8, ls="--" if border else "-")
    along.set_xlim(-20, 40)
    along.grid(alpha=0.3)
    lines = [*along.get_lines()[:2], *push.get_lines()]
    along.legend(lines, [str(line.get_label()) for line in lines], loc="upper left", framealpha=1)
    return figure


def described_wall() -> Figure:
    """Plot how deep a pen goes into a wall that is described, and into the same one streamed, at rates of a client."""
    figure = Figure(figsize=(WIDTH_IN, 3.6), layout="constrained")
    depth = figure.subplots()
    depth.set_title("A light hand presses a pen with 5 N on a wall of 1,000 N/m")
    ways = (
        ("streamed at 20 Hz", streamed, 20.0, BARE),
        ("streamed at 60 Hz", streamed, 60.0, GREY),
        ("described, a message at 20 Hz", described, 20.0, HELD),
    )
    for text, client, rate, colour in ways:
        _, depths = press(Pressed("pen", "light", 5.0), client, rate)
        depth.plot(np.arange(len(depths)) / FREQUENCY, 1000 * np.array(depths), color=colour, lw=1.2, label=text)
    depth.axhline(0, color=GREY, lw=0.8, ls="--")
    depth.set_xlabel("time, s")
    depth.set_ylabel("depth in the wall, mm")
    depth.set_xlim(0, SECONDS)
    depth.grid(alpha=0.3)
    depth.legend(loc="upper right", framealpha=1)
    return figure


def main() -> None:
    """Plot all figures into the folder given on the command line."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img")
    folder.mkdir(parents=True, exist_ok=True)
    mpl.rcParams["font.family"] = "DejaVu Sans"
    pictures = (
        ("wall-with-and-without-filter", wall),
        ("stages-of-recovery", stages),
        ("velocity-map-of-a-bubble", bubble),
        ("wall-described-and-streamed", described_wall),
    )
    for name, draw in pictures:
        target = folder / f"{name}.png"
        draw().savefig(target, dpi=DOTS_PER_INCH, metadata={"Software": ""})
        print(target)


if __name__ == "__main__":
    main()
