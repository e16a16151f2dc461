"""Wire cases: messages in and frames out as data, read from tests/wire/cases and played on a stepped service.

tests/wire/cases/README.md says what the fields of a case mean.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.inside import ServiceInside
from tests.support.peer import BINARY, Peer, encoded
from tests.support.polling import eventually
from tests.support.wire_frames import check_answer, check_frame, compare
from tests.support.wire_words import Object, Way

CASES: Final = Path(__file__).parents[1] / "wire" / "cases"
OF_DEVICE: Final = {
    "cursor_position": "position",
    "cursor_velocity": "velocity",
    "current_cursor_force": "force",
    "current_cursor_position": "target",
}


def read_cases(name: str) -> list[Object]:
    """The cases of one file."""
    found: list[Object] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def cases(*names: str) -> list[Any]:
    """Every case of some files, as parameters that are called after what the case says."""
    return [pytest.param(case, id=f"{name}: {case['says']}") for name in names for case in read_cases(name)]


def payload(case: Object, way: Way) -> tuple[bytes, int]:
    """Payload and opcode of the message of a case: `send`, `text`, `around`, `repeat`, or `hex`, which is always BINARY."""
    if "hex" in case:
        return bytes.fromhex(case["hex"]), BINARY
    if "text" in case:
        return str(case["text"]).encode(), way.opcode
    if "around" in case:
        left, right = case["around"]
        return str(left * case["times"] + right * case["times"]).encode(), way.opcode
    if "repeat" in case:
        parts: Object = case["repeat"]
        middle = ",".join([parts["part"]] * parts["times"])
        return str(parts["before"] + middle + parts["after"]).encode(), way.opcode
    return json.dumps(way.message(case["send"])).encode(), way.opcode


@dataclass(slots=True)
class Story:
    """Plays one case on a stepped service with the devices of the wire cases; session `a` is open from the start."""

    service: ServiceInside
    way: Way
    peers: dict[str, Peer] = field(default_factory=dict[str, Peer])
    ids: dict[str, int] = field(default_factory=dict[str, int])

    def play(self, case: Object) -> None:
        """Every step in order; at the end each session has got as many frames as it sent messages, and none more."""
        with ExitStack() as cleanup:
            self._open("a", {}, cleanup)
            for number, step in enumerate(case["story"], 1):
                try:
                    self._step(step, cleanup)
                except AssertionError as error:
                    error.add_note(f"step {number}: {json.dumps(step)}")
                    raise
            for peer in self.peers.values():
                peer.owes_nothing()
                peer.close()
        self.service.sessions_gone()

    def _step(self, step: Object, cleanup: ExitStack) -> None:
        if "open" in step:
            self._open(step["open"], step, cleanup)
        elif "close" in step:
            self._close(step["close"])
        elif "ticks" in step:
            self.service.step(step["ticks"])
        elif "seconds" in step:
            self.service.wait(step["seconds"])
        else:
            self._exchange(step)

    def _open(self, name: str, step: Object, cleanup: ExitStack) -> None:
        url = self.service.ws_v30 if self.way.version == "3.0" else self.service.ws
        query = {"vocabulary": self.way.vocabulary}
        if "resume" in step:
            query["session_id"] = str(self.ids[step["resume"]])
        peer = cleanup.enter_context(Peer(url, query))
        first = peer.frame()
        shown = check_frame(first, self.way)
        assert all("config" in entry for entry in shown.values())
        if "resume" in step:
            assert first["session_id"] == self.ids[step["resume"]]
        else:
            assert first["session_id"] not in self.ids.values()
        self._compare(step, shown)
        self.peers[name], self.ids[name] = peer, first["session_id"]

    def _close(self, name: str) -> None:
        """Forces end with the connection; the rest of the session ends when its actor hears of it."""
        session_id = self.ids[name]
        bridge = self.service.bridge
        self.peers.pop(name).close()
        eventually(lambda: self.service.on_edge(lambda: session_id not in bridge.channels), f"{name} is closed")
        table = self.service.system.sessions
        eventually(lambda: all(one.session_id != session_id for one in table.value.sessions), f"{name} has ended")

    def _exchange(self, step: Object) -> None:
        name = step.get("by", "a")
        peer = self.peers[name]
        peer.write(encoded(*payload(step, self.way)))
        frame = peer.frame()
        shown = check_frame(frame, self.way)
        assert frame["session_id"] == self.ids[name]
        check_answer(frame, shown, step, self.way)
        self._compare(step, shown)

    def _compare(self, step: Object, shown: Mapping[str, Object]) -> None:
        if "shows" in step:
            compare(step["shows"], shown, self._device_values)

    def _device_values(self, device_id: str, name: str) -> Mapping[str, float]:
        state = self.service.state(device_id)
        return dict(zip("xyz", map(float, state[OF_DEVICE[name]]), strict=True))
