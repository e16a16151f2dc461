"""Read and play wire cases: messages and frames, HTTP requests and answers, events, as JSON data.

tests/wire/cases/README.md says what the fields of a case mean.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from actors.device.messages import SimulatedSpec
from tests.support.clients.event_client import Event, EventClient
from tests.support.clients.exchange import Reply, exchange
from tests.support.clients.raw_websocket import BINARY, RawWebSocket, encode_frame
from tests.support.loop.readings import read_out
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from tests.support.wire.frames import Extras, check_answer, check_frame, compare
from tests.support.wire.json_match import check_match, matches, text_matches
from tests.support.wire.wire_variants import VARIANTS_BY_NAME, Object, WireVariant

# An error's body, all but its words.
REFUSED: Final = {"ok": False, "error": "", "data": None, "deprecation_warning": ""}
WIRE: Final = Path(__file__).parents[2] / "wire"
OF_DEVICE: Final = {
    "cursor_position": "position",
    "cursor_velocity": "velocity",
    "current_cursor_force": "force",
    "current_cursor_position": "target",
}


def read_cases(name: str, folder: str = "cases") -> list[Object]:
    """The cases of one file."""
    found: list[Object] = json.loads((WIRE / folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


def cases(*names: str, folder: str = "cases") -> list[Any]:
    """Every case of some files, as parameters that are called after what the case says."""
    return [pytest.param(case, id=f"{name}: {case['says']}") for name in names for case in read_cases(name, folder)]


def case_variants(*names: str) -> list[Any]:
    """Every case of some files in every way in which it makes sense: fewer if it says so, and bytes as BINARY alone."""
    return [
        pytest.param(case, way, id=f"{name}: {case['says']}-{way}")
        for name in names
        for case in read_cases(name)
        for way in VARIANTS_BY_NAME[case.get("ways", "all")]
        if way.opcode == BINARY or "hex" not in case
    ]


def payload(case: Object, way: WireVariant) -> tuple[bytes, int]:
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


@contextmanager
def stepped_service(
    folder: Path, devices: tuple[SimulatedSpec, ...], *, native: bool = True
) -> Generator[InProcessService]:
    """A service whose loop steps; `native`: the streaming thread answers what it can."""
    settings = {"communication/streaming/native": native}
    with InProcessService(folder, simulated=devices, stepping=True, settings=settings) as running:
        yield running


@dataclass(slots=True)
class CasePlayer:
    """Plays one wire case on a stepped service; session `a` is open from the start."""

    service: InProcessService
    way: WireVariant
    listener: EventClient | None = None
    peers: dict[str, RawWebSocket] = field(default_factory=dict[str, RawWebSocket])
    ids: dict[str, int] = field(default_factory=dict[str, int])
    extras: Extras = field(default_factory=Extras)

    def play(self, case: Object, *, opened: bool = True) -> None:
        """Every step in order; at the end each session has got as many frames as it sent messages, and none more."""
        heard = len(self.listener.events) if self.listener is not None else 0
        with ExitStack() as cleanup:
            if opened:
                self._open("a", {}, cleanup)
            for number, step in enumerate(case["story"], 1):
                try:
                    self._step(step, cleanup, heard)
                except AssertionError as error:
                    error.add_note(f"step {number}: {json.dumps(step, ensure_ascii=False)}")
                    raise
            for peer in self.peers.values():
                peer.check_nothing_unread()
                peer.close()
        self.service.wait_for_sessions()

    def _step(self, step: Object, cleanup: ExitStack, heard: int) -> None:
        if "open" in step:
            self._open(step["open"], step, cleanup)
        elif "close" in step:
            self._close(step["close"])
        elif "ticks" in step:
            self.service.step(step["ticks"])
        elif "seconds" in step:
            self.service.wait(step["seconds"])
        elif "set" in step:
            self._set(step["set"], cleanup)
        elif "ask" in step:
            self._ask(step)
        elif "hears" in step:
            self._hears(fill_session_ids(step["hears"], self.ids), heard, step)
        else:
            self._exchange(step)

    # ------------------------------------------------------------ sessions

    def _open(self, name: str, step: Object, cleanup: ExitStack) -> None:
        url = self.service.ws_v30 if self.way.version == "3.0" else self.service.ws
        query = {"vocabulary": self.way.vocabulary}
        if "resume" in step:
            query["session_id"] = str(self.ids[step["resume"]])
        peer = cleanup.enter_context(RawWebSocket(url, query))
        first = peer.frame()
        shown = check_frame(first, self.way, self.extras)
        assert all("config" in entry for entry in shown.values())
        if "resume" in step and not step.get("refused"):
            assert first["session_id"] == self.ids[step["resume"]]
        else:
            assert first["session_id"] not in self.ids.values()
        self._compare(step, shown)
        self.peers[name], self.ids[name] = peer, first["session_id"]
        if "profile" in step:
            assert "errors" not in peer.ask({"session": {"configure": {"profile": {"name": step["profile"]}}}})
            eventually(lambda: step["profile"] in self._profiles(), f"{name} has its profile", pause_s=0.002)

    def _profiles(self) -> list[str]:
        return [one.config.profile for one in self.service.system.sessions.value.sessions]

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
        peer.write(encode_frame(*payload(step, self.way)))
        text = peer.text().decode()
        for part in step.get("written", ()):
            assert part in text, f"{part} is not in {text}"
        frame = json.loads(text)
        shown = check_frame(frame, self.way, self.extras)
        assert frame["session_id"] == self.ids[name]
        if "frame" in step:
            check_match(step["frame"], frame)
        check_answer(frame, shown, step, self.way)
        self._compare(step, shown)

    def _compare(self, step: Object, shown: Mapping[str, Object]) -> None:
        if "shows" in step:
            compare(self.way.wanted(step["shows"]), shown, self._device_values)

    def _device_values(self, device_id: str, name: str, damped: Sequence[float] | None) -> Mapping[str, float]:
        state = self.service.state(device_id)
        values = state[OF_DEVICE[name]] if damped is None else -np.array(damped) * state["velocity"]
        return dict(zip("xyz", read_out(name, values), strict=True))

    # ------------------------------------------------------------ HTTP and events

    def _set(self, settings: Object, cleanup: ExitStack) -> None:
        """Set settings over HTTP; they are reset after the case."""
        for key, value in settings.items():
            reply = exchange(self.service.http, "POST", f"/settings/{key}", value)
            assert reply.status == 200, reply.json
            cleanup.callback(exchange, self.service.http, "DELETE", f"/settings/{key}")
            self.extras = self.extras.having(key, value)
            cleanup.callback(setattr, self, "extras", Extras())

    def _ask(self, step: Object) -> None:
        """One HTTP exchange, or as many as it takes if the answer comes `soon`."""
        if "soon" in step:
            asked = {name: value for name, value in step.items() if name != "soon"}
            eventually(lambda: self._answers(asked), f"the answer of {step['ask']}", pause_s=0.005, tries=2_000)
        else:
            self._ask_once(step)

    def _answers(self, step: Object) -> bool:
        try:
            self._ask_once(step)
        except AssertionError:
            return False
        return True

    def _ask_once(self, step: Object) -> None:
        """200 unless `status` says another."""
        method, _, path = fill_session_ids(step["ask"], self.ids).partition(" ")
        bases = {"3.0": self.service.http_v30, "events": self.service.events.replace("ws://", "http://")}
        base = bases.get(step.get("port", ""), self.service.http)
        body = step.get("raw", fill_session_ids(step["body"], self.ids) if "body" in step else None)
        reply = exchange(base, method, path, body, step.get("headers"), raw="raw" in step)
        assert reply.status == step.get("status", 200), reply.body
        for name, wanted in step.get("answer_headers", {}).items():
            shown = reply.headers.get(name.lower())
            assert (shown is None) == (wanted is None), f"{name} is {shown}"
            assert wanted is None or text_matches(wanted, shown or ""), f"{name} is {shown}, not {wanted}"
        self._check_body(step, reply)

    def _check_body(self, step: Object, reply: Reply) -> None:
        if "text" in step:
            text = fill_session_ids(step["text"], self.ids)
            assert text_matches(text, reply.body.decode()), f"{reply.body.decode()!r} is not {text!r}"
        if "answer" in step:
            check_match(fill_session_ids(step["answer"], self.ids), reply.json)
        if "error" in step:
            assert {**reply.json, "error": "", "deprecation_warning": ""} == REFUSED
            assert str(fill_session_ids(step["error"], self.ids)) in reply.json["error"], reply.json["error"]

    def _hears(self, wanted: Object, heard: int, step: Object) -> None:
        """An event since the story began that is like this; of its fields only those that are said count, of its text what is `written`.

        With `times` so many have come by now, and no more: an event behind them must have been waited for.
        """
        parts = step.get("written", ())
        listener = self.listener
        assert listener is not None, "this runner has no listener"

        def found() -> list[Event]:
            since = zip(listener.events[heard:], listener.texts[heard:], strict=False)
            like = {**wanted, "…": "…"}
            return [event for event, text in since if matches(like, event) and all(part in text for part in parts)]

        times = step.get("times")
        if times is None:
            eventually(found, f"an event like {wanted}", pause_s=0.005, tries=2_000)
        else:
            assert len(found()) == times, f"not {times} events like {wanted}, but {found()}"


def fill_session_ids(content: Any, ids: Mapping[str, int]) -> Any:
    """The same with session ids in place of their names in braces: `"{a}"` is a number, inside a longer text it is text."""
    if isinstance(content, str):
        for name, session_id in ids.items():
            if content == f"{{{name}}}":
                return session_id
            content = content.replace(f"{{{name}}}", str(session_id))
        return content
    if isinstance(content, list):
        return [fill_session_ids(one, ids) for one in content]
    if isinstance(content, dict):
        return {name: fill_session_ids(one, ids) for name, one in content.items()}
    return content
