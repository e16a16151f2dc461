"""Each optional monitor over a running service: the setting over HTTP, its event, and its trip; virtual time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.clients.exchange import exchange
from tests.support.service.polling import eventually
from tests.support.service.safety_service import ARM, GRIP, SafetyService, force_command

DEFAULTS: dict[str, object] = {
    "kinetic_energy_limit": 0.0,
    "power_limit": 0.0,
    "contact_energy_limit": 0.0,
    "stiffness_warning": False,
    "brake_latch": False,
    "stop_brake": False,
    "enable_button": "off",
}
TRIPS = f"/arm/{ARM}/trips"
RESUME = f"/arm/{ARM}/resume"


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[SafetyService]:
    with SafetyService(tmp_path) as opened:
        opened.simulate("arm", ARM, hand={"path": "rest"})
        opened.service.wait(0.5)
        yield opened


def switch(setup: SafetyService, name: str, value: object) -> None:
    """Set a setting; return when the loop has it."""
    reply = setup.ask("POST", f"/settings/features/{name}", {"value": value})
    assert reply.status == 200, reply.body
    # The device's actor answers a request after it has handled the change.
    assert setup.ask("POST", f"/arm/{ARM}/resume").status == 200
    setup.service.step()


def answer(setup: SafetyService, path: str, method: str = "GET") -> Any:
    reply = setup.ask(method, path)
    assert reply.status == 200, reply.body
    return json.loads(reply.body)


def trips(setup: SafetyService) -> list[dict[str, Any]]:
    """The arm's trips; at least one."""
    eventually(lambda: answer(setup, TRIPS)["trips"], "a trip is logged", pause_s=0.005)
    found: list[dict[str, Any]] = answer(setup, TRIPS)["trips"]
    return found


def throw(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, fault="throw")
    setup.service.wait(0.02)
    setup.simulate("arm", ARM, fault="none")


@pytest.mark.parametrize("name", DEFAULTS)
def test_each_is_off_by_default(setup: SafetyService, name: str) -> None:
    assert answer(setup, f"/settings/features/{name}")["data"]["value"] == DEFAULTS[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kinetic_energy_limit", -1),
        ("kinetic_energy_limit", "much"),
        ("power_limit", 1e9),
        ("power_limit", None),
        ("contact_energy_limit", [1]),
        ("contact_energy_limit", True),
        ("stiffness_warning", 2),
        ("brake_latch", "yes please"),
        ("stop_brake", {}),
        ("enable_button", "d"),
        ("enable_button", 1),
    ],
)
def test_value_that_is_none_is_refused_and_changes_nothing(setup: SafetyService, name: str, value: object) -> None:
    reply = setup.ask("POST", f"/settings/features/{name}", {"value": value})

    assert reply.status == 400, reply.body
    assert name in reply.body.decode()
    assert answer(setup, f"/settings/features/{name}")["data"]["value"] == DEFAULTS[name]


def test_kinetic_energy_trips_with_an_event_and_the_motion_before_it(setup: SafetyService) -> None:
    switch(setup, "kinetic_energy_limit", 0.3)
    throw(setup)

    setup.wait_for_event("kinetic_energy_limit")
    setup.wait_for_event("ebrake_triggered")
    (trip,) = trips(setup)
    assert (trip["number"], trip["cause"], trip["unit"], trip["limit"]) == (1, "kinetic_energy_limit", "J", 0.3)
    assert trip["value"] > 0.3
    samples = trip["samples"]
    assert samples["time_s"] == pytest.approx(-0.001 * np.arange(200, 0, -1), abs=1e-6)
    assert [len(samples[name]) for name in ("position_m", "velocity_m_s", "force_n")] == [200] * 3
    assert float(np.linalg.norm(samples["velocity_m_s"][-1])) > 0.5
    assert samples["velocity_m_s"][0] == pytest.approx([0, 0, 0], abs=0.1)
    setup.service.wait(0.2)
    changes = answer(setup, TRIPS)["changes"]
    assert changes["monitors"]["added_n_s"] > 0
    assert set(changes) == {"filter", "damper", "monitors"}
    assert changes["filter"] == {"taken_n_s": 0, "added_n_s": 0}


def test_power_and_contact_energy_trip_with_their_events(setup: SafetyService) -> None:
    for name, value, cause in (
        ("power_limit", 0.1, "power_limit"),
        ("contact_energy_limit", 0.005, "contact_energy_limit"),
    ):
        switch(setup, name, value)
        setup.stream(0.3, force_command(y=6), every=0.01)
        setup.wait_for_event(cause)
        switch(setup, name, 0)
        setup.service.wait(4)

    assert [trip["cause"] for trip in trips(setup)] == ["power_limit", "contact_energy_limit"]


def test_stiff_wall_of_a_slow_client_is_warned_of(setup: SafetyService) -> None:
    switch(setup, "stiffness_warning", True)
    setup.simulate("arm", ARM, hand={"path": "circle"})
    for _ in range(200):
        x = setup.frame()["state"]["cursor_position"]["x"]
        setup.frame(force_command(x=max(-8.0, min(8.0, -1500 * x))))
        setup.service.step(20)
        if int(setup.service.state(ARM)["stiffness_warnings"]):
            break

    setup.wait_for_event("stiffness_warning")
    assert trips(setup)[-1]["cause"] in {"stiffness_warning", "oscillation"}


