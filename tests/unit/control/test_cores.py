"""Choose the loop's processor from the machine's list of processors."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.control import cores
from actors.control.cores import Cores, choose, fifo_permitted, of_this_machine


def cpus(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


EIGHT = cpus(*range(8))
# Two threads on each of four cores: 0 and 4, 1 and 5, ...
TWINS = {cpu: cpus(cpu % 4, cpu % 4 + 4) for cpu in range(8)}
# Four slow processors, then four fast ones.
BIG_LITTLE = {cpu: 1024 if cpu >= 4 else 446 for cpu in range(8)}


@pytest.mark.parametrize("setting", ["auto", "none", "0", "7"])
def test_one_processor_is_shared(setting: str) -> None:
    assert choose(cpus(0), setting) == Cores(None, cpus(0))
    assert choose(cpus(3), setting) == Cores(None, cpus(3))


def test_of_two_processors_the_loop_gets_the_last() -> None:
    assert choose(cpus(0, 1)) == Cores(1, cpus(0))
    assert choose(cpus(2, 7)) == Cores(7, cpus(2))


def test_of_many_processors_the_loop_gets_the_last_and_the_rest_get_all_others() -> None:
    assert choose(EIGHT) == Cores(7, cpus(*range(7)))
    assert choose(cpus(1, 3, 5)) == Cores(5, cpus(1, 3))


def test_hyperthread_of_the_loop_s_processor_is_left_idle() -> None:
    assert choose(EIGHT, twins=TWINS) == Cores(7, EIGHT - {7, 3})
    assert choose(EIGHT, "0", twins=TWINS) == Cores(0, EIGHT - {0, 4})


def test_hyperthreads_are_shared_when_there_is_one_core() -> None:
    assert choose(cpus(0, 1), twins={0: cpus(0, 1), 1: cpus(0, 1)}) == Cores(1, cpus(0))


def test_the_loop_gets_the_last_of_the_fastest() -> None:
    assert choose(EIGHT, capacity=BIG_LITTLE) == Cores(7, EIGHT - {7})
    assert choose(EIGHT, capacity={cpu: 2 if cpu in {1, 2} else 1 for cpu in EIGHT}).loop == 2
    assert choose(cpus(0, 1, 2, 3), capacity=BIG_LITTLE).loop == 3


def test_a_processor_of_unknown_speed_counts_as_slow() -> None:
    assert choose(EIGHT, capacity={2: 1}).loop == 2


@pytest.mark.parametrize("number", range(8))
def test_configured_processor_is_used(number: int) -> None:
    assert choose(EIGHT, str(number), BIG_LITTLE) == Cores(number, EIGHT - {number})


@pytest.mark.parametrize("setting", ["8", "1023", "-1", "auto", "", "fast", "1.0", "0x1"])
def test_unavailable_configured_processor_counts_as_auto(setting: str) -> None:
    assert choose(EIGHT, setting) == Cores(7, EIGHT - {7})


def test_configuration_none_pins_nothing() -> None:
    assert choose(EIGHT, "none", BIG_LITTLE, TWINS) == Cores(None, EIGHT)


numbers = st.frozensets(st.integers(0, 15), max_size=16)


@given(
    numbers,
    st.sampled_from(["auto", "none", "3", "99"]),
    st.dictionaries(st.integers(0, 15), st.integers(0, 3)),
    st.dictionaries(st.integers(0, 15), numbers),
)
def test_every_thread_always_keeps_a_processor(
    allowed: frozenset[int], setting: str, capacity: dict[int, int], twins: dict[int, frozenset[int]]
) -> None:
    found = choose(allowed, setting, capacity, twins)

    assert found.rest <= allowed
    assert bool(found.rest) == bool(allowed)
    if found.loop is not None:
        assert found.loop in allowed
        assert found.loop not in found.rest
    else:
        assert found.rest == allowed


# ---------------------------------------------------------------- what the machine says


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0\n", [0]),
        ("0-3", [0, 1, 2, 3]),
        ("0,4\n", [0, 4]),
        ("0-1,4,6-7", [0, 1, 4, 6, 7]),
        ("", []),
        ("x", []),
        ("0-x", []),
        ("\n", []),
    ],
)
def test_kernel_cpu_list_is_parsed(tmp_path: Path, text: str, found: list[int]) -> None:
    (tmp_path / "list").write_text(text)

    assert sorted(cores._listed(tmp_path / "list")) == found


def test_missing_kernel_file_gives_nothing(tmp_path: Path) -> None:
    assert cores._listed(tmp_path / "none") == frozenset()
    assert cores._number(tmp_path / "none", 7) == 7


def test_kernel_number_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "n").write_text("3600000\n")
    assert cores._number(tmp_path / "n", 0) == 3_600_000
    (tmp_path / "n").write_text("unknown")
    assert cores._number(tmp_path / "n", 5) == 5


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with eight processors that grants realtime priority."""
    monkeypatch.setattr(cores, "_CPUS", tmp_path)

    def affinity(_pid: int) -> set[int]:
        return set(EIGHT)

    def permitted(priority: int) -> bool:
        return priority == 80

    monkeypatch.setattr(os, "sched_getaffinity", affinity)
    monkeypatch.setattr(cores, "fifo_permitted", permitted)
    return tmp_path


def describe(folder: Path, cpu: int, name: str, text: str) -> None:
    path = folder / f"cpu{cpu}" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_machine_without_topology_gives_its_last_processor(machine: Path) -> None:
    assert list(machine.iterdir()) == []
    assert of_this_machine("auto", 80) == Cores(7, EIGHT - {7})


def test_machine_with_hyperthreads_leaves_one_idle(machine: Path) -> None:
    for cpu in EIGHT:
        describe(machine, cpu, "topology/thread_siblings_list", f"{cpu % 4},{cpu % 4 + 4}\n")

    assert of_this_machine("auto", 80) == Cores(7, EIGHT - {7, 3})


@pytest.mark.parametrize("name", ["cpu_capacity", "cpufreq/cpuinfo_max_freq"])
def test_a_machine_with_slow_and_fast_processors_gives_a_fast_one(machine: Path, name: str) -> None:
    for cpu in EIGHT:
        describe(machine, cpu, name, "1024" if cpu < 2 else "446")

    assert of_this_machine("auto", 80).loop == 1


def test_capacity_precedes_frequency(machine: Path) -> None:
    for cpu in EIGHT:
        describe(machine, cpu, "cpu_capacity", "1024" if cpu == 2 else "446")
        describe(machine, cpu, "cpufreq/cpuinfo_max_freq", "5000000" if cpu == 6 else "1000000")

    assert of_this_machine("auto", 80).loop == 2


def test_without_realtime_priority_nothing_is_pinned(machine: Path) -> None:
    del machine
    assert of_this_machine("auto", 50) == Cores(None, EIGHT)
    assert of_this_machine("3", 50) == Cores(None, EIGHT)


def test_a_system_without_affinity_pins_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "os", SimpleNamespace())

    assert of_this_machine("auto", 80) == Cores(None, frozenset())


def test_priority_check_keeps_the_process_s_scheduling() -> None:
    before = os.sched_getscheduler(0)

    assert fifo_permitted(1) in {True, False}

    assert os.sched_getscheduler(0) == before


def test_refused_priority_raises_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)

    assert fifo_permitted(80) is False
