"""The pacer of the C++ client paces and counts as that of the Python client, in times that the test makes up."""

from __future__ import annotations

import subprocess
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hapticd_client import LoopTooSlow
from hapticd_client.core.pacing import Pacer
from tests.clients.cpp.binaries import sanitized_program

Times = list[tuple[float, float, float]]
PARTS = st.tuples(*[st.sampled_from([0.0, 1e-6, 2e-4, 4e-4, 6e-4, 1e-3, 1.7e-3, 0.0123, 0.06, 1.0])] * 3)


def of_python(
    times: Times, rate: float, budget: float, misses: int, timeout: float
) -> tuple[list[list[float]], str, str]:
    """Numbers of each turn and of the end, the sentence that ended it, and the line of figures."""
    pacer = Pacer(rate, budget or None, "skip", misses or None, timeout)
    rows, said = list[list[float]](), ""
    try:
        for began, answered, ended in times:
            due = began + pacer.wait(began) if not rows else pacer._begun + pacer._slot * pacer.period
            turn = pacer.begin(began)
            pacer.answered(began, answered)
            rows.append([due, turn.number, turn.time, turn.dt, turn.late, turn.skipped, pacer.end(ended)])
    except LoopTooSlow as error:
        said = str(error)
    found = pacer.statistics()
    rows.append(
        [
            found.rate,
            found.turns,
            found.late,
            found.missed,
            found.round_trip_p50,
            found.round_trip_p99,
            found.longest_gap,
        ]
    )
    return rows, said, str(found)


@pytest.fixture(scope="module", autouse=True)
def is_compiled() -> None:
    sanitized_program()


@settings(max_examples=25)
@given(
    st.lists(PARTS, min_size=1, max_size=30),
    st.sampled_from([1000.0, 500.0, 4000.0, 7.0]),
    st.sampled_from([0.0, 5e-4, 1e-9]),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([0.05, 0.0]),
)
def test_turns_and_figures_are_those_of_the_python_client(
    parts: list[tuple[float, float, float]], rate: float, budget: float, misses: int, timeout: float
) -> None:
    flat = list(accumulate([100.0, *(part for three in parts for part in three)]))[1:]
    times = [(flat[i], flat[i + 1], flat[i + 2]) for i in range(0, len(flat), 3)]

    done = subprocess.run(
        [str(sanitized_program()), "-", "pacer", *map(repr, (rate, budget, misses, timeout))],
        input="".join(f"{began!r} {answered!r} {ended!r}\n" for began, answered, ended in times),
        capture_output=True,
        text=True,
        check=True,
    )

    rows, said, figures = of_python(times, rate, budget, misses, timeout)
    *lines, last = done.stdout.splitlines()
    if said:
        assert lines.pop(-2) == said
    assert [[float(word) for word in line.split()] for line in lines] == rows
    assert last == figures
