"""Promises about configuration: the areas of a device over HTTP, and the `configure` maps of devices and sessions."""

from __future__ import annotations

from typing import Final

import pytest

from tests.promises.conftest import ClientOf
from tests.support.clients.http_client import HttpClient
from tests.support.clients.promise_session import FULL, PromiseSession

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
# What an area shows at first and what it can be set to.
AREAS: Final[dict[str, tuple[object, object]]] = {
    "basis": ({"permutation": "XYZ"}, {"permutation": "XZ-Y"}),
    "mount": ({"transform": IDENTITY}, {"transform": WHOLE}),
    "preset": ({"preset": "defaults"}, {"preset": "arm_front_centered"}),
    "transform": ({"transform": IDENTITY}, {"transform": WHOLE}),
    "filters": (
        {"force_gate": {"gain": 0.3}, "damping": {"scalar": 0}},
        {"force_gate": {"gain": 0.5}, "damping": {"scalar": 2}},
    ),
    "handedness": ({"handedness": "right"}, {"handedness": "left"}),
    "torque_scaling": ({"enabled": True}, {"enabled": False}),
    "gravity_compensation": ({"enabled": True, "scaling_factor": 1}, {"enabled": True, "scaling_factor": 0.5}),
    "home_return": ({"enabled": False}, {"enabled": True}),
}
OF_A_SESSION: Final = ("basis", "mount", "preset", "transform", "filters")


def of(session: PromiseSession, area: str) -> str:
    """The query that names the session, for areas that every session has for itself."""
    return f"?session={session.id}" if area in OF_A_SESSION else ""


@pytest.mark.parametrize("device", ["arm", "compact"])
@pytest.mark.parametrize(
    "area", [pytest.param(area, marks=pytest.mark.promise(63 + n)) for n, area in enumerate(AREAS)]
)
def test_area_is_read_set_and_reset(session: PromiseSession, http: HttpClient, area: str, device: str) -> None:
    """GET, POST and DELETE of a configuration area of an arm or a compact"""
    first, other = AREAS[area]
    path = f"/{device}/0/config/{area}{of(session, area)}"
    assert http.get(path).data == first

    assert http.post(path, other).data == other
    assert http.get(path).data == other

    assert http.delete(path).data == first
    assert http.get(path).data == first


# ---------------------------------------------------------------- configure


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("basis", {"permutation": "XZ-Y"}, marks=pytest.mark.promise(73), id="basis"),
        pytest.param("preset", "arm_front_centered", marks=pytest.mark.promise(74), id="preset"),
        pytest.param("mount", WHOLE, marks=pytest.mark.promise(75), id="mount"),
        pytest.param("force_gate", {"gain": 0.5}, marks=pytest.mark.promise(76), id="force_gate.gain"),
        pytest.param("damping", {"scalar": 2}, marks=pytest.mark.promise(77), id="damping"),
    ],
)
def test_configuration_is_read_back_in_its_sent_shape(session: PromiseSession, key: str, value: object) -> None:
    """The configure map is read back in the same shape in `config`"""
    assert session.config()[key] != value

    assert session.configured({key: value})[key] == value


@pytest.mark.promise(78)
@pytest.mark.parametrize("vocabulary", ["neutral", "inverse"])
@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_config_can_be_sent_back(session: PromiseSession, client_of: ClientOf, version: str, vocabulary: str) -> None:
    """What `config` shows can be sent back as `configure`, in both frame versions and vocabularies."""
    group = "arm" if vocabulary == "neutral" else "inverse3"
    session.configure(basis={"permutation": "XZ-Y"}, mount=WHOLE, damping={"scalar": 2}, force_gate={"gain": 0.5})
    one = client_of(version=version, vocabulary=vocabulary)
    own = {"basis": {"permutation": "XZ-Y"}, "damping": {"scalar": 2}, "force_gate": {"gain": 0.5}}
    for more in ({"mount": WHOLE}, {"preset": "arm_front_centered"}):
        config = one.configured({**own, **more}, group)

        frame = one.ask({**FULL, **one.message(group, configure=config)})

        assert "errors" not in frame
        assert one.config(group) == config


@pytest.mark.promise(72)
@pytest.mark.parametrize("area", OF_A_SESSION)
def test_only_session_may_be_omitted(session: PromiseSession, client_of: ClientOf, http: HttpClient, area: str) -> None:
    """Where exactly one session is open, an area of a session needs no session=."""
    first, other = AREAS[area]
    path = f"/arm/0/config/{area}"
    assert http.get(path).data == first
    assert http.post(path, other).data == other
    assert http.get(f"{path}?session={session.id}").data == other

    client_of()

    assert http.get(path).status == 400


@pytest.mark.promise(79)
def test_the_configuration_of_a_session_is_read_back(session: PromiseSession, http: HttpClient) -> None:
    """The basis of a session is read back in `config`, its profile and basis in the session's record."""
    wanted = {"profile": {"name": "read back"}, "basis": {"permutation": "XZ-Y"}}

    frame = session.ask({"session": {"configure": wanted, "force_render_full_state": {}}})

    for group in ("arm", "compact", "grip", "pen"):
        assert all(entry["config"]["basis"] == wanted["basis"] for entry in frame[group])
    assert wanted.items() <= http.get(f"/sessions/{session.id}").data.items()
