"""HTTP interface and event channel of the running service: with real sessions, over restarts, from other addresses."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from typing import Any, cast

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.support.service.addresses import FREE_PORTS
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

TIMEOUT_S = 60.0
GROUPS = ["arm", "compact", "grip", "pen"]
INVERSE_GROUPS = ["inverse3", "verse_grip", "wireless_verse_grip", "custom_verse_grip"]


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService() as running:
        yield running


def get(service: RunningService, path: str) -> Any:
    status, body = service.request("GET", path)
    assert status == 200, body
    return body


def session(url: str) -> ClientConnection:
    return connect(url, compression=None, open_timeout=TIMEOUT_S)


def read(connection: ClientConnection) -> Any:
    return json.loads(connection.recv(timeout=TIMEOUT_S))


def exchange(connection: ClientConnection, message: object) -> Any:
    connection.send(json.dumps(message))
    return read(connection)


def keys(value: Any) -> Any:
    """The shape of a JSON value: every object's keys in order, nothing of the values."""
    if isinstance(value, dict):
        return {key: keys(inner) for key, inner in cast("dict[str, Any]", value).items()}
    return [keys(inner) for inner in cast("list[object]", value)] if isinstance(value, list) else None


# ---------------------------------------------------------------- devices


@pytest.mark.parametrize(("url", "prefix"), [("ws", ""), ("ws_v30", "/3.0")])
@pytest.mark.parametrize("words", ["neutral", "inverse"])
def test_devices_answer_has_the_shape_of_a_full_frame(
    service: RunningService, url: str, prefix: str, words: str
) -> None:
    with session(f"{getattr(service, url)}/?vocabulary={words}") as connection:
        frame = read(connection)
    devices = get(service, f"{prefix}/devices?vocabulary={words}")

    assert frame.pop("session_id") > 0
    arms = devices["arm" if words == "neutral" else "inverse3"]
    (arm,) = arms.values() if prefix else arms
    # Of what a frame does not have there is this only.
    assert arm.pop("interruptions").keys() == {"interrupted_s", "force_lost", "gaps", "longest_ms"}
    assert keys(devices) == keys(frame)


def test_devices_answer_lists_the_simulated_devices(service: RunningService) -> None:
    devices = get(service, "/devices")

    assert list(devices) == GROUPS
    assert [len(devices[group]) for group in GROUPS] == [1, 0, 1, 0]
    assert devices["arm"][0]["config"]["type"] == "arm"
    assert (
        get(service, "/devices?session=default&format=json")["data"]["arm"][0]["config"] == devices["arm"][0]["config"]
    )


def test_unknown_session_is_404(service: RunningService) -> None:
    assert service.request("GET", "/devices?session=999999")[0] == 404
    assert service.request("GET", "/devices?session=x*")[0] == 404


def test_session_may_be_omitted_or_a_pattern_while_one_is_open(service: RunningService) -> None:
    eventually(lambda: get(service, "/sessions")["session_count"] == 0, "former sessions have left the list")
    with session(service.ws) as connection:
        session_id = read(connection)["session_id"]
        exchange(connection, {"session": {"configure": {"profile": {"name": "lone"}}}})
        eventually(lambda: get(service, f"/sessions/{session_id}/profile") == {"name": "lone"}, "the profile is shown")

        moved = {"position": {"x": 0.1, "y": 0, "z": 0}}
        status, body = service.request("POST", "/arm/0/config/mount", moved)
        assert (status, body["transform"]["position"]) == (200, moved["position"])
        assert get(service, "/arm/0/config/mount?session=lo*") == body
        assert list(get(service, "/devices?session=lo*")) == GROUPS

        with session(service.ws) as other:
            other_id = read(other)["session_id"]
            eventually(lambda: get(service, "/sessions")["session_count"] == 2, "both are listed")
            assert service.request("GET", "/arm/0/config/mount")[0] == 400
            results = get(service, "/arm/0/config/mount?session=*")["results"]
            assert [(one["session_id"], one["ok"]) for one in results] == [(session_id, True), (other_id, True)]
            assert results[0]["transform"] == body["transform"] != results[1]["transform"]
            seen = get(service, "/devices?session=*")["results"]
            assert [one["session_id"] for one in seen] == [session_id, other_id]


# ---------------------------------------------------------------- sessions


def test_session_is_listed_while_connected(service: RunningService) -> None:
    with session(service.ws) as connection:
        session_id = read(connection)["session_id"]
        for _ in range(5):
            exchange(connection, {})
        record = get(service, f"/sessions/{session_id}")
        listed = get(service, "/sessions")

        assert record["session_id"] == session_id
        assert (record["frames_sent"], record["commands_received"], record["version"]) == (6, 5, "3.1")
        assert record["remote_address"] == "127.0.0.1"
        assert len(record["devices"]) == 2
        assert session_id in [one["session_id"] for one in listed["sessions"]]

    eventually(lambda: service.request("GET", f"/sessions/{session_id}")[0] == 404, "the session leaves the list")


