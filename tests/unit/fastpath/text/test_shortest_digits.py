"""Shortest digits of float32 against those of the C++ library: a part of them here, all of them in the soak."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.support.local.connection import ROOT, compiled

SOURCE = Path(__file__).with_name("shortest_digits.cpp")
FIRST, END = (int(np.float32(value).view(np.uint32)) for value in (1e-4, 1e7))
# prime: it meets the last bits of the fraction in every order
STEP = 1009


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("digits") / "compare"
    return compiled(SOURCE, target, "c++", f"-I{ROOT / 'fastpath/text'}")


@pytest.mark.parametrize("step", [STEP, pytest.param(1, marks=pytest.mark.soak)])
def test_digits_are_those_of_the_library(program: Path, step: int) -> None:
    done = subprocess.run([program, str(step)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, f"{len(range(FIRST, END, step))}\n")
