"""Promises about selectors: how a path names devices and sessions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.conftest import ClientOf
from tests.support.clients.http_client import HttpClient
from tests.support.clients.promise_session import PromiseSession


def ids(http: HttpClient, *groups: str) -> list[str]:
    """Ids in the order of a frame; of all groups unless some are named."""
    frame = http.get("/devices").data
    return [entry["device_id"] for group in groups or frame for entry in frame[group]]


def acted(answer: Any) -> list[str]:
    """Ids of the devices that a pattern acted on, all of them with success."""
    assert all(one["ok"] for one in answer["results"]), answer
    return [one["device_id"] for one in answer["results"]]


@pytest.mark.promise(52)
def test_an_id_names_a_device(http: HttpClient) -> None:
    """A device is named by its id."""
    for group in ("arm", "compact", "grip", "pen"):
        for device_id in ids(http, group):
            assert http.get(f"/{group}/{device_id}").data["device_id"] == device_id
    assert http.get("/arm/none").status == 404


@pytest.mark.promise(53)
def test_an_index_names_a_device(http: HttpClient) -> None:
    """A device is named by its index, from zero, in the order of a frame."""
    assert [http.get(f"/grip/{index}").data["device_id"] for index in range(2)] == ids(http, "grip")
    assert http.get("/grip/2").status == 404


@pytest.mark.promise(54)
@pytest.mark.parametrize("selector", ["*/*", "haptic*/*", "arm/*", "*/{arm}"])
def test_a_wildcard_replaces_either_segment(session: PromiseSession, http: HttpClient, selector: str) -> None:
    """A wildcard may replace either segment: POST, PATCH and DELETE act on every match."""
    moved = ids(http, "arm") if "arm" in selector else ids(http, "arm", "compact")
    path = f"/{selector.format(arm=ids(http, 'arm')[0])}/state/transform?session={session.id}"

    def answered(answer: Any) -> list[str]:
        return acted(answer) if "results" in answer else moved

    assert answered(http.post(path, {"scale": 2}).data) == moved
    assert answered(http.patch(path, {"scale": 3}).data) == moved
    assert session.shown()["state"]["transform"]["scale"]["x"] == 3
    assert answered(http.delete(path).data) == moved
    assert session.shown()["state"]["transform"] == {}


@pytest.mark.promise(56)
def test_the_first_arm_needs_no_identifier(http: HttpClient) -> None:
    """`/arm/0/...` is the first arm."""
    assert http.get("/arm/0").data["device_id"] == ids(http, "arm")[0]
    assert http.get("/arm/0/config/handedness").data == {"handedness": "right"}


@pytest.mark.promise(57)
def test_star_as_family_acts_on_all_devices(session: PromiseSession, http: HttpClient) -> None:
    """`/haptic*/*/...` is all devices of all types."""
    reply = http.post(f"/haptic*/*/config/basis?session={session.id}", {"permutation": "XZY"})

    assert acted(reply.data) == ids(http)


@pytest.mark.promise(58)
@pytest.mark.parametrize(("pattern", "groups"), [("ar*", ["arm"]), ("p*", ["pen"]), ("*m*", ["arm", "compact"])])
def test_star_matches_any_sequence(session: PromiseSession, http: HttpClient, pattern: str, groups: list[str]) -> None:
    """A star matches any sequence, in front, behind, or in the middle of a type."""
    reply = http.post(f"/{pattern}/*/config/basis?session={session.id}", {"permutation": "XZY"})

    assert set(ids(http, *groups)) <= set(acted(reply.data))
    assert not set(acted(reply.data)) & set(ids(http, "grip"))


@pytest.mark.promise(59)
def test_selectors_are_percent_decoded(session: PromiseSession, http: HttpClient) -> None:
    """Selectors are percent-decoded: %2A, %3A, %3F."""
    session.ask({"session": {"configure": {"profile": {"name": "p4"}}}})

    assert http.get("/sessions/%3A0").data["session_id"] == session.id
    for pattern in ("%2A4", "p%3F"):
        assert [one["session_id"] for one in http.get(f"/sessions/{pattern}").data["sessions"]] == [session.id]
    assert acted(http.post(f"/arm/%2A/config/basis?session={session.id}", "XZY").data) == ids(http, "arm")


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [
        pytest.param("p*", [0, 1, 2], marks=pytest.mark.promise(60), id="a star for any sequence"),
        pytest.param("p%3F", [0, 1], marks=pytest.mark.promise(61), id="a question mark for one character"),
    ],
)
def test_session_selectors_take_wildcards(
    client_of: ClientOf, http: HttpClient, selector: str, wanted: list[int]
) -> None:
    """Session selectors take wildcards"""
    sessions = []
    for name in ("p4", "p5", "p45", "q4"):
        one = client_of()
        one.ask({"session": {"configure": {"profile": {"name": name}}}})
        sessions.append(one.id)

    found = [one["session_id"] for one in http.get(f"/sessions/{selector}").data["sessions"]]

    assert found == [sessions[index] for index in wanted]


@pytest.mark.promise(55)
def test_a_wildcard_replaces_either_segment_of_a_get(http: HttpClient) -> None:
    """A GET with a wildcard answers a result for each device that matches."""
    answer = http.get("/haptic*/*/config/handedness").data

    assert acted(answer) == ids(http, "arm", "compact")
    assert [one["handedness"] for one in answer["results"]] == ["right", "right"]
    assert acted(http.get("/*/*/config/paired_with").data) == ids(http)


@pytest.mark.promise(62)
@pytest.mark.parametrize(
    ("area", "body"),
    [
        ("mount", {"position": {"x": 0, "y": 0, "z": 1}}),
        ("preset", {"preset": "defaults"}),
        ("transform", {"scale": 2}),
        ("filters", {"force_gate": {"gain": 1}}),
        ("handedness", {"handedness": "left"}),
        ("torque_scaling", {"enabled": True}),
        ("gravity_compensation", {"enabled": True}),
        ("home_return", {"enabled": True}),
    ],
)
def test_unsupported_area_of_a_handle_is_refused_with_the_reason(
    session: PromiseSession, http: HttpClient, area: str, body: dict[str, object]
) -> None:
    """Every area has the same routes on every device; one that a grip or pen cannot have is 422 with the reason."""
    for device in ("grip/0", "grip/1", "pen/0"):
        path = f"/{device}/config/{area}?session={session.id}"
        for reply in (http.get(path), http.post(path, body), http.delete(path)):
            assert reply.status == 422
            assert device.partition("/")[0] in reply.json["error"]


@pytest.mark.promise(62)
def test_every_device_has_a_basis(session: PromiseSession, http: HttpClient) -> None:
    """Every area has the same routes on every device; one that a grip or pen cannot have is 422 with the reason."""
    for device in ("arm/0", "compact/0", "grip/0", "grip/1", "pen/0"):
        path = f"/{device}/config/basis?session={session.id}"
        assert http.post(path, {"permutation": "XZY"}).data == http.get(path).data == {"permutation": "XZY"}
        assert http.delete(path).data == {"permutation": "XYZ"}
