"""Each curl example of the pages in docs/http is answered as written, in the order of the index, on one service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.support.clients.curl import parse_curl
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.running_system import RunningSystem
from tests.support.wire.doc_page import DEVICES, DOCS
from transport.http.app import HTTP_ROUTES
from transport.http.reference import BASE, SUBJECTS

PAGES: Final = "".join((DOCS / "http" / f"{subject.name}.md").read_text(encoding="utf-8") for subject in SUBJECTS)
SECTIONS: Final[dict[str, str]] = dict(
    re.findall(r"^## (\S+ \S+)\n(.*?)(?=^#|\Z)", PAGES, flags=re.MULTILINE | re.DOTALL)
)
PREVIEW: Final = re.compile(r"refused while the setting `(.+)` is false")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSystem]:
    with RunningSystem(tmp_path_factory.mktemp("state"), simulated=DEVICES) as running:
        yield running


def test_every_route_has_a_section() -> None:
    assert sorted(SECTIONS) == sorted(f"{route.method} {route.shape}" for route in HTTP_ROUTES)


@pytest.mark.parametrize("title", SECTIONS)
def test_curl_example_is_answered_with_its_preview_on(service: RunningSystem, title: str) -> None:
    (line,) = re.findall(r"^```\n(curl .+)\n```$", SECTIONS[title], re.MULTILINE)
    request, preview = parse_curl(line, BASE), PREVIEW.search(SECTIONS[title])
    assert request.method == title.partition(" ")[0]
    with RawWebSocket(service.ws) as peer:
        peer.frame()
        if preview is not None:
            assert service.ask(*request).status == 400
            assert service.ask("POST", f"/settings/{preview[1]}", body=True).status == 200
        reply = service.ask(*request)
        # The loop of this service runs by itself; tests/clients/python/test_stepped.py has one that does not.
        assert reply.status == (409 if title == "POST /simulation/steps" else 200), reply.body
        if preview is not None:
            assert service.ask("DELETE", f"/settings/{preview[1]}").status == 200
    service.wait_for_sessions()
