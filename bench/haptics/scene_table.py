"""Measure a wall that is described beside the same wall streamed, and write the table into docs/scenes.md: `python -m bench.haptics.scene_table`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from bench.haptics.page_tables import placed
from tests.support.loop.distant_device import DistantDevice
from tests.support.loop.held_device import COMBINATIONS, described, press, settled, streamed

PAGE: Final = Path("docs/scenes.md")
NAME: Final = "figures of walls"
REST_MM_S: Final = 5.0


class Way(NamedTuple):
    """How a client makes the wall, and how often it sends (Hz)."""

    text: str
    client: Callable[[DistantDevice], Callable[[], None]]
    rate: float


WAYS: Final = (
    Way("described, a message at 20 Hz", described, 20.0),
    Way("streamed at 20 Hz", streamed, 20.0),
    Way("streamed at 60 Hz", streamed, 60.0),
    Way("streamed at 1 kHz", streamed, 1000.0),
)


def lines() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| Wall of 1,000 N/m | at rest | median | loudest | deepest |"
    yield "|---|---|---|---|---|"
    for way in WAYS:
        found = [press(one, way.client, way.rate) for one in COMBINATIONS]
        motion = sorted(settled(velocities) for velocities, _ in found)
        at_rest = sum(one <= REST_MM_S for one in motion)
        deepest = max(max(depths) for _, depths in found)
        yield (
            f"| {way.text} | {at_rest} of {len(motion)} | {motion[len(motion) // 2]:.2f} mm/s | {motion[-1]:.1f} mm/s | {1e3 * deepest:.1f} mm |"
        )


def main() -> None:
    """Measure, print the table, and write it."""
    table = list(lines())
    print("\n".join(table))
    PAGE.write_text(placed(PAGE.read_text(encoding="utf-8"), NAME, table), encoding="utf-8")


if __name__ == "__main__":
    main()
