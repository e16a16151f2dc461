"""Routes as data and their lookup by path; 405, OPTIONS and the description are derived from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from transport.http.call import Handler
from transport.http.schema.route_schema import PLAIN, RouteSchema
from transport.wire.envelope import MethodNotAllowed, NoSuchRoute
from transport.wire.vocabulary import path_members

METHODS: Final = ("GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS")
# The named segment that accepts only some words: a type, a family or a pattern of them.
DEVICE: Final = "{device}"


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path shape; in a shape `{name}` is one segment, `{name...}` the rest of the path."""

    method: str
    shape: str
    handler: Handler
    summary: str
    enveloped: bool = False  # answers are in the envelope unless `?format=plain`
    reads_body: bool = False  # the body must be JSON
    refuses_body: bool = False  # there must be no body, or `{}`; a route that does neither ignores its body
    always: bool = False  # also answered while the service starts and stops
    schema: RouteSchema = PLAIN  # schemas for the description
    deprecation: str | None = None  # replacement, named in every answer; None: not deprecated


@dataclass(frozen=True, slots=True)
class Resource:
    """All methods of one path shape."""

    shape: str
    routes: dict[str, Route] = field(default_factory=dict[str, Route])

    @property
    def allowed(self) -> tuple[str, ...]:
        """The methods of the resource, with those that every resource has."""
        given = {*self.routes, "OPTIONS"}
        if "GET" in given:
            given.add("HEAD")
        return tuple(method for method in METHODS if method in given)

    def route(self, method: str) -> Route:
        """Return the route of a method (GET for HEAD); MethodNotAllowed."""
        found = self.routes.get("GET" if method == "HEAD" else method)
        if found is None:
            raise MethodNotAllowed(shown(method), self.allowed)
        return found

    def match(self, segments: tuple[str, ...]) -> dict[str, str] | None:
        """Return the named segments of a path; None when it has another shape."""
        words: dict[str, str] = {}
        parts = _parts(self.shape)
        for at, part in enumerate(parts):
            if part.endswith("...}"):
                words[part[1:-4]] = "/".join(segments[at:])
                return words if len(segments) > at else None
            if at >= len(segments):
                return None
            if part == DEVICE and not path_members(segments[at]):
                return None
            if part.startswith("{"):
                words[part[1:-1]] = segments[at]
            elif part != segments[at]:
                return None
        return words if len(parts) == len(segments) else None


class RouteTable:
    """Every route of one kind of port; a fixed segment wins over a named one, a named one over the rest of the path."""

    def __init__(self, routes: Iterable[Route]) -> None:
        """ValueError when two routes have one method and shape."""
        found: dict[str, Resource] = {}
        for route in routes:
            methods = found.setdefault(route.shape, Resource(route.shape)).routes
            if route.method in methods:
                raise ValueError(f"two routes answer {route.method} {route.shape}: keep one")
            methods[route.method] = route
        self._resources = sorted(found.values(), key=lambda resource: _rank(resource.shape))

    def __iter__(self) -> Iterator[Route]:
        """Iterate over the routes, those with the most fixed segments first."""
        for resource in self._resources:
            yield from resource.routes.values()

    def find(self, segments: tuple[str, ...]) -> tuple[Resource, Mapping[str, str]]:
        """Return the resource of a path and its named segments; NoSuchRoute."""
        for resource in self._resources:
            words = resource.match(segments)
            if words is not None:
                return resource, words
        raise NoSuchRoute(shown("/" + "/".join(segments)))


def shown(path: str) -> str:
    """Return a path shortened and quoted for an error sentence."""
    text = "".join(letter if letter.isprintable() else "?" for letter in path)
    return f"{text[:79]}…" if len(text) > 80 else text


def _parts(shape: str) -> list[str]:
    return [part for part in shape.split("/") if part]


def _rank(shape: str) -> list[int]:
    """Sort key: shapes with fixed segments first, segment by segment from the left."""
    return [2 if part.endswith("...}") else 1 if part.startswith("{") else 0 for part in _parts(shape)]
