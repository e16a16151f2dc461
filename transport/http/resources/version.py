"""Routes of `/` and `/version`: information about this build."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from transport.http.call import Answer, Call
from transport.http.route import Route
from transport.http.schema.json_schema import TEXT, obj
from transport.http.schema.route_schema import RouteSchema

KEYS: Final = (
    "project_name",
    "project_version",
    "interface",
    "build_time",
    "git_hash",
    "git_branch",
    "git_tag",
    "git_describe",
    "instance",
)
VERSION: Final = RouteSchema(obj(dict.fromkeys(KEYS, TEXT)))


def routes() -> Iterator[Route]:
    """Yield the routes; the root is also the path of the session channel."""
    root = "The service's version; upgrades to the session channel."
    yield Route("GET", "/", read_version, root, schema=VERSION)
    yield Route("GET", "/version", read_version, "The service's version.", schema=VERSION)


async def read_version(call: Call) -> Answer:
    """Return the values of `transport.build_info`, and the random id of this run of the service."""
    return Answer({**call.edge.build, "instance": call.edge.bridge.instance})
