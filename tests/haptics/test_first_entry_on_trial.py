"""A first entry that nothing confirms gives the whole force back: drawn runs of rightful use that the filter takes, of the seeds of tuning."""

from __future__ import annotations

from typing import Final

import pytest

from bench.haptics.judging import answer
from bench.haptics.seeds import Use
from bench.haptics.sets import Job, draw

BACK_S: Final = 0.5
# Without the trial the damping of the first entry stays, and the error lasts for 1.9 and 2.3 s.
TAKEN: Final = [("handing over", 384), ("pulses", 660)]


@pytest.mark.parametrize(("name", "seed"), TAKEN)
def test_run_that_is_taken_once_has_its_whole_force_back_within_half_a_second(name: str, seed: int) -> None:
    contact = draw(Job("rightful", name, seed, Use.TUNING, (), signals=False))
    run, bare = contact.run("filter"), contact.run()

    found = answer(run, bare)

    assert found.entries > 0
    assert found.error_seconds < BACK_S
