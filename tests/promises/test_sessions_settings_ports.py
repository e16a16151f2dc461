"""Promises about sessions, settings, ports and filters, tested on a running service."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.promises.conftest import Join, Plug
from tests.support.clients.http_client import HttpClient
from tests.support.service.extra_devices import POLL_S, port_path, wait_until_ready
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

FULL: Final[dict[str, Any]] = {"session": {"force_render_full_state": {}}}

# ---------------------------------------------------------------- sessions


def profiled(join: Join, name: str) -> int:
    """Open a session, declare its profile, return its id."""
    client, first = join()
    assert "errors" not in client.ask({"session": {"configure": {"profile": {"name": name}}}})
    return int(first["session_id"])


def selected(http: HttpClient, selector: str) -> list[int]:
    """Ids of the sessions that GET /sessions/{selector} shows."""
    body = http.get(f"/sessions/{selector}").data
    return [one["session_id"] for one in body.get("sessions", [body])]


@pytest.mark.promise(129)
@pytest.mark.parametrize(
    ("selector", "who"),
    [
        ("{1}", [1]),
        (":0", [0]),
        (":-1", [2]),
        ("seal", [2]),
        ("otter:0", [0]),
        ("otter:1", [1]),
        ("ot*", [0, 1]),
        ("otte%3F", [0, 1]),
    ],
)
def test_session_is_selected_by_each_form(http: HttpClient, join: Join, selector: str, who: list[int]) -> None:
    """`/sessions/{selector}` takes an id, `:0`, `:-1`, a name, `name:n`, and patterns with `*` and `?`."""
    ids = [profiled(join, name) for name in ("otter", "otter", "seal")]

    def found() -> bool:
        return selected(http, selector.format(*ids)) == [ids[index] for index in who]

    eventually(found, "the selector finds these sessions", pause_s=POLL_S)


@pytest.mark.promise(130)
def test_session_with_profile_named_default_can_be_selected(http: HttpClient, join: Join) -> None:
    """A session that declared the profile name `default` is found by that name."""
    session_id = profiled(join, "default")

    assert selected(http, "default") == [session_id]
    assert http.get("/sessions/default/profile").data == {"name": "default"}


# ---------------------------------------------------------------- settings


@pytest.mark.promise(132)
def test_setting_record_has_value_type_range_and_description(http: HttpClient) -> None:
    """A setting shows its value, type hint, range constraint and description."""
    record = http.get("/settings/sessions/command_timeout?format=plain").data

    assert (record["value"], record["type_hint"]) == (0.05, "FLOAT")
    assert record["metadata"]["constraint"]["range"] == {"min": 0.02, "max": 0.5}
    assert record["description"]


@pytest.mark.parametrize(
    ("key", "type_hint", "default"),
    [
        pytest.param("communication/bind_all_interfaces", "BOOL", False, marks=pytest.mark.promise(133)),
        pytest.param("communication/serial/enabled", "BOOL", True, marks=pytest.mark.promise(134)),
        pytest.param("devices/haptic*/filters/force_scale/gain", "FLOAT", 1, marks=pytest.mark.promise(135)),
        pytest.param("serialization/explicit_fields", "BOOL", False, marks=pytest.mark.promise(136)),
        pytest.param("serialization/force_complete_transforms", "BOOL", False, marks=pytest.mark.promise(137)),
        pytest.param("features/grip_hook/enabled", "BOOL", False, marks=pytest.mark.promise(138)),
        pytest.param("features/screensaver/enabled", "BOOL", False, marks=pytest.mark.promise(138)),
    ],
)
def test_setting_of_the_contract_exists(http: HttpClient, key: str, type_hint: str, default: Any) -> None:
    """The keys that the interface names exist with their type and default."""
    record = http.get(f"/settings/{key}?format=plain").data

    assert (record["key"], record["type_hint"], record["default"]) == (key, type_hint, default)


@pytest.mark.promise(139)
@pytest.mark.parametrize("key", ["serialization/explicit_fields", "serialization/force_complete_transforms"])
def test_plain_settings_list_holds_the_named_advanced_keys(http: HttpClient, key: str) -> None:
    """`GET /settings` lists every key that the interface names, without `?advanced=true`."""
    assert key in http.get("/settings?format=plain").data


# ---------------------------------------------------------------- ports


@pytest.mark.promise(140)
@pytest.mark.promise(148, "a connection loop blocks an active port")
@pytest.mark.promise(149, "`POST /ports/{port}/reset` unblocks a blocked port")
def test_port_of_a_looping_device_stays_blocked_until_reset(empty_service: RunningService, plug: Plug) -> None:
    """A port that a connection loop has blocked stays blocked when the loop is over, until `POST /ports/{port}/reset`."""
    http = HttpClient(empty_service.http)
    device_id = plug("arm", "10F1")
    port = port_path(http, device_id)
    assert http.get(port).data["state"] == "active"
    assert http.post(f"/simulation/arm/{device_id}", {"fault": "connection_loop"}).status == 200
    eventually(lambda: http.get(port).data["state"] == "blocked", "the port is blocked", pause_s=POLL_S)

    assert http.post(f"/simulation/arm/{device_id}", {"fault": "none"}).status == 409
    blocked = http.get(port).data
    assert (blocked["state"], blocked["reason"]) == ("blocked", "connection_loop")
    assert http.get(f"/arm/{device_id}").status == 404

    assert http.post(f"{port}/reset").status == 200
    assert http.get(port).data["state"] == "active"
    wait_until_ready(http, device_id)


# ---------------------------------------------------------------- filters


@pytest.mark.promise(144)
def test_force_gate_is_set_at_run_time_and_has_a_persistent_default(http: HttpClient, join: Join) -> None:
    """`configure.force_gate.gain` acts at once for its session; the setting is the default of every session without its own."""
    client, first = join()
    other, _ = join()
    device_id = first["arm"][0]["device_id"]
    key = "/settings/devices/haptic*/filters/force_gate/gain"

    def gates() -> list[float]:
        return [peer.ask(FULL)["arm"][0]["config"]["force_gate"]["gain"] for peer in (client, other)]

    before = http.get(f"{key}?format=plain").data["value"]
    assert gates() == [before, before]
    client.ask({"arm": [{"device_id": device_id, "configure": {"force_gate": {"gain": 0.75}}}]})
    assert gates() == [0.75, before]
    try:
        assert http.post(key, 0.5).status == 200
        eventually(lambda: gates() == [0.75, 0.5], "the default holds for the other session", pause_s=POLL_S)
    finally:
        http.delete(key)
