"""A program of a user: a wall until its standard input closes, with `python wall.py WAY`; checked by mypy --strict and pyright too."""

from __future__ import annotations

import asyncio
import os
import select
import sys

import numpy as np
from numpy.typing import NDArray

import hapticd_client as haptics

WALL_M = 1.0  # above the whole reach: it pushes always
STIFFNESS = 2.0


def push(position: NDArray[np.float64]) -> tuple[float, float, float]:
    """The force of the wall, N."""
    return 0.0, 0.0, max(0.0, STIFFNESS * float(WALL_M - position[2]))


def told(name: str) -> bool:
    """Say once that the force is felt; return whether the program shall end."""
    if name not in SAID:
        SAID.add(name)
        print(name, flush=True)
    return bool(select.select([sys.stdin], [], [], 0)[0])


SAID: set[str] = set()


def blocking() -> None:
    """The wall with a blocking service object."""
    with haptics.connect(on_reconnect=returned if "reconnect" in sys.argv else "raise") as service:
        arm: haptics.Device = service.arm
        for turn in service.loop(rate=500, max_force=3.0):
            arm.force = push(arm.position)
            if arm.force[2] > 0 and told(f"pushing in session {service.session_id}"):
                break
            if turn.withheld and told("held back"):
                break
        figures: haptics.LoopStatistics = service.loop_statistics
    print(figures)


def returned(service: haptics.Service) -> None:
    """Say that the service is back."""
    told(f"returned as session {service.session_id}, {service.status}")


async def asynchronous() -> None:
    """The wall with an asyncio service object."""
    async with haptics.aio.connect() as service:
        arm: haptics.aio.Device = service.arm
        async for _ in service.loop(rate=500, max_force=3.0):
            arm.force = push(arm.position)
            if arm.force[2] > 0 and told(f"pushing in session {service.session_id}"):
                break
        figures: haptics.LoopStatistics = service.loop_statistics
    print(figures)


if __name__ == "__main__":
    assert os.environ["HAPTICD_URL"]
    if "asyncio" in sys.argv:
        asyncio.run(asynchronous())
    else:
        blocking()
