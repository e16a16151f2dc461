"""A service whose time stands still: it goes on by steps alone, and the same steps give the same numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import hapticd_client as haptics
from hapticd_client import Refused, testing
from tests.emulators.hapi import HapiBoard
from tests.emulators.pty_port import PtyPort
from tests.support.service.process import RunningService

RATE = 4000
MECHANISM = "2diy-plastic"


@pytest.fixture(scope="module")
def running() -> Iterator[testing.TestService]:
    with testing.service(simulate="arm", stepped=True) as service:
        yield service


@pytest.fixture
def service(running: testing.TestService) -> Iterator[haptics.Service]:
    with running.connect() as connected:
        yield connected


def test_time_goes_on_by_steps_alone(service: haptics.Service) -> None:
    before = service.step()

    assert service.step(RATE) == pytest.approx(before + 1)
    assert service.step() == pytest.approx(before + 1 + 1 / RATE)


def test_force_is_in_effect_at_the_next_tick_and_fades_in_this_time_only(service: haptics.Service) -> None:
    arm = service.arm
    for _ in range(10):
        arm.force = 0, 0, 0.5
        service.step(100)
    assert arm.force[2] == 0.5

    arm.force = 0, 0, 0.5
    service.step(RATE)  # far longer than a command lives
    assert arm.force[2] == 0


def test_same_steps_give_the_same_numbers(service: haptics.Service) -> None:
    arm = service.arm

    def pushed() -> list[float]:
        # A new one: where a hand rests depends on its way there.
        service.remove_simulated(arm.id)
        service.step()
        service.add_simulated("arm", arm.id)
        arm.simulate(hand={"position": {"x": 0, "y": -0.12, "z": 0.1}})
        service.step(RATE)
        arm.resume()
        found = []
        for _ in range(20):
            arm.force = 0, 0, 0.5
            service.step(40)
            found.append(float(arm.position[2]))
        return found

    first = pushed()

    assert first[-1] > first[0]
    assert pushed() == first


def test_device_is_ready_at_the_end_of_the_steps_in_which_it_settles(service: haptics.Service) -> None:
    arm = service.arm
    for _ in range(20):
        service.remove_simulated(arm.id)
        service.step()
        service.add_simulated("arm", arm.id)
        service.step(RATE)
        arm.resume()
        arm.force = 0, 0, 0.5
        service.step(40)
        assert arm.ready
        assert arm.force[2] == 0.5


def test_loop_that_runs_by_itself_is_not_stepped() -> None:
    with (
        testing.service(simulate="arm") as real,
        real.connect() as service,
        pytest.raises(Refused, match="runs by itself"),
    ):
        service.step()


def test_asyncio_twin_steps_too(running: testing.TestService) -> None:
    async def run() -> float:
        async with running.connect_aio() as service:
            before = await service.step()
            return await service.step(RATE) - before

    assert asyncio.run(run()) == pytest.approx(1)


def test_no_port_is_opened_where_time_stands_still(tmp_path: Path) -> None:
    with PtyPort(HapiBoard(MECHANISM), link=tmp_path / "ttyACM7") as port:
        settings = {"devices/hapi/ports": f"{port.path}={MECHANISM}", "simulation/stepped": True}
        with RunningService(simulate="arm", settings=settings, state_dir=tmp_path / "state") as service:
            status, found = service.request("POST", "/simulation/steps", {"ticks": 32_000})
            assert status == 200, found
            assert service.request("GET", "/devices")[1].get("compact", []) == []
        assert port.last == b""
