"""A client stops sending: its last command is held until the time-out and fades within 20 ms, in loop ticks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.clients.exchange import exchange
from tests.support.clients.raw_websocket import RawWebSocket, encode_message
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from tests.support.wire.wire_variants import Object

NS: Final = 1_000_000_000
FADE_S: Final = 0.020
FORCE_N: Final = 2.0
STREAM: Final = 10

FORCE: Final[Object] = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": FORCE_N}}}
TORQUE: Final[Object] = {"set_angular_torques": {"torques": {"a0": 100, "a1": 0, "a2": 0}}}
POSITION: Final[Object] = {"set_cursor_position": {"position": {"x": 0.2, "y": -0.12, "z": 0.135}}}
ANGLE: Final[Object] = {"set_angular_position": {"angles": {"a0": 40, "a1": 70, "a2": -130}}}


def to_arm(commands: Object) -> Object:
    """The message that commands the arm."""
    return {"arm": [{"device_id": "A001", "commands": commands}]}


@contextmanager
def streaming(
    folder: Path, rate: int, timeout: float, commands: Object
) -> Generator[tuple[InProcessService, RawWebSocket, int]]:
    """A session that has streamed commands and falls silent now; with the clock (ns) at which its last one was decoded."""
    settings = {"control/frequency": rate, "sessions/command_timeout": timeout}
    with InProcessService(folder, settings=settings, stepping=True) as service, RawWebSocket(service.ws) as peer:
        peer.frame()
        decoded = 0
        for _ in range(STREAM):
            service.wait(timeout / 4)
            decoded = service.runtime.now_ns()
            peer.ask(to_arm(commands))
        yield service, peer, decoded


def strength(state: Any) -> float:
    """Largest part of force (N) and torques (N.mm) of a state."""
    return float(max(abs(state["force"]).max(), abs(state["torque"]).max()))


def ticks_until_gone(service: InProcessService, seconds: float) -> Iterator[tuple[int, Any]]:
    """Clock (ns) and state of each tick, until the device is idle; AssertionError when that takes longer than some seconds."""
    for _ in range(round(seconds * float(service.runtime.loop_state()["target_frequency"]))):
        service.step()
        state = service.state("A001")
        yield int(state["time_ns"]), state
        if state["mode"] == 0:
            return
    raise AssertionError(f"still commanded after {seconds} s")


@pytest.mark.parametrize("timeout", [0.02, 0.05, 0.5])
@pytest.mark.parametrize("rate", [100, 1000, 4000, 32000])
def test_last_force_is_held_until_the_timeout_then_fades(tmp_path: Path, rate: int, timeout: float) -> None:
    tick = NS / rate
    with streaming(tmp_path, rate, timeout, FORCE) as (service, peer, decoded):
        last = FORCE_N
        whole_until = gone_at = 0
        for now, state in ticks_until_gone(service, timeout + 1):
            force = float(state["force"][2])
            assert 0 <= force <= last
            last, gone_at = force, now
            if force == FORCE_N:
                whole_until = now
        frame = peer.ask({})

    assert whole_until >= decoded + timeout * NS - tick
    assert decoded + timeout * NS < gone_at <= decoded + (timeout + FADE_S) * NS + 2 * tick
    assert last == 0
    shown = frame["arm"][0]["state"]
    assert shown["control_mode"] == "idle"
    assert shown["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}


@pytest.mark.parametrize("commands", [FORCE, TORQUE, POSITION, ANGLE, {**FORCE, **TORQUE, **POSITION}], ids=str)
def test_every_command_of_a_silent_client_ends_in_time(tmp_path: Path, commands: Object) -> None:
    tick = NS // 4000
    with streaming(tmp_path, 4000, 0.05, commands) as (service, _, decoded):
        assert strength(service.state("A001")) > 1
        gone_at = [now for now, _ in ticks_until_gone(service, 1)][-1]

        assert gone_at <= decoded + round(0.07 * NS) + 2 * tick
        assert strength(service.state("A001")) == 0


TALK: Final[dict[str, Callable[[RawWebSocket], object]]] = {
    "{}": lambda peer: peer.ask({}),
    "no object": lambda peer: peer.ask("no object"),
    "full frames": lambda peer: peer.ask({"session": {"force_render_full_state": {}}}),
    "configuration": lambda peer: peer.ask({"session": {"configure": {"profile": {"name": "it talks on"}}}}),
    "pings": lambda peer: peer.check_nothing_unread(),
}


@pytest.mark.parametrize("talk", TALK.values(), ids=TALK.keys())
def test_messages_without_commands_count_as_silence(tmp_path: Path, talk: Callable[[RawWebSocket], object]) -> None:
    with streaming(tmp_path, 4000, 0.05, FORCE) as (service, peer, decoded):
        gone_at = 0
        for number, (now, _) in enumerate(ticks_until_gone(service, 1)):
            gone_at = now
            if number % 20 == 0:
                talk(peer)

    assert gone_at <= decoded + round(0.07 * NS) + 2 * NS // 4000


def test_partial_message_counts_as_silence(tmp_path: Path) -> None:
    with streaming(tmp_path, 4000, 0.05, FORCE) as (service, peer, decoded):
        peer.write(encode_message(to_arm(FORCE))[:-1])
        gone_at = [now for now, _ in ticks_until_gone(service, 1)][-1]

    assert gone_at <= decoded + round(0.07 * NS) + 2 * NS // 4000


def test_client_that_reads_no_frames_counts_as_silent(tmp_path: Path) -> None:
    with InProcessService(tmp_path, stepping=True) as service, RawWebSocket(service.ws, receive_buffer=4096) as peer:
        session_id = peer.frame()["session_id"]
        service.shrink_send_buffer(session_id)
        mine = service.bridge.channels[session_id]
        peer.write(encode_message(to_arm(FORCE)) * 500)
        eventually(lambda: service.is_backlogged(session_id), "the service waits for its client", pause_s=0.01)
        received, decoded, gone_at = mine.commands_received, service.runtime.now_ns(), 0
        for now, _ in ticks_until_gone(service, 1):
            gone_at = now
            # The kernel may find room for some more frames, late.
            if mine.commands_received != received:
                received, decoded = mine.commands_received, now
        assert mine.commands_received < 500

    assert gone_at <= decoded + round(0.07 * NS) + 2 * NS // 4000


def test_timeout_of_one_client_keeps_the_force_of_another(tmp_path: Path) -> None:
    with streaming(tmp_path, 4000, 0.05, FORCE) as (service, _, decoded), RawWebSocket(service.ws) as other:
        other.frame()
        for _ in range(20):
            other.ask(to_arm({"set_cursor_force": {"vector": {"x": 1, "y": 0, "z": 0}}}))
            service.wait(0.01)
        state = service.state("A001")

    assert int(state["time_ns"]) > decoded + 0.07 * NS
    assert tuple(state["force"]) == (1, 0, 0)


def test_changed_timeout_applies_without_a_restart(tmp_path: Path) -> None:
    with InProcessService(tmp_path, stepping=True) as service, RawWebSocket(service.ws) as peer:
        peer.frame()

        def held_for(seconds: float) -> bool:
            peer.ask(to_arm(FORCE))
            service.wait(seconds)
            return float(service.state("A001")["force"][2]) == FORCE_N

        assert held_for(0.045)
        assert not held_for(0.055)
        for timeout in (0.5, 0.02):
            assert exchange(service.http, "POST", "/settings/sessions/command_timeout", timeout).status == 200
            longest, too_long = timeout - 0.005, timeout + 0.005
            eventually(lambda: held_for(longest) and not held_for(too_long), f"it is {timeout} s", pause_s=0.01)  # noqa: B023 - called at once
