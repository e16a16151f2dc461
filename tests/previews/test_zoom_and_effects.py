"""Previews `workspace_zoom` (about a pivot, over WebSocket and HTTP) and `hfx` (the base of effects)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.previews.conftest import Join
from tests.support.clients.http_client import HttpClient

PIVOT = {"x": 0.1, "y": 0.2, "z": -0.3}
START = {"position": {"x": 0.2, "y": 0, "z": 0}, "scale": 2}
# t' = c + (s'/s)(t - c) with s' = 6: three times as far from the pivot.
ZOOMED = {"x": 0.1 + 0.3, "y": 0.2 - 0.6, "z": -0.3 + 0.9}


def one(device_id: str, group: str = "arm", **entry: object) -> dict[str, Any]:
    return {group: [{"device_id": device_id, **entry}]}


def moved(transform: object, **more: object) -> dict[str, Any]:
    return {"commands": {"set_transform": {"transform": transform, **more}}}


def test_zoom_keeps_the_pivot_fixed(join: Join) -> None:
    client, _ = join()
    client.ask(one("A001", **moved(START)))

    state = client.ask(one("A001", **moved({"scale": 6}, pivot=PIVOT)))["arm"][0]["state"]

    assert state["transform"]["position"] == pytest.approx(ZOOMED, abs=1e-7)
    assert state["transform"]["scale"] == {"x": 6, "y": 6, "z": 6}


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_zoom_over_http_equals_zoom_over_websocket(join: Join, http: HttpClient, method: str) -> None:
    client, session_id = join()
    client.ask(one("A001", **moved(START)))

    reply = http.ask(
        method, f"/arm/A001/state/transform?session={session_id}", {"transform": {"scale": 6}, "pivot": PIVOT}
    )

    assert reply.status == 200
    assert reply.data["transform"]["position"] == pytest.approx(ZOOMED, abs=1e-7)


@pytest.mark.parametrize(
    ("group", "device_id", "transform", "pivot", "because"),
    [
        ("compact", "C001", {"scale": 2}, PIVOT, "only an arm has a pivot"),
        ("arm", "A001", {"scale": 2, "position": PIVOT}, PIVOT, "exclude each other"),
        ("arm", "A001", {"scale": 2}, {"x": 0}, "all of x, y, z"),
    ],
)
def test_invalid_pivot_moves_nothing(
    join: Join, http: HttpClient, group: str, device_id: str, transform: object, pivot: object, because: str
) -> None:
    client, session_id = join()

    frame = client.ask(one(device_id, group, **moved(transform, pivot=pivot)))

    assert because in frame["errors"][0]["reason"]
    assert frame[group][0]["state"]["transform"] == {}
    path = f"/{group}/{device_id}/state/transform?session={session_id}"
    assert http.patch(path, {"transform": transform, "pivot": pivot}).status == 400


def test_pivot_for_every_device_zooms_those_with_a_cursor(join: Join, http: HttpClient) -> None:
    client, session_id = join()
    path = f"/haptic*/*/state/transform?session={session_id}"

    reply = http.patch(path, {"transform": {"scale": 2}, "pivot": PIVOT})

    assert reply.status == 400
    assert [(one["device_id"], one["ok"]) for one in reply.json["results"]] == [("A001", True), ("C001", False)]
    assert "only an arm has a pivot" in reply.json["results"][1]["error"]
    frame = client.ask({})
    assert frame["arm"][0]["state"]["transform"]["scale"] == {"x": 2, "y": 2, "z": 2}
    assert frame["compact"][0]["state"]["transform"] == {}
    refused = http.patch(path, {"transform": {"scale": 2}, "pivot": {"x": 0}})
    assert "all of x, y, z" in refused.error


def test_effect_is_accepted_and_shown_but_not_played(join: Join) -> None:
    client, _ = join()
    assert client.ask({})["arm"][0]["state"]["hfx"] == {}

    frame = client.ask(one("A001", commands={"hfx": {"id": 7, "shape": ["sphere", None]}}))

    assert frame["arm"][0]["state"]["hfx"] == {"id": 7, "shape": ["sphere", None]}
    assert frame["arm"][0]["state"]["control_mode"] == "idle"
    assert frame["compact"][0]["state"]["hfx"] == {}
    assert "hfx" not in frame["grip"][0]["state"]


@pytest.mark.parametrize(
    ("group", "device_id", "sent", "because"),
    [
        ("arm", "A001", 3, "an object is needed"),
        ("arm", "A001", {"long": "x" * 2000}, "too long"),
        ("grip", "B001", {}, "an arm's or a compact's"),
    ],
)
def test_invalid_effect_is_named(join: Join, group: str, device_id: str, sent: object, because: str) -> None:
    client, _ = join()

    frame = client.ask(one(device_id, group, commands={"hfx": sent}))

    assert because in frame["errors"][0]["reason"]
    assert frame["arm"][0]["state"]["hfx"] == {}
