"""Each example of docs/wire.md is correct: sections are played on a service with their devices by a new client."""

from __future__ import annotations

import json
import re
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from actors.event.catalog import EVENT_KINDS
from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import Reply, exchange
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from tests.support.wire.doc_page import DEVICES, DOCS, Block, Section, sections
from tests.support.wire.json_match import check_match, matches

SERVED = DEVICES

WIRE = "wire.md"
OWN_ID = re.compile(r'(session(?:_id)?[=/]|sessions/|"session_id": )7\b')


@dataclass(slots=True)
class Reader:
    """Somebody who types in what a section says and compares what comes back."""

    service: InProcessService
    listener: EventClient
    cleanup: ExitStack
    query: dict[str, str] = field(default_factory=dict[str, str])
    session_id: int = 0
    frame: Any = None
    peer: RawWebSocket = field(init=False)
    request: str = ""
    reply: Reply = field(init=False)

    def play(self, section: Section) -> None:
        """Block by block; whatever is sent gets its frame, which has errors only where the page shows them."""
        heard = len(self.listener.events)
        blocks = list(section.blocks)
        while blocks and blocks[0].kind == "direction" and self._chosen(blocks[0].text):
            blocks.pop(0)
        self.connect()
        answers = [block.kind.endswith(("server", "event")) for block in blocks[1:]] + [False]
        for block, answered in zip(blocks, answers, strict=True):
            try:
                self._block(block, answered, heard)
            except AssertionError as error:
                error.add_note(f"{block.kind}\n{block.text}")
                raise
        self.peer.check_nothing_unread()
        self.peer.close()

    def connect(self) -> None:
        """A new connection; its first frame is the one that a server block at the beginning shows."""
        self.peer = self.cleanup.enter_context(RawWebSocket(self.service.ws, self.query))
        self.frame = self.peer.frame()
        self.session_id = self.frame["session_id"]

    def _chosen(self, direction: str) -> bool:
        if direction == "frames v3.0":
            self.query["version"] = "3.0"
        elif direction == "inverse words":
            self.query["vocabulary"] = "inverse"
        return direction in {"frames v3.0", "inverse words"}

    def _block(self, block: Block, answered: bool, heard: int) -> None:
        text = OWN_ID.sub(rf"\g<1>{self.session_id}", block.text)
        match block.kind:
            case "json client" | "text client":
                if block.kind == "json client":
                    json.loads(text)
                self.service.step(2)
                self.peer.send_text(text)
                self.frame = self.peer.frame()
                assert answered or "errors" not in self.frame
            case "json server":
                check_match(json.loads(text), self.frame)
            case "json event":
                wanted = json.loads(text)
                eventually(
                    lambda: any(matches(wanted, one) for one in self.listener.events[heard:]), text, pause_s=0.01
                )
            case "http client":
                self.request = text
                self._ask()
            case "http server":
                self._compare(text)
            case _:
                assert block.kind == "direction", block.kind
                self._direct(text)

    def _ask(self) -> None:
        line, _, body = self.request.partition("\n")
        method, path = line.split(" ")
        self.reply = exchange(self.service.http, method, path, body or None, raw=True)

    def _compare(self, text: str) -> None:
        """With the answer, or with that of the same GET a little later: actors may still be at what happened before it."""
        status, _, body = text.partition("\n")
        wanted = [int(status), json.loads(body)]
        for _ in range(500 if self.request.startswith("GET ") else 0):
            if matches(wanted, [self.reply.status, self.reply.json]):
                break
            time.sleep(0.005)
            self._ask()
        check_match(wanted, [self.reply.status, self.reply.json])

    def _direct(self, text: str) -> None:
        if text.startswith("connect again"):
            self.peer.close()
            self.service.wait_for_sessions()
            mine, self.query["session_id"] = self.session_id, str(self.session_id)
            self.connect()
            assert self.session_id == mine
        else:
            assert text.endswith(" s later"), text
            self.service.wait(float(text.split(maxsplit=1)[0]))


@pytest.mark.parametrize("section", sections(WIRE), ids=str)
def test_section_plays_as_written(service: InProcessService, listener: EventClient, section: Section) -> None:
    with ExitStack() as cleanup:
        Reader(service, listener, cleanup).play(section)
    service.wait_for_sessions()


def test_the_page_names_every_kind_of_event() -> None:
    page = (DOCS / WIRE).read_text(encoding="utf-8")

    assert [kind for kind in EVENT_KINDS if f"`{kind}`" not in page] == []


def test_wrong_example_is_detected(service: InProcessService, listener: EventClient) -> None:
    wrong = Section("wrong", (Block("json client", "{}"), Block("json server", '{"session_id": 7, "glove": []}')))

    with ExitStack() as cleanup, pytest.raises(AssertionError, match="glove"):
        Reader(service, listener, cleanup).play(wrong)
    service.wait_for_sessions()


def test_links_of_the_page_resolve() -> None:
    for page in (DOCS / WIRE, DOCS / "migration.md"):
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / Path(link)).exists(), link
