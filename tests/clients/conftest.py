"""A stepped service, in which time stands still between steps, and the force that its arm gets."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.service.in_process_service import InProcessService


@pytest.fixture(scope="module")
def stepped() -> Iterator[InProcessService]:
    """The service with arm A001 and grip B001; the path of its state directory is short enough for a socket."""
    with (
        tempfile.TemporaryDirectory(prefix="hapticd-") as folder,
        InProcessService(Path(folder), stepping=True, local=True) as running,
    ):
        yield running


@pytest.fixture
def force(stepped: InProcessService) -> Callable[[], float]:
    """Step by two ticks, far less than any time-out, and return the force along z that the arm gets, N."""

    def look() -> float:
        stepped.step(2)
        found = [one for one in stepped.system.inventory.value.devices if one.device_id == "A001"]
        return round(float(stepped.state("A001")["force"][2]), 6) if found else 0.0

    return look