def test_latched_brake_waits_until_it_is_resumed(setup: SafetyService) -> None:
    switch(setup, "brake_latch", True)
    assert answer(setup, RESUME) == {"device_id": ARM, "waiting": False, "braking": False}
    assert answer(setup, RESUME, "POST") == {"device_id": ARM, "resumed": False}
    throw(setup)
    event = setup.wait_for_event("ebrake_waiting")
    assert event["data"]["request"] == f"POST {RESUME}"
    setup.service.wait(8)
    assert setup.safety["ebrake"]
    assert answer(setup, RESUME) == {"device_id": ARM, "waiting": True, "braking": True}

    method, path = str(event["data"]["request"]).split()
    assert answer(setup, path, method) == {"device_id": ARM, "resumed": True}
    setup.service.wait(0.01)
    assert not setup.safety["ebrake"]
    assert answer(setup, RESUME) == {"device_id": ARM, "waiting": False, "braking": False}
    setup.wait_for_event("ebrake_released")


def test_resumed_device_brakes_on_until_it_is_slow(setup: SafetyService) -> None:
    switch(setup, "brake_latch", True)
    throw(setup)
    setup.wait_for_event("ebrake_waiting")

    assert answer(setup, RESUME, "POST") == {"device_id": ARM, "resumed": True}
    setup.service.step()
    assert answer(setup, RESUME) == {"device_id": ARM, "waiting": False, "braking": True}
    setup.service.wait(8)
    assert answer(setup, RESUME) == {"device_id": ARM, "waiting": False, "braking": False}


def test_stop_brakes_a_moving_device_first(setup: SafetyService) -> None:
    switch(setup, "stop_brake", True)
    setup.stream(0.1, force_command(y=6), every=0.01)
    assert setup.ask("POST", "/stop").status == 200
    setup.service.step()

    setup.wait_for_event("stop_braking")
    setup.service.wait(0.6)
    assert np.all(setup.service.state(ARM)["force"] == 0)
    assert [trip["cause"] for trip in trips(setup)] == ["stop_brake"]


def test_force_needs_the_enabling_button_of_the_grip(setup: SafetyService) -> None:
    setup.set_attached(attached=True)
    switch(setup, "enable_button", "b")
    setup.stream(0.1, force_command(y=1))
    assert np.all(setup.service.state(ARM)["force"] == 0)
    setup.wait_for_event("enable_released")

    setup.simulate("grip", GRIP, buttons={"b": True})
    setup.stream(0.1, force_command(y=1))
    assert float(setup.service.state(ARM)["force"][1]) == pytest.approx(1)

    setup.simulate("grip", GRIP, fault="hang")
    setup.stream(0.4, force_command(y=1))
    assert np.all(setup.service.state(ARM)["force"] == 0)


def test_trips_outlive_a_reconnection_and_their_numbers_go_on(setup: SafetyService) -> None:
    throw(setup)
    assert [trip["cause"] for trip in trips(setup)] == ["speed"]
    assert setup.ask("DELETE", f"/simulation/devices/{ARM}").status == 200
    setup.service.step(2)
    assert setup.ask("GET", TRIPS).status == 404
    reply = setup.ask("POST", "/simulation/devices", {"type": "arm", "device_id": ARM})
    assert reply.status in (200, 201), reply.body
    setup.service.wait(0.5)

    assert [trip["number"] for trip in trips(setup)] == [1]


def test_several_devices_show_their_trips_without_samples(setup: SafetyService) -> None:
    throw(setup)
    trips(setup)
    several = answer(setup, "/arm/*/trips")

    shown = several["trips"] if "trips" in several else several["results"][0]["trips"]
    assert [sorted(trip) for trip in shown] == [["cause", "limit", "number", "time", "unit", "value"]]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"/grip/{GRIP}/trips", 422),
        ("GET", f"/grip/{GRIP}/resume", 422),
        ("POST", f"/grip/{GRIP}/resume", 422),
        ("GET", "/arm/nobody/trips", 404),
        ("POST", "/arm/nobody/resume", 404),
        ("POST", TRIPS, 405),
        ("DELETE", RESUME, 405),
    ],
)
def test_wrong_requests_are_refused(setup: SafetyService, method: str, path: str, status: int) -> None:
    assert setup.ask(method, path).status == status


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"device_id": "other"}', "device_id: unknown: this route takes no body, leave it out"),
        ("null", "This route takes no body: leave it out."),
        ("[]", "This route takes no body: leave it out."),
        ('"x"', "This route takes no body: leave it out."),
        ("0", "This route takes no body: leave it out."),
        ("{", "The body is not JSON"),
    ],
)
def test_resume_with_a_body_is_refused_and_the_device_waits_on(setup: SafetyService, text: str, sentence: str) -> None:
    switch(setup, "brake_latch", True)
    throw(setup)
    setup.wait_for_event("ebrake_waiting")

    reply = exchange(setup.service.http, "POST", RESUME, text, raw=True)

    assert reply.status == 400
    assert json.loads(reply.body)["error"].startswith(sentence)
    assert answer(setup, RESUME)["waiting"]


@pytest.mark.parametrize("text", ["", "{}", " \n"])
def test_resume_takes_no_body_or_an_empty_object(setup: SafetyService, text: str) -> None:
    assert exchange(setup.service.http, "POST", RESUME, text, raw=True).status == 200
