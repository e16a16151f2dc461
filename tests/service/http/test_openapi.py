"""The OpenAPI description has every route of the route table, with consistent schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from actors.values.identity import Kind
from tests.service.edge_server import EdgeServer
from transport.http.app import HTTP_ROUTES
from transport.http.openapi import document, operation_id, path_of
from transport.http.route import Route
from transport.http.schema.error_responses import MEANINGS
from transport.http.schema.route_schema import PLAIN
from transport.http.schema.service_values import ServiceValues
from transport.settings_catalog import SETTINGS_CATALOG
from transport.wire.envelope import STATUS

FACTS = ServiceValues(devices=("049D", "1605"), movers=("049D",), sessions=("7", "8"), ports=("sim0",))
DOCUMENT = document(HTTP_ROUTES, FACTS, "3.5.3")
ROUTES = [pytest.param(route, id=f"{route.method} {route.shape}") for route in HTTP_ROUTES]


def operation(method: str, path: str, whole: Any = DOCUMENT) -> Any:
    return whole["paths"][path][method.lower()]


def parameter(name: str, found: Any) -> Any:
    (one,) = (one for one in found["parameters"] if one["name"] == name)
    return one["schema"]


def everywhere(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a JSON value."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from everywhere(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from everywhere(inner)


def test_description_has_exactly_the_routes_of_the_table() -> None:
    described = {(method, path) for path, methods in DOCUMENT["paths"].items() for method in methods}

    assert described == {(route.method.lower(), path_of(route)) for route in HTTP_ROUTES}


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_is_described(route: Route) -> None:
    schema, found = route.schema, operation(route.method, path_of(route))

    assert schema is not PLAIN
    assert route.reads_body == (schema.body is not None) == ("requestBody" in found)
    assert (schema.example is not None) == route.reads_body
    assert found["summary"] == route.summary
    assert all(f"{{{one['name']}}}" in path_of(route) for one in found["parameters"] if one["in"] == "path")
    assert all(one["schema"] != {"type": "string"} for one in found["parameters"])


def test_operations_have_names_of_their_own() -> None:
    names = [operation_id(route) for route in HTTP_ROUTES]

    assert len(set(names)) == len(names)
    assert "post_device_id_config_mount" in names
    assert "get_root" in names


def test_every_status_of_the_error_table_is_explained() -> None:
    assert {*STATUS.values(), 500} <= set(MEANINGS)
    assert set(DOCUMENT["components"]["responses"]) == {str(status) for status in {*STATUS.values(), 500}}
    assert "Allow" in DOCUMENT["components"]["responses"]["405"]["headers"]
    assert "Retry-After" in DOCUMENT["components"]["responses"]["503"]["headers"]


def test_references_resolve() -> None:
    for found in everywhere(DOCUMENT):
        if "$ref" in found:
            target: Any = DOCUMENT
            for part in found["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            assert target


def test_description_has_no_unresolved_parts() -> None:
    assert json.loads(json.dumps(DOCUMENT)) == DOCUMENT


def test_description_names_the_present_devices_and_sessions() -> None:
    reading, acting = (operation(method, "/{device}/{id}/config/mount") for method in ("GET", "POST"))

    assert parameter("id", reading)["enum"] == ["049D", "0", "*"]
    assert parameter("id", acting)["enum"] == ["049D", "0", "*"]
    assert parameter("session", acting)["enum"] == ["7", "8", ":0", ":-1", "*", "default"]
    assert "1605" in parameter("id", operation("GET", "/{device}/{id}"))["enum"]
    assert "grip" in parameter("device", operation("GET", "/{device}/{id}"))["enum"]
    assert "grip" not in parameter("device", reading)["enum"]
    assert "control/frequency" in parameter("key", operation("GET", "/settings/{key}"))["enum"]


def test_description_works_without_devices_and_sessions() -> None:
    bare = document(HTTP_ROUTES, ServiceValues(), "3.5.3")

    assert parameter("id", operation("GET", "/{device}/{id}", bare))["enum"] == ["0", "*"]
    assert operation("POST", "/save_configuration", bare)["requestBody"]["required"] is True


def test_setting_schemas_have_their_constraints() -> None:
    values = DOCUMENT["components"]["schemas"]["SettingValues"]["properties"]

    frequency, _wrapped = values["control/frequency"]["anyOf"]
    assert frequency == {"type": "integer", "minimum": 100, "maximum": 32000}
    assert values["serialization/vocabulary"]["anyOf"][0]["enum"] == ["auto", "neutral", "inverse"]
    assert values["communication/auth/required"]["anyOf"][0]["enum"] == [True]
    assert "devices/compact/filters/force_gate/gain" in values


def test_null_is_described_only_for_settings_that_take_it() -> None:
    def takes_null(schema: Any) -> bool:
        return any(one.get("type") == "null" for one in everywhere(schema))

    values = DOCUMENT["components"]["schemas"]["SettingValues"]["properties"]
    one = operation("POST", "/settings/{key}")["requestBody"]["content"]["application/json"]["schema"]

    assert {key for key, schema in values.items() if takes_null(schema)} == {
        setting.key for setting in SETTINGS_CATALOG if setting.constraint.nullable
    }
    assert not takes_null(one)


def test_constrained_strings_have_their_pattern() -> None:
    values = DOCUMENT["components"]["schemas"]["SettingValues"]["properties"]
    patterns = {one["pattern"] for one in everywhere(values) if "pattern" in one}

    assert "^([0-9A-Fa-f]{4})$" in patterns
    assert not any(one["format"] not in {"printable", "ipv4", "ipv6"} for one in everywhere(values) if "format" in one)


def test_description_is_served(rig: EdgeServer) -> None:
    rig.add_device("0A0A")
    rig.add_device("0B0B", Kind.GRIP)

    reply = rig.get("/openapi.json")

    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert reply.json["info"]["version"] == "3.5.3"
    assert parameter("id", operation("GET", "/{device}/{id}/config/mount", reply.json))["enum"] == ["0A0A", "0", "*"]
    assert set(reply.json["paths"]) == set(DOCUMENT["paths"])


@pytest.mark.parametrize(("sessions", "needed"), [((), True), (("7",), False), (("7", "8"), True)])
def test_session_is_optional_while_exactly_one_is_open(sessions: tuple[str, ...], needed: bool) -> None:
    whole = document(HTTP_ROUTES, ServiceValues(sessions=sessions), "3.5.3")

    for method in ("GET", "POST"):
        parameters = operation(method, "/{device}/{id}/config/mount", whole)["parameters"]
        assert [one["required"] for one in parameters if one["name"] == "session"] == [needed]


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_unsupported_areas_of_a_grip_have_a_422(method: str) -> None:
    for area in ("mount", "preset", "handedness", "filters/damping", "navigation"):
        found = operation(method, f"/{{device}}/{{id}}/config/{area}")
        assert "422" in found["responses"]
        assert "a grip or a pen that is named by id or index is refused with 422" in found["description"]
    assert "description" not in operation(method, "/{device}/{id}/config/basis")


def test_old_routes_are_marked_deprecated() -> None:
    marked = {
        path for path, methods in DOCUMENT["paths"].items() if any("deprecated" in one for one in methods.values())
    }

    assert "/force_scale" in marked
    assert "/home_return" not in marked


@pytest.mark.parametrize("path", list(DOCUMENT["paths"]))
def test_allow_names_the_methods_that_are_described(rig: EdgeServer, path: str) -> None:
    described = {method.upper() for method in DOCUMENT["paths"][path]}
    named = path.format(device="arm", id="0", session="7", port="sim0", key="control/frequency")

    for method in ("OPTIONS", "PUT", "TRACE", "CONNECT", "BREW"):
        reply = rig.ask(method, named)
        allowed = set(reply.headers["allow"].split(", "))
        assert reply.status == (200 if method == "OPTIONS" else 405)
        assert allowed - {"HEAD", "OPTIONS"} == described
        assert ("HEAD" in allowed) == ("GET" in described)
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["content-type"] == "application/json"
