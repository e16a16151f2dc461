"""Generate the OpenAPI 3.1 description from the route table, for `GET /openapi.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from actors.values.kinds.nouns import any_of
from fastpath.text.encoder import encode_json
from transport.http.call import Answer, Call
from transport.http.route import Route
from transport.http.schema.error_responses import LISTED, refusals_of, response, statuses
from transport.http.schema.json_schema import OBJECT, TEXT, Named, Schema, either, obj, resolved, word
from transport.http.schema.route_schema import ERROR, Query, RouteSchema, enveloped, results_of
from transport.http.schema.service_values import ServiceValues, service_values_of
from transport.wire.envelope import Encoded
from transport.wire.vocabulary import VOCABULARY_NAMES

OPENAPI: Final = "3.1.0"
JSON: Final = "application/json"
DESCRIPTION: Final = RouteSchema(obj({"openapi": TEXT, "info": OBJECT, "paths": OBJECT, "components": OBJECT}))
FORMAT: Final = Query("format", word("json", "plain"), "`json` wraps the answer in the envelope, `plain` takes it off.")
VOCABULARY: Final = Query("vocabulary", word(*VOCABULARY_NAMES), "Words of the answer; auto: neutral.")
OF_MOVERS: Final = (
    f"Only {any_of(lambda spec: spec.has_motors)} has it: {any_of(lambda spec: not spec.has_motors)} that is named by id or "
    "index is refused with 422 and the reason, a pattern leaves it out."
)
ALONE: Final = "It may be left out while exactly one session is open."
NO_STORE: Final = {"Cache-Control": {"required": True, "schema": {"const": "no-store"}}}
SERVERS: Final = [
    {"url": "/", "description": "As /3.1."},
    {"url": "/3.1", "description": "Answers in the shape of frame v3.1."},
    {"url": "/3.0", "description": "Answers in the shape of frame v3.0."},
]
SECURITY: Final[list[dict[str, list[str]]]] = [{}, {"bearer": []}, {"token": []}]
SCHEMES: Final = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "What `hapticd token` prints."},
    "token": {"type": "apiKey", "in": "query", "name": "token", "description": "The same, where no header can be set."},
}
# First segments whose chapter has another name.
CHAPTERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "version": "service",
        "metrics": "service",
        "healthz": "service",
        "readyz": "service",
        "log": "service",
        "support-bundle": "service",
        "openapi.json": "service",
        "home_return": "devices",
        "save_configuration": "devices",
    }
)
SAYS: Final = (
    "Peers on this machine need no credentials, all others the token. Every path also answers HEAD where it answers GET, "
    "and OPTIONS. Unknown keys of a body are ignored and named in `warnings` beside known ones; alone they are refused with 400."
)


def document(routes: Iterable[Route], facts: ServiceValues, version: str) -> dict[str, Any]:
    """Return the whole description; `facts` are the ids and words of the running service."""
    return DescriptionWriter(facts).document(routes, version)


def routes(table: Callable[[], Iterable[Route]]) -> Iterator[Route]:
    """Return the route of this file."""
    yield Route("GET", "/openapi.json", reader(table), "The description of every route.", schema=DESCRIPTION)


def reader(routes: Callable[[], Iterable[Route]]) -> Callable[[Call], Any]:
    """Return the handler of `GET /openapi.json`; `routes` is called at the request, as it contains this route."""

    async def read_description(call: Call) -> Answer:
        """Return the description with the present devices and sessions; generated on a worker thread, because it is slow."""
        version = call.edge.build["interface"]

        def written(facts: ServiceValues) -> Encoded:
            return Encoded(encode_json(document(routes(), facts, version)))

        return Answer(await call.edge.body_cache.description.get(lambda: service_values_of(call.bridge), written))

    return read_description


class DescriptionWriter:
    """Writes the description and collects the shared schemas."""

    def __init__(self, facts: ServiceValues) -> None:
        """`facts` fill in `FromService` leaves."""
        self._facts = facts
        self._shared: dict[str, Any] = {}

    def document(self, routes: Iterable[Route], version: str) -> dict[str, Any]:
        """Return the description, paths in the order of the table."""
        paths: dict[str, dict[str, Any]] = {}
        for route in routes:
            paths.setdefault(path_of(route), {})[route.method.lower()] = self._operation(route)
        failed = {str(status): self._filled(response(status)) for status in statuses()}
        return {
            "openapi": OPENAPI,
            "info": {"title": "hapticd", "version": version, "description": SAYS},
            "servers": SERVERS,
            "security": SECURITY,
            "paths": paths,
            "components": {"securitySchemes": SCHEMES, "responses": failed, "schemas": self._shared},
        }

    # ------------------------------------------------------------ one route

    def _operation(self, route: Route) -> dict[str, Any]:
        schema = route.schema
        operation: dict[str, Any] = {
            "operationId": operation_id(route),
            "summary": route.summary,
            "tags": [tag_of(route)],
            "parameters": [*self._path(route), *self._query(schema)],
        }
        if schema.body is not None:
            operation["requestBody"] = {
                "required": schema.body_needed,
                "content": {JSON: {"schema": self._filled(schema.body)}},
            }
        description = [OF_MOVERS] if schema.of_movers else []
        if schema.preview:
            description.append(f"A preview, refused while the setting {schema.preview} is false.")
        if description:
            operation["description"] = " ".join(description)
        if schema.deprecated:
            operation["deprecated"] = True
        operation["responses"] = {"200": self._success(route), **self._failures(route)}
        return operation

    def _path(self, route: Route) -> list[dict[str, Any]]:
        return [
            {"name": name, "in": "path", "required": True, "schema": self._filled(route.schema.path.get(name, TEXT))}
            for name in names_of(route)
        ]

    def _query(self, schema: RouteSchema) -> list[dict[str, Any]]:
        return [
            {
                "name": field.name,
                "in": "query",
                "required": field.needed and not (field.alone and self._facts.alone),
                "description": f"{field.description} {ALONE}" if field.alone else field.description,
                "schema": self._filled(field.schema),
            }
            for field in (*schema.query, FORMAT, VOCABULARY)
        ]

    # ------------------------------------------------------------ its answers

    def _success(self, route: Route) -> dict[str, Any]:
        schema = route.schema
        plain: Schema = schema.answer
        if schema.results:
            plain = either(plain, results_of(schema.results, plain))
        if schema.media:
            whole = enveloped(TEXT)
            content = {schema.media: {"schema": TEXT}, JSON: {"schema": self._filled(whole)}}
        else:
            both = (enveloped(plain), plain) if route.enveloped else (plain, enveloped(plain))
            content = {JSON: {"schema": self._filled(either(*both))}}
        return {"description": "Done.", "headers": NO_STORE, "content": content}

    def _failures(self, route: Route) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for status in refusals_of(route):
            if route.schema.results and status in LISTED:
                listing = results_of(route.schema.results, {})
                found[str(status)] = self._filled(
                    response(status, either(ERROR, listing, enveloped(listing, ok=False)))
                )
            else:
                found[str(status)] = {"$ref": f"#/components/responses/{status}"}
        return found

    # ------------------------------------------------------------ leaves

    def _filled(self, schema: object) -> Any:
        return resolved(schema, self._refer, self._facts.schema)

    def _refer(self, named: Named) -> dict[str, str]:
        if named.name not in self._shared:
            self._shared[named.name] = {}
            self._shared[named.name] = self._filled(named.schema)
        return {"$ref": f"#/components/schemas/{named.name}"}


def path_of(route: Route) -> str:
    """Return the path shape in OpenAPI's form; the rest of a path is one parameter with percent-encoded slashes."""
    return route.shape.replace("...}", "}")


def names_of(route: Route) -> list[str]:
    """Return the names in the path in their order."""
    return [part.strip("{}").removesuffix("...") for part in route.shape.split("/") if part.startswith("{")]


def operation_id(route: Route) -> str:
    """Return method and path as one identifier, such as `post_device_id_config_mount`."""
    words = [part.strip("{}").removesuffix("...") for part in route.shape.split("/") if part]
    return "_".join((route.method.lower(), *words)) if words else f"{route.method.lower()}_root"


def tag_of(route: Route) -> str:
    """Return the tag (chapter) of a route."""
    first, *_ = [part for part in route.shape.split("/") if part] or ["service"]
    if first == "{device}":
        return "devices"
    if route.schema.deprecated:
        return "deprecated"
    return CHAPTERS.get(first, first)
