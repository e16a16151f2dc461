"""Steady streaming: over 100,000 round trips the streaming thread allocates nothing and never asks for the interpreter."""

from __future__ import annotations

import shutil
import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.support.force_messages import force_messages
from bench.support.processes import ClientProcess
from tests.support.service.in_process_service import InProcessService
from tests.support.service.process import RunningService
from tests.support.service.ticks import metric

SOURCE: Final = Path(__file__).parents[1] / "support" / "service" / "count_calls.c"
TRIPS: Final = 100_000
CLIENTS: Final = 4
NATIVE: Final = {"communication/streaming/native": True}
MOST_BYTES: Final = 100_000  # of Python objects, however many round trips there are


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningService, NDArray[np.uint64]]]:
    """A service whose allocations are counted, and the counts: of the streaming thread, of all others; each allocations, locks, waits."""
    folder = tmp_path_factory.mktemp("counts")
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    library, counts = folder / "count_calls.so", folder / "counts"
    subprocess.run([compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    counts.write_bytes(bytes(48))
    with RunningService(
        settings=NATIVE, environment={"LD_PRELOAD": str(library), "COUNT_CALLS": str(counts)}
    ) as service:
        yield service, np.memmap(counts, dtype=np.uint64, mode="r", shape=(2, 3))


def stream(client: ClientProcess, messages: list[str]) -> int:
    """Drive the clients for at least so many round trips; how many they were."""
    done = 0
    while done < TRIPS:
        done += client.drive("some", messages, 0.2).trips
    return done


def test_streaming_thread_allocates_nothing_and_takes_no_lock(
    counted: tuple[RunningService, NDArray[np.uint64]],
) -> None:
    service, counts = counted
    with ClientProcess() as client:
        messages = force_messages(client.open("some", f"{service.ws}/", CLIENTS))
        # Until the streaming thread has all connections and every buffer has its size.
        client.drive("some", messages, 0.2)
        before = counts.copy()
        done = stream(client, messages)
        after = counts.copy()
        assert metric(service, "commands_received_total") >= done

    allocations, locks, waits = (after[0] - before[0]).tolist()
    assert (allocations, locks) == (0, 0)
    # The thread worked, and others do allocate: the counting works. Whether their locks are seen depends on how the interpreter was linked;
    # that the thread calls none of its functions is held by the check of the loop's symbols too.
    assert waits > done / 100
    assert after[1][0] > before[1][0]


def test_no_python_object_is_made_for_a_round_trip(tmp_path: Path) -> None:
    with InProcessService(tmp_path, settings=NATIVE) as service, ClientProcess() as client:
        messages = force_messages(client.open("some", f"{service.ws}/", CLIENTS))
        client.drive("some", messages, 0.2)
        tracemalloc.start()
        try:
            client.drive("some", messages, 0.2)
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            stream(client, messages)
            after, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    # What the event loop's timers make lives for a moment: neither what stays nor what was there at a time grows with the trips.
    assert after - before < MOST_BYTES
    assert peak - before < MOST_BYTES
