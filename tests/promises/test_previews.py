"""Previews are off until their setting is on: clutch, force scaling, zoom about a pivot, effects, third-party modules."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from tests.promises.conftest import ClientOf
from tests.support.clients.http_client import HttpClient
from tests.support.clients.promise_session import FULL, PromiseSession, Vector, force, vector

# Frames hold float32: near 0.3 m their last digit is worth this much; a difference has several.
DIGITS: Final = 1e-7
# A device at rest trembles by less.
RESTS_M: Final = 1e-5
CLUTCH: Final = "clutch"
FORCE_SCALE: Final = "session_force_scale"
ZOOM: Final = "workspace_zoom"
HFX: Final = "hfx"


def switch(http: HttpClient, feature: str, *, on: bool = True) -> None:
    assert http.post(f"/settings/features/{feature}/enabled", on).status == 200


def shape(value: Any) -> Any:
    """Keys of a JSON value, without the values."""
    if isinstance(value, dict):
        return {key: shape(part) for key, part in value.items()}
    return [shape(part) for part in value] if isinstance(value, list) else None


@pytest.mark.promise(35)
def test_previews_are_off_and_leave_frames_unchanged(session: PromiseSession, http: HttpClient) -> None:
    """Previews are off by default, and the wire is the same before and after one was on."""
    before = shape(session.ask(FULL))
    for feature in (CLUTCH, FORCE_SCALE, ZOOM, HFX):
        path = f"/settings/features/{feature}/enabled"
        assert http.get(path).data["data"]["effective"] is False
        switch(http, feature)
        session.ask(FULL)
        switch(http, feature, on=False)

    assert shape(session.ask(FULL)) == before


# ---------------------------------------------------------------- clutch


def cursor(entry: Any) -> Vector:
    return vector(entry["state"]["cursor_position"])


def released(entry: Any) -> Vector:
    """Where the cursor would be without the clutch."""
    return cursor(entry) - vector(entry["state"]["clutch"]["offset"])


def apart(one: Vector, other: Vector) -> float:
    return float(np.linalg.norm(one - other))


def moved(session: PromiseSession, http: HttpClient) -> Any:
    """The arm's entry when the simulated hand has moved it by 5 cm and it rests."""
    http.post("/simulation/arm/0", {"hand": {"path": "hold", "position": {"x": 0.05, "y": -0.12, "z": 0.135}}})
    places: list[Vector] = []

    def rests(entry: Any) -> bool:
        places.append(released(entry))
        return bool(apart(places[-1], places[0]) > 0.04 and np.ptp(places[-20:], axis=0).max() < DIGITS)

    return session.wait_entry(rests, "the device has moved and rests")


def clutch(session: PromiseSession, ratio: float) -> Any:
    return session.shown(configure={"clutch": {"ratio": ratio}})


@pytest.mark.parametrize(
    "ratio",
    [
        pytest.param(0.5, marks=(pytest.mark.promise(36), pytest.mark.promise(38)), id="half speed"),
        pytest.param(0, marks=pytest.mark.promise(37), id="full freeze"),
    ],
)
def test_motion_is_scaled_by_the_ratio(session: PromiseSession, http: HttpClient, ratio: float) -> None:
    """The clutch scales the motion that the scene sees"""
    switch(http, CLUTCH)
    first = clutch(session, ratio)

    after = moved(session, http)

    expected = ratio * (released(after) - released(first))
    assert cursor(after) - cursor(first) == pytest.approx(expected, abs=RESTS_M)


