"""Promises about refusals by firmware, error envelopes and deprecated forms, tested on a running service."""

from __future__ import annotations

from typing import Final

import pytest

from tests.promises.conftest import Plug
from tests.support.clients.event_client import EventClient
from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.process import RunningService

DAMPING: Final = {"scalar": 1}
UNSUPPORTED: Final = "device-protocol-unsupported"


@pytest.fixture
def http(empty_service: RunningService) -> HttpClient:
    return HttpClient(empty_service.http)


@pytest.mark.promise(217)
@pytest.mark.promise(206, "`device-protocol-unsupported` accompanies the 422 of damping before firmware 7.5")
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_damping_needs_firmware_7_5(empty_service: RunningService, http: HttpClient, plug: Plug, method: str) -> None:
    """POST and DELETE of damping answer 422 before firmware 7.5, with the event, and 200 from 7.5 on."""
    old, new = plug("arm", "0704", firmware="7.4"), plug("arm", "0705", firmware="7.5")
    body = DAMPING if method == "POST" else ...
    with RawWebSocket(empty_service.ws) as client, EventClient(empty_service.events) as events:
        session_id = client.frame()["session_id"]

        def status(device_id: str) -> int:
            return http.ask(method, f"/arm/{device_id}/config/filters/damping?session={session_id}", body).status

        assert status(old) == 422
        told = events.wait_for_event(UNSUPPORTED, device_id=old, feature="damping")
        assert (told["data"]["firmware"], told["data"]["required"]) == ("7.4", "7.5")
        assert status(new) == 200


@pytest.mark.promise(218)
@pytest.mark.promise(207, "`device-protocol-unsupported` accompanies the 422 of return-to-home before firmware 7.4")
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_home_return_needs_firmware_7_4(
    empty_service: RunningService, http: HttpClient, plug: Plug, method: str
) -> None:
    """POST and DELETE of return-to-home answer 422 before firmware 7.4, with the event, and 200 from 7.4 on."""
    old, new = plug("arm", "0703", firmware="7.3"), plug("arm", "0704", firmware="7.4")
    with EventClient(empty_service.events) as events:
        assert http.ask(method, f"/arm/{old}/home_return").status == 422
        told = events.wait_for_event(UNSUPPORTED, device_id=old, feature="home_return")
        assert (told["data"]["firmware"], told["data"]["required"]) == ("7.3", "7.4")
        assert http.ask(method, f"/arm/{new}/home_return").status == 200


@pytest.mark.promise(219)
def test_firmware_is_judged_before_the_session_is_asked_for(
    empty_service: RunningService, http: HttpClient, plug: Plug
) -> None:
    """POST of damping without `session=` is 422 with the event before firmware 7.5, and 200 from 7.5 on where one session is open."""
    old, new = plug("arm", "0704", firmware="7.4"), plug("arm", "0705", firmware="7.5")
    with EventClient(empty_service.events) as events:
        assert http.post(f"/arm/{old}/config/filters/damping", DAMPING).status == 422
        events.wait_for_event(UNSUPPORTED, device_id=old, feature="damping")
    with RawWebSocket(empty_service.ws) as client:
        client.frame()
        reply = http.post(f"/arm/{new}/config/filters/damping", DAMPING)
        assert reply.status == 200, reply.json


@pytest.mark.promise(220)
@pytest.mark.promise(208, "`device-protocol-unsupported` on the session channel too")
def test_nothing_is_dropped_silently_on_old_firmware(empty_service: RunningService, plug: Plug) -> None:
    """What an old firmware cannot do is named in `errors` of the session channel and raises the event."""
    old = plug("arm", "0704", firmware="7.4")
    with RawWebSocket(empty_service.ws) as client, EventClient(empty_service.events) as events:
        client.frame()
        frame = client.ask({"arm": [{"device_id": old, "configure": {"damping": DAMPING}}]})

        assert [one["path"] for one in frame["errors"]] == ["arm[0].configure.damping"]
        assert "7.5" in frame["errors"][0]["reason"]
        events.wait_for_event(UNSUPPORTED, device_id=old, feature="damping")


@pytest.mark.promise(221)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_envelope_of_a_422_is_not_ok(http: HttpClient, plug: Plug, method: str) -> None:
    """`ok` is false in the envelope when one of several devices refuses, as the status 422 says."""
    plug("arm", "0703", firmware="7.3")
    plug("arm", "0705", firmware="7.5")

    reply = http.ask(method, "/haptic*/*/home_return?format=json")

    assert (reply.status, reply.json["ok"]) == (422, False)
    assert "7.4" in reply.json["error"]


@pytest.mark.promise(222)
def test_deprecated_use_succeeds(empty_service: RunningService, http: HttpClient, plug: Plug) -> None:
    """A deprecated command or route does what it always did."""
    device_id = plug("arm", "0705")
    old_force = {"arm": [{"device_id": device_id, "commands": {"set_cursor_force": {"values": [0, 0, 0.5]}}}]}
    with RawWebSocket(empty_service.ws) as client:
        client.frame()
        assert "errors" not in client.ask(old_force)
    assert http.post("/torque_scaling", {"device_id": device_id, "enable": False}).status == 200
    assert http.get(f"/arm/{device_id}/config/torque_scaling").data == {"enabled": False}
