"""Promises about transforms: their parts, partial updates, and the parts that frames omit."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.promises.conftest import ClientOf
from tests.support.clients.http_client import HttpClient
from tests.support.clients.promise_session import PromiseSession, vector

WHOLE: Final = {
    "position": {"x": 0.1, "y": 0, "z": 0},
    "rotation": {"w": 0, "x": 0, "y": 1, "z": 0},
    "scale": {"x": 2, "y": 2, "z": 2},
}
IDENTITY: Final = {
    "position": {"x": 0, "y": 0, "z": 0},
    "rotation": {"w": 1, "x": 0, "y": 0, "z": 0},
    "scale": {"x": 1, "y": 1, "z": 1},
}


def workspace(session: PromiseSession, **parts: object) -> Any:
    """The workspace transform that the frame shows after these parts were sent."""
    return session.shown(commands={"set_transform": {"transform": parts}})["state"]["transform"]


@pytest.mark.promise(94)
def test_a_transform_has_three_parts(session: PromiseSession) -> None:
    """A transform has position, rotation (w, x, y, z) and scale."""
    shown = workspace(session, **WHOLE)

    assert shown == WHOLE
    assert list(shown["rotation"]) == ["w", "x", "y", "z"]
    assert session.configure(mount=WHOLE)["mount"] == WHOLE


@pytest.mark.promise(95)
def test_an_update_may_be_partial(session: PromiseSession, http: HttpClient) -> None:
    """Updates may be partial, over WebSocket and with PATCH."""
    workspace(session, position=WHOLE["position"])
    assert workspace(session, scale=2) == {"position": WHOLE["position"], "scale": WHOLE["scale"]}

    path = f"/arm/0/state/transform?session={session.id}"

    assert http.patch(path, {"rotation": WHOLE["rotation"]}).data["transform"] == WHOLE
    assert session.shown()["state"]["transform"] == WHOLE


@pytest.mark.promise(96)
def test_identity_parts_are_omitted_from_frames(session: PromiseSession) -> None:
    """Parts that are the identity are left out of frames."""
    assert session.shown()["state"]["transform"] == {}
    assert workspace(session, **{**IDENTITY, "scale": 2}) == {"scale": WHOLE["scale"]}
    assert session.configure(mount=IDENTITY)["mount"] == {}


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param("explicit_fields", marks=(pytest.mark.promise(97), pytest.mark.promise(99))),
        pytest.param("force_complete_transforms", marks=(pytest.mark.promise(98), pytest.mark.promise(99))),
    ],
)
@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_a_setting_shows_every_part(client_of: ClientOf, http: HttpClient, version: str, setting: str) -> None:
    """A setting makes frames show every part of a transform, in v3.0 and v3.1"""
    one = client_of(version=version)
    assert one.shown()["state"]["transform"] == {}
    record = http.get(f"/settings/serialization/{setting}").data["data"]
    assert record["metadata"]["advanced"] is True

    http.post(f"/settings/serialization/{setting}", True)

    assert one.shown()["state"]["transform"] == IDENTITY
    assert one.config()["mount"] == IDENTITY


@pytest.mark.promise(100)
def test_a_pivot_is_optional(session: PromiseSession, http: HttpClient) -> None:
    """A workspace update may have a pivot, whose preview is on."""
    http.post("/settings/features/workspace_zoom/enabled", True)
    assert workspace(session, scale=2) == {"scale": WHOLE["scale"]}

    pivot = {"x": 0.1, "y": 0, "z": 0}
    shown = session.shown(commands={"set_transform": {"transform": {"scale": 4}, "pivot": pivot}})["state"]["transform"]

    assert vector(shown["position"]) == pytest.approx((-0.1, 0, 0), abs=1e-6)
