"""Reading the facts of a closing link returns at once: the timekeeper reads all links on one thread."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

from transport.link.protocols.openlink.driver import OpenlinkLink
from transport.link.protocols.openlink.host_fsm import HostFsm

TIMEOUT_S = 30.0
NOTHING = ("frames_in", "frames_bad", "orders", "bytes_in", "bytes_out", "zeros", "errors", "gone")


class SlowThread:
    """A port's thread whose end takes as long as the test wants; it takes no device once it is closing."""

    def __init__(self) -> None:
        self.closing = threading.Event()
        self.may_end = threading.Event()
        self.attached: list[int] = []
        self.closes = 0

    def counters(self) -> Any:
        return SimpleNamespace(**dict.fromkeys(NOTHING, 0))

    def attach(self, index: int, lease: object) -> None:
        del lease
        self.attached.append(index)

    def close(self) -> None:
        self.closes += 1
        self.closing.set()
        assert self.may_end.wait(TIMEOUT_S)


def test_facts_of_a_closing_link_return_at_once() -> None:
    thread = SlowThread()
    link = OpenlinkLink("p0", cast("Any", thread), cast("Any", None), HostFsm())
    closer = threading.Thread(target=link.close)
    seen: list[object] = []

    def look() -> None:
        seen.append(link.facts())
        link.start({})
        link.close()

    looker = threading.Thread(target=look, daemon=True)
    closer.start()
    try:
        assert thread.closing.wait(TIMEOUT_S)
        looker.start()
        looker.join(TIMEOUT_S)
        assert not looker.is_alive()
    finally:
        thread.may_end.set()
        closer.join(TIMEOUT_S)

    assert len(seen) == 1
    assert (thread.closes, thread.attached) == (1, [])