def test_profile_set_over_http_or_websocket_is_shown_over_both(service: RunningService) -> None:
    with session(service.ws) as connection:
        session_id = read(connection)["session_id"]
        exchange(connection, {"session": {"configure": {"profile": {"name": "brush"}}}})
        eventually(lambda: get(service, f"/sessions/{session_id}/profile") == {"name": "brush"}, "the profile is shown")

        assert service.request("POST", "/sessions/brush/profile", {"name": "pencil"}) == (200, {"name": "pencil"})
        assert get(service, "/sessions/pencil")["session_id"] == session_id
        assert service.request("GET", "/sessions/brush")[0] == 404
        assert service.request("DELETE", "/sessions/pencil/profile") == (200, {"name": "default"})
        assert get(service, f"/sessions/{session_id}/profile") == {"name": "default"}


def test_invalid_profile_is_refused_with_the_reason(service: RunningService) -> None:
    with session(service.ws) as connection:
        session_id = read(connection)["session_id"]
        status, body = service.request("POST", f"/sessions/{session_id}/profile", {"name": "x" * 101})

    assert status == 400
    assert body["error"].startswith("name: ")


def test_disconnected_session_raises_an_event_and_is_removed(service: RunningService) -> None:
    with session(service.ws) as connection, session(service.ws) as other:
        session_id = read(connection)["session_id"]
        read(other)
        assert service.request("DELETE", f"/sessions/{session_id}")[0] == 200
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=TIMEOUT_S)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1000, "disconnected over HTTP")
        eventually(lambda: service.request("GET", f"/sessions/{session_id}")[0] == 404, "the session leaves the list")
        assert "session_id" in exchange(other, {})


# ---------------------------------------------------------------- the stop


def applied_force(service: RunningService) -> float:
    force: dict[str, float] = get(service, "/devices")["arm"][0]["state"]["current_cursor_force"]
    return max(map(abs, force.values()))


def push(connection: ClientConnection, device_id: str) -> Any:
    command = {"set_cursor_force": {"vector": {"x": 0, "y": 1, "z": 0}}}
    return exchange(connection, {"arm": [{"device_id": device_id, "commands": command}]})


def pushed(connection: ClientConnection, device_id: str) -> float:
    return float(push(connection, device_id)["arm"][0]["state"]["current_cursor_force"]["y"])


def test_stop_overrides_commands_of_every_session(service: RunningService) -> None:
    with session(service.ws) as connection:
        device_id = read(connection)["arm"][0]["device_id"]
        eventually(lambda: pushed(connection, device_id) > 0.5, "the force is applied", tries=2000, pause_s=0.005)

        assert service.request("POST", "/stop")[1] == {"stopped": True, "everything": True, "devices": [device_id]}
        eventually(lambda: pushed(connection, device_id) == 0, "the force ends", tries=2000, pause_s=0.005)
        for _ in range(50):
            assert pushed(connection, device_id) == 0
        assert get(service, "/stop")["everything"] is True

        assert service.request("DELETE", "/stop")[1] == {"stopped": False, "everything": False, "devices": []}
        eventually(lambda: pushed(connection, device_id) > 0.5, "the force is back", tries=2000, pause_s=0.005)


# ---------------------------------------------------------------- events


def test_session_and_stop_events_are_sent(service: RunningService) -> None:
    with connect(
        f"{service.events}/?kinds=session-opened,session-closed,device-safety-triggered", open_timeout=TIMEOUT_S
    ) as events:
        # The subscription is under way: its first event is the proof that it has arrived.
        eventually(lambda: heard(service, events), "the subscription is known", tries=200)
        with session(service.ws) as connection:
            session_id = read(connection)["session_id"]
            until_event(events, "session-opened", session_id=session_id)
            service.request("POST", "/stop")
            assert until_event(events, "device-safety-triggered", safety_type="stopped")["level"] == "error"
            service.request("DELETE", "/stop")
            assert until_event(events, "device-safety-triggered", safety_type="released")["level"] == "notice"
        until_event(events, "session-closed", session_id=session_id)


def heard(service: RunningService, events: ClientConnection) -> bool:
    with session(service.ws) as connection:
        read(connection)
    try:
        events.recv(timeout=0.5)
    except TimeoutError:
        return False
    return True


def until_event(events: ClientConnection, name: str, **data: object) -> Any:
    while True:
        event = read(events)
        if event["name"] == name and data.items() <= event["data"].items():
            return event


def test_invalid_event_filter_is_refused_with_a_sentence(service: RunningService) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(f"{service.events}/?level=loud")

    assert refused.value.response.status_code == 400
    assert "level" in json.loads(refused.value.response.body or b"")["error"]


# ---------------------------------------------------------------- handshakes


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_foreign_origin_opens_no_websocket(service: RunningService, origin: str) -> None:
    for url in (service.ws, service.ws_v30, service.events):
        with pytest.raises(InvalidStatus) as refused:
            connect(url, additional_headers={"Origin": origin})
        assert refused.value.response.status_code == 403


def test_local_origin_opens_websockets(service: RunningService) -> None:
    with connect(service.ws, additional_headers={"Origin": "http://localhost:5173"}) as connection:
        assert list(read(connection)) == ["session_id", *GROUPS, *INVERSE_GROUPS]


