"""Published values: replacement and version are read together."""

from __future__ import annotations

import threading

from actors.kit.published import Published


def test_a_replacement_is_seen_and_counted() -> None:
    view = Published[tuple[str, ...]](("a",))
    assert (view.value, view.version) == (("a",), 0)
    view.replace(("a", "b"))
    assert (view.value, view.version) == (("a", "b"), 1)


def test_value_and_version_are_read_consistently() -> None:
    view = Published(0)
    done = threading.Event()

    def write() -> None:
        for number in range(1, 20_001):
            view.replace(number)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        version, value = view.versioned
        assert version == value
    writer.join()
    assert view.versioned == (20_000, 20_000)
