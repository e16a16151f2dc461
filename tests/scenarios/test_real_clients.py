"""Unmodified public clients, under `auto` and `inverse`: each of their messages gets one TEXT frame with every field that they read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from tests.support.clients.client_requests import DEVICES, GROUPS, ClientRequest, read_real, read_requests
from tests.support.clients.raw_websocket import RawWebSocket, encode_frame
from tests.support.service.in_process_service import InProcessService
from tests.support.wire.frames import entries
from tests.support.wire.wire_variants import Object

NEUTRAL = {"arm", "compact", "grip", "pen"}
XYZ = {"x", "y", "z"}


@pytest.fixture(scope="module", params=["auto", "inverse"])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    folder, words = tmp_path_factory.mktemp("state"), {"serialization/vocabulary": request.param}
    with InProcessService(folder, simulated=DEVICES, settings=words, stepping=True) as running:
        yield running


def check_readable(frame: Object, version: str) -> dict[str, Object]:
    """Entries by id of a frame that has all that these clients read, alone or beside the neutral words; AssertionError."""
    assert set(frame) - {"errors"} - NEUTRAL == {"session_id", *GROUPS}
    assert NEUTRAL.isdisjoint(frame) or set(frame) >= NEUTRAL
    assert frame["session_id"] > 0
    assert all(isinstance(frame[group], dict if version == "3.0" else list) for group in GROUPS)
    found = list(entries(frame, GROUPS))
    assert [(group, name) for group, name, _ in found] == [(group, name) for group in GROUPS for name in GROUPS[group]]
    for group, name, entry in found:
        int(name, 16)
        state: Object = entry["state"]
        if group == "inverse3":
            for vector in ("cursor_position", "cursor_velocity"):
                assert set(state[vector]) == XYZ
                assert all(type(part) in (int, float) for part in state[vector].values())
            assert entry["status"]["calibrated"] is True
        else:
            assert set(state["orientation"]) == {"w", *XYZ}
            assert state["button"] is False
        if group == "wireless_verse_grip":
            assert state["buttons"] == {"a": False, "b": False, "c": False}
            assert 0 < state["battery_level"] <= 1
    return {name: entry for _, name, entry in found}


def answer(peer: RawWebSocket, request: ClientRequest, version: str) -> dict[str, Object]:
    """Entries of the one frame that answers a request."""
    peer.write(encode_frame(request.text, request.opcode))
    frame = peer.frame()
    shown = check_readable(frame, version)
    assert {name for name, entry in shown.items() if "config" in entry} == request.full
    assert [error["path"] for error in frame.get("errors", [])] == request.errors
    return shown


@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_each_client_gets_one_text_frame_for_each_message_with_all_that_it_reads(
    service: InProcessService, version: str
) -> None:
    url = service.ws_v30 if version == "3.0" else service.ws
    for _, requests in groupby(read_requests(), lambda request: request.client):
        with RawWebSocket(url) as peer:
            first = check_readable(peer.frame(), version)
            assert all("config" in entry for entry in first.values())
            named = False
            for request in requests:
                answer(peer, request, version)
                named = named or not request.message.keys().isdisjoint(GROUPS)
            assert not named or NEUTRAL.isdisjoint(peer.ask({}))
            peer.check_nothing_unread()
            peer.close()
        service.wait_for_sessions()


def test_client_that_sends_before_reading_gets_the_same_frames(service: InProcessService) -> None:
    requests = read_requests()
    with RawWebSocket(service.ws) as peer:
        peer.write(b"".join(encode_frame(request.text, request.opcode) for request in requests))
        check_readable(peer.frame(), "3.1")
        for request in requests:
            frame = peer.frame()
            shown = check_readable(frame, "3.1")
            assert {name for name, entry in shown.items() if "config" in entry} == request.full
            assert [error["path"] for error in frame.get("errors", [])] == request.errors
        peer.check_nothing_unread()


def test_commands_of_public_clients_are_executed(service: InProcessService) -> None:
    with RawWebSocket(service.ws) as peer:
        peer.frame()
        for request in read_requests():
            answer(peer, request, "3.1")
            service.step()
            for entry in request.message.get("inverse3", []):
                check_obeyed(service, entry, peer.ask({}))
        peer.check_nothing_unread()


def check_obeyed(service: InProcessService, entry: Object, frame: Object) -> None:
    """A force that was sent is applied, a position that was sent is held."""
    for device in frame["inverse3"]:
        if device["device_id"] == entry["device_id"]:
            commands: Object = entry["commands"]
            state: Any = device["state"]
            if "set_cursor_force" in commands:
                (force,) = commands["set_cursor_force"].values()
                assert (state["control_mode"], state["current_cursor_force"]) == ("force", force)
            if "set_cursor_position" in commands:
                (position,) = commands["set_cursor_position"].values()
                assert (state["control_mode"], state["current_cursor_position"]) == ("position", position)
                assert service.state(device["device_id"])["force"].any()


def test_frames_have_every_field_that_public_services_send(service: InProcessService) -> None:
    mover, wired = read_real("inverse3_04EA_state_update"), read_real("verse_grip_61576_state")
    shown, first = read_real("docs34_initial_inverse3_04BA"), read_real("docs34_initial_verse_grip_61548_partial")
    with RawWebSocket(service.ws_v30) as peer:
        ours = check_readable(peer.frame(), "3.0")

    arm, grip = ours["04EA"], ours["1605"]
    assert set(mover["state"]) <= set(arm["state"])
    assert set(mover["status"]) <= set(arm["status"])
    assert set(shown["state"]) <= set(arm["state"])
    assert set(shown["status"]) <= set(arm["status"])
    assert set(shown["config"]) <= set(arm["config"])
    assert arm["config"]["type"] == shown["config"]["type"]
    assert set(wired) <= set(grip["state"])
    assert set(first["config"]) <= set(grip["config"])
    assert set(first["state"]) <= set(grip["state"])
    assert grip["config"]["type"] == first["config"]["type"]