@pytest.mark.parametrize(("path", "list_or_map"), [("/3.0", dict), ("/3.1", list), ("/?version=3.0", dict)])
def test_path_or_query_selects_the_frame_version(service: RunningService, path: str, list_or_map: type) -> None:
    with session(service.ws + path) as connection:
        assert isinstance(read(connection)["arm"], list_or_map)


# ---------------------------------------------------------------- settings and restarts


def test_settings_and_stop_survive_a_restart() -> None:
    with RunningService() as service:
        assert service.request("POST", "/settings/control/frequency", 1000)[0] == 200
        status, body = service.request("POST", "/settings/communication/max_sessions", 2)
        assert (status, body["data"]["effective"], body["data"]["restart_required"]) == (200, 64, True)
        assert service.request("POST", "/stop")[0] == 200

        service.kill()
        service.start()

        assert get(service, "/settings/control/frequency")["data"]["value"] == 1000
        assert get(service, "/settings/communication/max_sessions")["data"]["effective"] == 2
        assert get(service, "/stop")["everything"] is True
        assert applied_force(service) == 0
        assert get(service, "/readyz") == {"status": "ready"}
        assert service.request("DELETE", "/settings/control/frequency")[1]["data"]["value"] == 4000


def test_loop_rate_follows_its_setting(service: RunningService) -> None:
    assert service.request("POST", "/settings/control/frequency", 2000)[0] == 200
    eventually(lambda: "hapticd_loop_target_frequency_hertz 2000.0\n" in service.metrics(), "the loop has the new rate")
    assert service.request("DELETE", "/settings/control/frequency")[0] == 200


def test_vocabulary_setting_applies_to_new_answers() -> None:
    with RunningService("--vocabulary", "inverse") as service:
        record = get(service, "/settings/serialization/vocabulary")["data"]
        assert (record["effective"], record["overridden_by"]) == ("inverse", "command line")
        assert list(get(service, "/devices")) != GROUPS
        assert list(get(service, "/devices?vocabulary=neutral")) == GROUPS
        with session(service.ws) as connection:
            assert list(read(connection))[1:] == list(get(service, "/devices"))


# ---------------------------------------------------------------- ports


@pytest.mark.parametrize("setting", list(FREE_PORTS))
def test_port_in_use_exits_with_2_and_one_line(setting: str, tmp_path: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        second = RunningService(settings={setting: port}, state_dir=tmp_path)
        done = subprocess.run(second.command_line(), capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 2
    assert f"Port {port} is in use" in done.stderr
    assert f"--set {setting}=PORT" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_services_run_side_by_side(service: RunningService) -> None:
    with RunningService() as other:
        assert other.http != service.http
        assert get(other, "/readyz") == get(service, "/readyz") == {"status": "ready"}


# ---------------------------------------------------------------- from another address


def address_of_this_machine() -> str | None:
    """An address that is not loopback, without asking anybody: where a packet to a far network would leave."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))
        except OSError:
            return None
        found = str(probe.getsockname()[0])
    return None if found.startswith("127.") else found


@pytest.mark.skipif("address_of_this_machine() is None", reason="this machine has no address but loopback")
def test_remote_address_needs_the_token() -> None:
    with RunningService(settings={**FREE_PORTS, "communication/bind_all_interfaces": "true"}) as service:
        token = (service.state_dir / "token").read_text().strip()
        away = f"{address_of_this_machine()}:{service.http.rpartition(':')[2]}"

        with pytest.raises(InvalidStatus) as refused:
            connect(f"ws://{away}/")
        assert refused.value.response.status_code == 401
        with pytest.raises(InvalidStatus) as refused:
            connect(f"ws://{away}/?token={token}x")
        assert refused.value.response.status_code == 401
        with connect(f"ws://{away}/?token={token}") as connection:
            assert list(read(connection))[1:] == GROUPS + INVERSE_GROUPS
        with connect(f"ws://{away}/", additional_headers={"Authorization": f"Bearer {token}"}) as connection:
            assert list(read(connection))[1:] == GROUPS + INVERSE_GROUPS
        assert token not in service.log


@pytest.mark.skipif("address_of_this_machine() is None", reason="this machine has no address but loopback")
def test_remote_addresses_are_closed_by_default(service: RunningService) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address_of_this_machine(), int(service.http.rpartition(":")[2])), timeout=5)


# ---------------------------------------------------------------- under load


def test_http_requests_do_not_disturb_a_session(service: RunningService) -> None:
    with session(service.ws) as connection:
        read(connection)
        for _ in range(50):
            assert service.request("GET", "/devices")[0] == 200
            assert service.request("POST", "/nope", {"x": 1})[0] == 404
            assert exchange(connection, {})["arm"]
        assert service.request_raw("GET", "/healthz")[0] == 200


def test_metrics_page_has_loop_and_session_metrics(service: RunningService) -> None:
    with session(service.ws) as connection:
        read(connection)
        page = service.metrics()

    for name in ("hapticd_loop_ticks_total", "hapticd_sessions_open", "hapticd_frames_sent_total"):
        assert f"\n{name} " in page