@pytest.mark.promise(39)
def test_release_folds_the_offset_into_the_workspace(session: PromiseSession, http: HttpClient) -> None:
    """On release the offset is folded into the workspace, and the cursor does not jump."""
    switch(http, CLUTCH)
    view = {"basis": "XZ-Y", "mount": {"rotation": {"w": 0.6, "x": 0, "y": 0.8, "z": 0}, "scale": 2}}
    session.shown(configure=view, commands={"set_transform": {"transform": {"scale": {"x": 3, "y": 1, "z": 0.5}}}})
    first = clutch(session, 0)

    frozen = moved(session, http)
    assert cursor(frozen) == pytest.approx(cursor(first), abs=DIGITS)

    after = clutch(session, 1)

    # Between the frozen frame and the release the hand at rest drifts on by some micrometres, shown six times as large.
    assert cursor(after) == pytest.approx(cursor(frozen), abs=10 * RESTS_M)
    assert vector(after["state"]["clutch"]["offset"]) == pytest.approx(np.zeros(3), abs=1e-9)
    folded = vector(frozen["state"]["clutch"]["offset"])
    assert vector(after["state"]["transform"]["position"]) == pytest.approx(folded, abs=10 * RESTS_M)


@pytest.mark.promise(40)
@pytest.mark.parametrize("ratio", [0, 0.5, 1])
def test_force_feedback_continues_at_every_ratio(session: PromiseSession, http: HttpClient, ratio: float) -> None:
    """Force feedback goes on at every ratio of the clutch."""
    switch(http, CLUTCH)
    clutch(session, ratio)

    session.wait_entry(lambda entry: entry["state"]["current_cursor_force"]["x"] == 1, "1 N", commands=force(x=1))


@pytest.mark.promise(41)
def test_the_clutch_is_opt_in(session: PromiseSession, http: HttpClient) -> None:
    """The clutch is refused by the name of its setting until that is on."""
    message = session.message(configure={"clutch": {"ratio": 0}})
    (reason,) = session.faults(message).values()
    assert "features/clutch/enabled" in reason

    switch(http, CLUTCH)

    assert session.faults(message) == {}


# ---------------------------------------------------------------- force scaling


def duck(menu: PromiseSession, gain: float, **target: object) -> None:
    menu.ask({"session": {"configure": {"force_scale": {"gain": gain, **target}}}})


def pushes(session: PromiseSession, newtons: float) -> None:
    """The session pushes with 1 N along y, and that many arrive."""
    session.wait_entry(
        lambda entry: entry["state"]["current_cursor_force"]["y"] == pytest.approx(newtons, abs=1e-6),
        f"{newtons} N",
        commands=force(y=1),
    )


@pytest.mark.promise(42)
def test_client_reduces_one_session_s_force(session: PromiseSession, client_of: ClientOf, http: HttpClient) -> None:
    """A client scales one session's forces down to nothing, and its own go on."""
    switch(http, FORCE_SCALE)
    menu = client_of()
    pushes(session, 1)

    duck(menu, 0, session=session.id)

    pushes(session, 0)
    menu.wait_entry(
        lambda entry: entry["state"]["current_cursor_force"]["x"] == 1, "1 N of the menu", commands=force(x=1)
    )


HOLD: Final = {"set_cursor_position": {"position": {"x": 0.01, "y": -0.12, "z": 0.135}}}


@pytest.mark.promise(43)
def test_force_passes_from_one_session_to_the_other(
    session: PromiseSession, client_of: ClientOf, http: HttpClient
) -> None:
    """A session ducked to nothing hands the device over: another one may hold its position."""
    switch(http, FORCE_SCALE)
    menu = client_of()
    session.wait_entry(lambda entry: entry["state"]["control_mode"] == "position", "it is held", commands=HOLD)
    (reason,) = menu.faults(menu.message(commands=HOLD)).values()
    assert "holds the position" in reason

    duck(menu, 0, session=session.id)

    assert menu.faults(menu.message(commands=HOLD)) == {}


@pytest.mark.promise(44)
def test_forces_return_when_the_menu_closes(session: PromiseSession, client_of: ClientOf, http: HttpClient) -> None:
    """A session's forces come back when the session that ducked it closes."""
    switch(http, FORCE_SCALE)
    menu = client_of()
    duck(menu, 0, session=session.id)
    pushes(session, 0)

    menu.peer.close()

    pushes(session, 1)


