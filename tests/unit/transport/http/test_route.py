"""Match paths to routes: fixed segments first, rest of a path, methods, printable error text."""

from __future__ import annotations

import pytest

from transport.http.app import HTTP_ROUTES
from transport.http.call import Answer, Call
from transport.http.route import Route, RouteTable
from transport.wire.envelope import MethodNotAllowed, NoSuchRoute


async def handler(_call: Call) -> Answer:
    return Answer({})


def table(*lines: str) -> RouteTable:
    pairs = (line.split(" ") for line in lines)
    return RouteTable(Route(method, shape, handler, "") for method, shape in pairs)


TABLE = table(
    "GET /",
    "GET /{device}/{id}",
    "POST /{device}/{id}/config/{area}",
    "GET /sessions/{session}",
    "DELETE /sessions/{session}",
    "GET /settings",
    "GET /settings/{key...}",
    "GET /stop",
    "POST /{device}/{id}/stop",
)


@pytest.mark.parametrize(
    ("path", "shape", "words"),
    [
        ("", "/", {}),
        ("sessions/7", "/sessions/{session}", {"session": "7"}),
        ("arm/0", "/{device}/{id}", {"device": "arm", "id": "0"}),
        ("settings", "/settings", {}),
        ("settings/a", "/settings/{key...}", {"key": "a"}),
        ("settings/a/b/c", "/settings/{key...}", {"key": "a/b/c"}),
        ("settings/0/config/mount", "/settings/{key...}", {"key": "0/config/mount"}),
        ("arm/0/config/mount", "/{device}/{id}/config/{area}", {"device": "arm", "id": "0", "area": "mount"}),
        ("arm/0/stop", "/{device}/{id}/stop", {"device": "arm", "id": "0"}),
        ("stop", "/stop", {}),
        ("sessions/", "/sessions/{session}", {"session": ""}),
    ],
)
def test_path_matches_the_most_specific_route(path: str, shape: str, words: dict[str, str]) -> None:
    resource, found = TABLE.find(tuple(path.split("/")) if path else ())

    assert (resource.shape, found) == (shape, words)


@pytest.mark.parametrize("path", ["nope", "arm", "sessions", "sessions/7/x/y", "arm/0/config", "arm/0/config/a/b"])
def test_unknown_path_has_no_route(path: str) -> None:
    with pytest.raises(NoSuchRoute):
        TABLE.find(tuple(path.split("/")))


def test_path_is_shown_short_and_printable() -> None:
    with pytest.raises(NoSuchRoute) as refused:
        TABLE.find(("a\nb", "x" * 500, "y"))

    assert "\n" not in refused.value.sentence
    assert len(refused.value.sentence) < 200


def test_methods_of_a_resource_are_listed() -> None:
    resource, _ = TABLE.find(("sessions", "7"))

    assert resource.allowed == ("GET", "HEAD", "DELETE", "OPTIONS")
    assert resource.route("HEAD").method == "GET"
    with pytest.raises(MethodNotAllowed) as refused:
        resource.route("POST")
    assert refused.value.allowed == resource.allowed
    posted, _ = TABLE.find(("arm", "0", "stop"))
    assert posted.allowed == ("POST", "OPTIONS")


def test_duplicate_route_prevents_the_start() -> None:
    with pytest.raises(ValueError, match="GET /a"):
        table("GET /a", "POST /a", "GET /a")


def test_every_route_has_a_description_and_matches_its_own_shape() -> None:
    routes = list(HTTP_ROUTES)

    assert len(routes) >= 45
    for route in routes:
        assert route.summary.endswith(".")
        example = tuple(
            part for part in route.shape.replace("{key...}", "a/b").replace("{device}", "arm").split("/") if part
        )
        resource, _ = HTTP_ROUTES.find(example)
        assert resource.route(route.method) is route


def test_only_changing_methods_read_a_body() -> None:
    assert {route.method for route in HTTP_ROUTES if route.reads_body} == {"POST", "PATCH"}
    assert {route.shape for route in HTTP_ROUTES if route.enveloped} == {
        "/settings",
        "/settings/{key...}",
        "/home_return",
    }
    assert {route.shape for route in HTTP_ROUTES if route.always} == {"/metrics", "/healthz", "/readyz", "/log"}
