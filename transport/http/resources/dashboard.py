"""Routes below `/dashboard/`: the page's files, and what the page must know of this service before it can ask for more.

They are a table of their own beside the interface, so neither the OpenAPI description nor `docs/http.md` lists them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from actors.values.kinds.registry import specs
from fastpath.text.encoder import encode_json
from transport.dashboard.files import matches
from transport.dashboard.headers import page_headers
from transport.http.call import Call, Text
from transport.http.requester import DASHBOARD
from transport.http.route import Route, RouteTable, shown
from transport.wire.envelope import NoSuchRoute

INDEX: Final = "index.html"
HTML: Final = "text/html; charset=utf-8"


def routes() -> Iterator[Route]:
    """Yield the routes, also answered while the service starts and stops."""
    yield Route("GET", "/", lead_to_page, "Leads a browser to the page.", always=True)
    yield Route("GET", f"/{DASHBOARD}", read_page, "The page.", always=True)
    yield Route("GET", f"/{DASHBOARD}/service.json", read_service, "Ports and kinds of this service.", always=True)
    yield Route("GET", f"/{DASHBOARD}/{{file...}}", read_file, "A file of the page.", always=True)


def redirect(place: str) -> Text:
    """Return a redirection to `place`, an address relative to that of the request."""
    return Text(b"", HTML, 302, {"Location": place, "Vary": "Origin, Accept"})


async def lead_to_page(call: Call) -> Text:
    """Return the redirection of a browser that asks for `/`."""
    return redirect(f"{DASHBOARD}/" if call.path.endswith("/") else f"{call.path.lstrip('/')}/{DASHBOARD}/")


async def read_page(call: Call) -> Text:
    """Return the page; without the slash at the end, a redirection to the address with it, as the page's names are relative."""
    return _file(call, INDEX) if call.path.endswith("/") else redirect(f"{DASHBOARD}/")


async def read_file(call: Call) -> Text:
    """Return a file, or 304 when the browser has it; NoSuchRoute."""
    return _file(call, call.words["file"])


async def read_service(call: Call) -> Text:
    """Return the ports that are open, by their purpose, and of each kind with a reach what the 3D view draws."""
    content = {"ports": dict(call.edge.ports), "kinds": _kinds()}
    return Text(encode_json(content), "application/json", headers=_headers(call))


def _file(call: Call, name: str) -> Text:
    found = call.edge.files.find(name)
    if found is None:
        raise NoSuchRoute(shown(f"/{DASHBOARD}/{name}"))
    headers = {**_headers(call), "ETag": found.etag}
    if matches(call.headers.get("If-None-Match", ""), found.etag):
        return Text(b"", found.content_type, 304, headers)
    return Text(found.content, found.content_type, headers=headers)


def _headers(call: Call) -> dict[str, str]:
    return page_headers(call.headers.get("Host", ""), call.edge.ports.values())


def _kinds() -> dict[str, Mapping[str, object]]:
    return {
        spec.name: {
            "low": spec.reach.low,
            "high": spec.reach.high,
            "shoulder": spec.mechanism.shoulder if spec.mechanism else None,
            "links": spec.mechanism.links if spec.mechanism else None,
            "peak_force": spec.mechanism.peak_force if spec.mechanism else None,
        }
        for spec in specs()
        if spec.reach is not None
    }


ROUTES: Final = RouteTable(routes())