@pytest.mark.promise(45)
@pytest.mark.parametrize("over_http", [False, True], ids=["gain 1", "DELETE"])
def test_forces_return_when_the_menu_is_dismissed(
    session: PromiseSession, client_of: ClientOf, http: HttpClient, *, over_http: bool
) -> None:
    """A session's forces come back when the menu is dismissed."""
    switch(http, FORCE_SCALE)
    menu = client_of()
    path = f"/sessions/{session.id}/force_scale"
    if over_http:
        assert http.post(path, {"gain": 0}).data == {"gain": 0}
    else:
        duck(menu, 0, session=session.id)
    pushes(session, 0)

    if over_http:
        assert http.delete(path).data == {"gain": 1}
    else:
        duck(menu, 1)

    pushes(session, 1)


@pytest.mark.promise(46)
def test_force_scaling_is_a_preview(session: PromiseSession, http: HttpClient) -> None:
    """Force scaling is refused by the name of its setting until that is on, over WebSocket and HTTP."""
    (reason,) = session.faults({"session": {"configure": {"force_scale": {"gain": 0}}}}).values()
    assert "features/session_force_scale/enabled" in reason
    refused = http.post(f"/sessions/{session.id}/force_scale", {"gain": 0})
    assert refused.status == 400
    assert "features/session_force_scale/enabled" in refused.json["error"]


# ---------------------------------------------------------------- zoom and effects


PIVOT: Final = {"x": 0.1, "y": 0.2, "z": -0.3}


@pytest.mark.promise(47)
def test_a_zoom_keeps_the_point_under_the_pivot(session: PromiseSession, http: HttpClient) -> None:
    """A zoom about a pivot keeps the pivot's point where it is."""
    switch(http, ZOOM)
    start = {"position": {"x": 0.2, "y": 0, "z": 0}, "scale": 2}
    session.shown(commands={"set_transform": {"transform": start}})
    point = (vector(PIVOT) - (0.2, 0, 0)) / 2

    zoom = {"set_transform": {"transform": {"scale": 6}, "pivot": PIVOT}}
    shown = session.shown(commands=zoom)["state"]["transform"]

    assert shown["scale"] == {"x": 6, "y": 6, "z": 6}
    assert vector(shown["position"]) + 6 * point == pytest.approx(vector(PIVOT), abs=1e-6)


@pytest.mark.promise(48)
def test_only_an_arm_has_a_pivot(session: PromiseSession, http: HttpClient) -> None:
    """Only an arm takes a pivot."""
    switch(http, ZOOM)
    zoom = {"set_transform": {"transform": {"scale": 6}, "pivot": PIVOT}}

    (reason,) = session.faults(session.message("compact", commands=zoom)).values()

    assert "only an arm has a pivot" in reason
    assert session.shown("compact")["state"]["transform"] == {}


@pytest.mark.promise(49)
def test_effect_is_accepted_and_shown_but_not_played(session: PromiseSession, http: HttpClient) -> None:
    """The effects module takes its command and shows its state; nothing is felt yet."""
    switch(http, HFX)

    shown = session.shown(commands={"hfx": {"id": 7}})["state"]

    assert shown["hfx"] == {"id": 7}
    assert shown["control_mode"] == "idle"
    assert shown["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}


@pytest.mark.promise(51)
def test_modules_add_their_own_field_only(session: PromiseSession, http: HttpClient) -> None:
    """Modules add their own fields to frames and leave the core schema as it is."""
    before = session.ask({"arm": [], **FULL})
    for feature in (CLUTCH, FORCE_SCALE, ZOOM, HFX):
        switch(http, feature)

    after = session.ask(FULL)

    added = {group: [set(entry["state"]) for entry in after[group]] for group in ("arm", "compact", "grip", "pen")}
    core = {group: [set(entry["state"]) for entry in before[group]] for group in added}
    assert added["arm"][0] - core["arm"][0] == {"clutch", "hfx"}
    for group in ("arm", "compact"):
        for entry in after[group]:
            for field in ("clutch", "hfx"):
                entry["state"].pop(field, None)
            entry["config"].pop("clutch", None)
    assert shape(after) == shape(before)
