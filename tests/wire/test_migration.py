"""docs/migration.md is correct: each old form acts like its new form and causes a deprecation event."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from actors.values.commands import RENAMED_COMMANDS, SET_COORDINATE_ORIGIN
from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import Reply, exchange
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.actor_faults import drain_actor
from tests.support.service.in_process_service import InProcessService
from tests.support.wire.doc_page import DEVICES, DOCS, Block, sections
from tests.support.wire.wire_variants import Object
from transport.http.resources.old_routes import OLD_ROUTES
from transport.wire.deprecated import SESSION_BASIS

SERVED = DEVICES

PAGE = (DOCS / "migration.md").read_text(encoding="utf-8")
BLOCKS = tuple(block for section in sections("migration.md") for block in section.blocks)
FULL: Object = {"session": {"force_render_full_state": {}}}
COMMANDED = (
    "current_cursor_force",
    "current_cursor_position",
    "current_angular_torques",
    "current_angular_position",
    "control_mode",
    "transform",
)
MEASURED = {"current_cursor_force", "current_angular_torques"}


def pairs(kind: str) -> list[Any]:
    """Each old form of one kind with the new form that stands behind it."""
    found = [(old, new) for old, new in pairwise(BLOCKS) if (old.kind, new.kind) == (f"{kind} old", f"{kind} new")]
    return [pytest.param(old.text, new.text, id=old.text.partition("\n")[0]) for old, new in found]


# ---------------------------------------------------------------- commands


def effect(service: InProcessService, message: str) -> Any:
    """What a fresh session that sends a message sees of configuration and commands, two ticks later."""
    with RawWebSocket(service.ws) as peer:
        peer.frame()
        peer.send_text(message)
        assert "errors" not in peer.frame()
        service.step(2)
        frame = peer.ask(FULL)
        peer.close()
    service.wait_for_sessions()
    service.step(2)
    arm = frame["arm"][0]
    return [arm["config"], {name: arm["state"][name] for name in COMMANDED}]


@pytest.mark.promise(227, "each old command does what the new one does")
@pytest.mark.parametrize(("old", "new"), pairs("json"))
def test_old_command_acts_like_its_replacement(
    service: InProcessService, listener: EventClient, old: str, new: str
) -> None:
    nothing = effect(service, "{}")
    was, now = effect(service, old), effect(service, new)

    assert_alike(was, now)
    assert ("probe" in old) == (was == nothing)
    command = next(
        word
        for word in (*RENAMED_COMMANDS, SET_COORDINATE_ORIGIN, SESSION_BASIS, *commands_of(old))
        if f'"{word}"' in old
    )
    listener.wait_for_event("command-deprecated", command=command)


def assert_alike(was: Any, now: Any) -> None:
    """The hand moves between two sessions: joints and cursor see one command a little differently, a held position pulls elsewhere."""
    (config, state), (other_config, other_state) = was, now
    assert config == other_config
    for name, value in state.items():
        if name not in MEASURED:
            assert value == other_state[name], name
        elif state["control_mode"] == "force":
            assert value == pytest.approx(other_state[name], rel=0.02, abs=0.01), name


def commands_of(text: str) -> list[str]:
    message = json.loads(text)
    return [name for entry in message.get("arm", []) for name in entry.get("commands", {})]


# ---------------------------------------------------------------- routes


def ask(service: InProcessService, text: str) -> Reply:
    line, _, body = text.partition("\n")
    method, path = line.split(" ")
    return exchange(service.http, method, path, body, raw=True)


def kept(service: InProcessService) -> Any:
    """Values of settings, and the configuration of the arm, when all that was asked before has come to be shown."""
    for name in ("settings", "device/049D", "devices"):
        drain_actor(service.system.context.directory, name)
    settings = exchange(service.http, "GET", "/settings?advanced=true&format=plain").json
    arm = exchange(service.http, "GET", "/arm/049D").json
    return {key: record["value"] for key, record in settings.items()}, arm["config"]


def restore(service: InProcessService, before: Any) -> None:
    for key, value in kept(service)[0].items():
        if value != before[0][key]:
            exchange(service.http, "DELETE", f"/settings/{key}")
    for area in ("handedness", "torque_scaling", "gravity_compensation"):
        exchange(service.http, "DELETE", f"/haptic*/*/config/{area}")
    assert kept(service) == before


@pytest.mark.promise(227, "each old route does what the new one does")
@pytest.mark.parametrize(("old", "new"), pairs("http"))
def test_old_route_acts_like_its_replacement(
    service: InProcessService, listener: EventClient, old: str, new: str
) -> None:
    before = kept(service)
    answer = ask(service, new)
    now = kept(service)
    restore(service, before)
    old_answer = ask(service, old)
    was = kept(service)
    restore(service, before)

    assert (answer.status, old_answer.status) == (200, 200)
    assert was == now != before
    assert "deprecation_warning" not in answer.json
    assert "deprecation_warning" in old_answer.json
    listener.wait_for_event("http-route-deprecated", route=old.partition("\n")[0])


# ---------------------------------------------------------------- nothing is missing


def test_every_old_form_is_on_the_page() -> None:
    played = [block for block in BLOCKS if block.kind.endswith(" old")]

    assert len(played) * 2 == len(BLOCKS)
    for word in (*RENAMED_COMMANDS, SET_COORDINATE_ORIGIN, SESSION_BASIS):
        assert any(word in block.text for block in played), word
    for route in OLD_ROUTES:
        assert any(_is_of(route.path, block) for block in played), route.path
        assert f"`POST {route.path}`" in PAGE
        assert f"`{route.replacement}`" in PAGE


def _is_of(path: str, block: Block) -> bool:
    return block.text.startswith(f"POST {path}\n")
