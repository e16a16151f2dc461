"""Loops within loops and after loops: each has its own limit, and one that has ended touches nothing of another."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

import hapticd_client as haptics
from hapticd_client import InvalidCommand, SessionClosed
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

ForceOf = Callable[[], float]
LIMIT = 0.25


def pushed(loop: Any, arm: haptics.Device, force: ForceOf) -> float:
    """The force that is felt after some turns of a loop in which 2 N are asked for."""
    felt = 0.0
    for _ in range(10):
        next(loop)
        arm.force = 0, 0, 2
        felt = force()
    return felt


def test_loop_within_a_loop_leaves_the_outer_one_its_limit(stepped: InProcessService, force: ForceOf) -> None:
    with haptics.connect(stepped.ws, http=stepped.http) as service:
        outer = service.loop(rate=1000, max_force=LIMIT)
        assert pushed(outer, service.arm, force) == LIMIT
        inner = service.loop(rate=1000)
        assert pushed(inner, service.arm, force) > LIMIT
        inner.close()
        assert service.loop_statistics.turns == 10
        assert pushed(outer, service.arm, force) == LIMIT
        assert service.loop_statistics.turns == 20
        outer.close()
        eventually(lambda: force() == 0, "zero", tries=12, pause_s=0)


def test_inner_loop_that_is_never_closed_leaves_the_outer_one_its_limit(
    stepped: InProcessService, force: ForceOf
) -> None:
    with haptics.connect(stepped.ws, http=stepped.http) as service:
        outer = service.loop(rate=1000, max_force=LIMIT)
        next(outer)
        inner = service.loop(rate=1000)
        next(inner)
        assert pushed(outer, service.arm, force) == LIMIT
        inner.close()
        assert pushed(outer, service.arm, force) == LIMIT
        outer.close()


def test_loop_that_was_left_and_ends_late_touches_nothing_of_the_next(
    stepped: InProcessService, force: ForceOf
) -> None:
    with haptics.connect(stepped.ws, http=stepped.http) as service:
        left = service.loop(rate=1000, max_force=1.0)
        next(left)
        loop = service.loop(rate=1000, max_force=LIMIT)
        assert pushed(loop, service.arm, force) == LIMIT
        left.close()
        assert force() == LIMIT
        assert pushed(loop, service.arm, force) == LIMIT
        loop.close()


def test_asyncio_loop_after_one_that_was_left_keeps_its_limit(stepped: InProcessService, force: ForceOf) -> None:
    async def run() -> list[float]:
        felt: list[float] = []
        async with haptics.aio.connect(stepped.ws, http=stepped.http) as service:
            async for _ in service.loop(rate=1000):
                break
            async for turn in service.loop(rate=1000, max_force=LIMIT):
                service.arm.force = 0, 0, 2
                felt.append(force())
                if turn.number == 10:
                    break
        return felt

    felt = asyncio.run(run())

    assert max(felt) == felt[-1] == LIMIT


@pytest.mark.parametrize("begin", ["loop", "asyncio loop"])
def test_what_was_assigned_before_a_loop_is_not_sent_by_it(
    stepped: InProcessService, force: ForceOf, begin: str
) -> None:
    async def turns() -> None:
        async with haptics.aio.connect(stepped.ws, http=stepped.http) as service:
            service.arm.force = 0, 0, 1
            async for turn in service.loop(rate=1000):
                assert force() == 0
                if turn.number == 5:
                    break

    if begin == "asyncio loop":
        asyncio.run(turns())
        return
    with haptics.connect(stepped.ws, http=stepped.http) as service:
        service.arm.force = 0, 0, 1
        loop = service.loop(rate=1000)
        for _ in range(5):
            next(loop)
            assert force() == 0
        loop.close()


def test_closed_service_has_no_loop(stepped: InProcessService) -> None:
    service = haptics.connect(stepped.ws, http=stepped.http)
    service.close()

    with pytest.raises(SessionClosed):
        next(service.loop(rate=1000))


@pytest.mark.parametrize(
    "arguments",
    [
        {"rate": "1000"},
        {"rate": math.nan},
        {"rate": 1e-300},
        {"rate": None},
        {"seconds": math.nan},
        {"seconds": -1},
        {"seconds": "1"},
        {"max_force": "3"},
        {"max_force": math.nan},
        {"max_force": math.inf},
        {"budget": "1"},
        {"stop_after_misses": "1"},
    ],
    ids=str,
)
def test_argument_of_a_loop_that_is_none_is_named(stepped: InProcessService, arguments: dict[str, Any]) -> None:
    (name,) = arguments
    with haptics.connect(stepped.ws, http=stepped.http) as service, pytest.raises(InvalidCommand, match=name):
        next(service.loop(**arguments))


@pytest.mark.parametrize(
    "value",
    [b"\0\0\5", "123", bytearray(b"123"), {0: 1, 1: 2, 2: 3}, {1.0, 2.0, 3.0}, ("1", "2", "3"), 5, None],
    ids=str,
)
def test_force_that_is_no_three_numbers_is_refused(stepped: InProcessService, value: Any) -> None:
    with haptics.connect(stepped.ws, http=stepped.http) as service:
        with pytest.raises(InvalidCommand, match="three"):
            service.arm.force = value
        assert not service.arm._points


def test_target_is_taken_back_with_none(stepped: InProcessService) -> None:
    with haptics.connect(stepped.ws, http=stepped.http) as service:
        service.arm.target_position = 0, -0.12, 0.135
        service.arm.target_angles = 0, 0, 0
        service.arm.target_position = service.arm.target_angles = None
        assert service.arm.target_position is None
        assert service.arm.target_angles is None
