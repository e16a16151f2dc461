"""Deprecated routes on the whole service: they still act, name their replacement, and emit an event."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from actors.device.messages import ConfigureDevice
from tests.support.clients.http_client import HttpClient
from tests.support.service.in_process_service import InProcessService

GAIN = "filters/force_scale/gain"
SWITCHES = [
    ("/serial_enable", "communication/serial/enabled"),
    ("/experimental/features/grip_dropped_simulation_stopper", "features/grip_hook/enabled"),
    ("/experimental/features/screensaver_enable", "features/screensaver/enabled"),
]
WIDE: list[tuple[str, Any, str, Any]] = [
    ("/torque_scaling", {"enable": False}, "torque_scaling", {"enabled": False}),
    (
        "/gravity_compensation",
        {"enable": False, "gravity_scaling_factor": 0.5},
        "gravity_compensation",
        {"enabled": False, "scaling_factor": 0.5},
    ),
    ("/device_handednessness", {"handedness": "left"}, "handedness", {"handedness": "left"}),
    ("/device_handedness", {"handedness": "left"}, "handedness", {"handedness": "left"}),
]
GOOD: list[tuple[str, Any]] = [
    ("/force_scale", {"force_scale": 1}),
    *((path, {"enable": True}) for path, _ in SWITCHES),
    *((path, body) for path, body, _, _ in WIDE),
]


@pytest.fixture(autouse=True)
def as_it_was(service: InProcessService) -> Iterator[None]:
    """Devices and settings, when a test is over."""
    yield
    reset = ConfigureDevice("right", torque_scaling=True, gravity_compensation=True, gravity_scale=1.0)
    for device_id in ("A001", "OLD1", "C001"):
        service.await_edge(service.bridge.ask(f"device/{device_id}", reset))
    http = HttpClient(service.http)
    for key in (f"devices/haptic*/{GAIN}", f"devices/C001/{GAIN}", *(key for _, key in SWITCHES)):
        http.delete(f"/settings/{key}")


@pytest.mark.parametrize(("path", "key"), [("/force_scale", f"devices/haptic*/{GAIN}"), *SWITCHES])
def test_setting_changed_by_an_old_route_has_an_audit_line(
    http: HttpClient, caplog: pytest.LogCaptureFixture, path: str, key: str
) -> None:
    with caplog.at_level(logging.INFO, logger="hapticd.audit"):
        http.post(path, {"force_scale": 0.5} if path == "/force_scale" else {"enable": True})

    lines = [record.getMessage() for record in caplog.records if record.name == "hapticd.audit"]
    value = "0.5" if path == "/force_scale" else "True"
    assert lines == [f"peer=127.0.0.1 session=- setting {key} = {value}"]


@pytest.mark.parametrize(("path", "body", "area", "echo"), WIDE)
def test_one_device_is_changed(http: HttpClient, path: str, body: Any, area: str, echo: Any) -> None:
    reply = http.post(path, {"device_id": "C001", **body}).data

    assert reply.pop("deprecation_warning") == f"POST {path} is deprecated: use POST /{{device}}/{{id}}/config/{area}."
    assert reply == echo
    assert http.get(f"/compact/0/config/{area}").data == echo
    assert http.get(f"/arm/0/config/{area}").data != echo


@pytest.mark.parametrize(("path", "body", "area", "echo"), WIDE)
def test_without_a_device_all_are_changed(http: HttpClient, path: str, body: Any, area: str, echo: Any) -> None:
    reply = http.post(f"{path}?format=json", body).data

    assert reply["data"]["results"] == [
        {"device_id": device_id, "ok": True, **echo} for device_id in ("A001", "OLD1", "C001")
    ]
    assert reply["deprecation_warning"].endswith(f"/config/{area}.")


@pytest.mark.parametrize(("device", "key"), [({}, "haptic*"), ({"device_id": "C001"}, "C001")])
def test_force_scale_route_changes_the_setting(http: HttpClient, device: dict[str, str], key: str) -> None:
    reply = http.post("/force_scale", {**device, "force_scale": 0.5}).data

    assert reply["force_scale"] == 0.5
    assert "POST /settings/devices/haptic*/filters/force_scale/gain" in reply["deprecation_warning"]
    assert http.get(f"/settings/devices/{key}/{GAIN}").data["data"]["value"] == 0.5


@pytest.mark.parametrize(("path", "key"), SWITCHES)
@pytest.mark.parametrize("value", [True, False])
def test_switch_routes_change_settings(http: HttpClient, path: str, key: str, value: bool) -> None:
    reply = http.post(path, {"enable": value}).data

    assert reply["enable"] is value
    assert f"POST /settings/{key}." in reply["deprecation_warning"]
    assert http.get(f"/settings/{key}").data["data"]["value"] is value


@pytest.mark.parametrize(("path", "body"), GOOD)
def test_each_use_raises_an_event(http: HttpClient, emitted: list[tuple[str, Any]], path: str, body: Any) -> None:
    assert http.post(path, body).status == 200

    (data,) = [data for kind, data in emitted if kind == "http-route-deprecated"]
    assert data["route"] == f"POST {path}"
    assert data["replacement"].startswith("POST /")


@pytest.mark.parametrize(("path", "body"), GOOD)
def test_missing_fields_are_400(http: HttpClient, path: str, body: dict[str, Any]) -> None:
    bodies: list[Any] = [{}, [], ..., dict.fromkeys(body)]

    assert [http.post(path, bad).status for bad in bodies] == [400] * len(bodies)
    assert http.get(path).status == 405


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/torque_scaling", {"enable": "yes"}),
        ("/torque_scaling", {"enable": 1}),
        ("/gravity_compensation", {"enable": True, "gravity_scaling_factor": 2}),
        ("/gravity_compensation", {"gravity_scaling_factor": "1"}),
        ("/device_handedness", {"handedness": "both"}),
        ("/device_handedness", {"handedness": 1}),
        ("/force_scale", {"force_scale": 2.5}),
        ("/force_scale", {"force_scale": "1"}),
        ("/serial_enable", {"enable": 1}),
    ],
)
def test_bad_values_are_400(http: HttpClient, path: str, body: Any) -> None:
    devices: Any = [{}] if path == "/serial_enable" else [{}, {"device_id": "C001"}]

    assert [http.post(path, {**device, **body}).status for device in devices] == [400] * len(devices)


@pytest.mark.parametrize(("path", "body"), GOOD[:1] + GOOD[4:])
def test_device_must_exist_and_have_motors(http: HttpClient, path: str, body: Any) -> None:
    assert http.post(path, {"device_id": "nobody", **body}).status == 404
    assert http.post(path, {"device_id": "*", **body}).status == 404
    assert http.post(path, {"device_id": "B001", **body}).status == 422
    assert http.post(path, {"device_id": 5, **body}).status == 400
