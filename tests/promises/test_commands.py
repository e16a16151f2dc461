"""Promises about commands of a message: named fields, the old forms that still work, and what they do not affect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.promises.conftest import ClientOf
from tests.support.clients.promise_session import FULL, PromiseSession

FORCE: Final = {"x": 0, "y": 1, "z": 0}
PLACE: Final = {"x": 0.01, "y": -0.12, "z": 0.135}
ANGLES: Final = {"a0": 1, "a1": 70, "a2": -130}
TORQUES: Final = {"a0": 10, "a1": 20, "a2": 30}
# Field of the command, value, and what the frames show then.
COMMANDS: Final[dict[str, tuple[str, Mapping[str, float], dict[str, object]]]] = {
    "set_cursor_force": ("vector", FORCE, {"current_cursor_force": FORCE, "control_domain": "cartesian"}),
    "set_cursor_position": ("position", PLACE, {"current_cursor_position": PLACE, "control_mode": "position"}),
    "set_angular_position": ("angles", ANGLES, {"current_angular_position": ANGLES, "control_domain": "angular"}),
    "set_angular_torques": ("torques", TORQUES, {"current_angular_torques": TORQUES, "control_domain": "angular"}),
}


def acts(session: PromiseSession, command: str, body: object, shown: dict[str, object]) -> None:
    """The command is taken, and frames show what it does."""
    assert session.faults(session.message(commands={command: body})) == {}
    session.wait_entry(lambda entry: shown.items() <= entry["state"].items(), f"{shown}", commands={command: body})


@pytest.mark.parametrize("group", ["arm", "compact"])
@pytest.mark.parametrize(
    "command",
    [
        pytest.param("set_cursor_force", marks=pytest.mark.promise(101)),
        pytest.param("set_cursor_position", marks=pytest.mark.promise(102)),
        pytest.param("set_angular_position", marks=pytest.mark.promise(103)),
        pytest.param("set_angular_torques", marks=pytest.mark.promise(104)),
    ],
)
def test_a_command_has_a_named_field(session: PromiseSession, command: str, group: str) -> None:
    """A command has one named field and acts"""
    field, value, shown = COMMANDS[command]
    if command == "set_cursor_position" and group == "compact":
        value = {"x": 0.01, "y": -0.085, "z": 0.1}
        shown = {"current_cursor_position": value}
    body = {command: {field: value}}

    assert session.faults(session.message(group, commands=body)) == {}
    session.wait_entry(lambda entry: shown.items() <= entry["state"].items(), f"{shown}", group, commands=body)


@pytest.mark.promise(105)
def test_probe_affects_its_frame_only(session: PromiseSession) -> None:
    """`probe_position` gets a frame and does nothing else."""
    shown = session.shown(commands={"probe_position": {}})

    assert shown["state"]["control_mode"] == "idle"
    assert "config" not in shown


@pytest.mark.promise(106)
def test_configure_is_beside_commands(session: PromiseSession) -> None:
    """`configure` is sent in the same message as commands."""
    entry = session.message(configure={"basis": {"permutation": "XZY"}}, commands={"probe_position": {}})

    assert session.ask({**FULL, **entry})["arm"][0]["config"]["basis"] == {"permutation": "XZY"}


@pytest.mark.promise(107)
def test_command_data_is_another_name_of_commands(session: PromiseSession) -> None:
    """Messages carry `command_data`, which is another name of `commands`."""
    body = COMMANDS["set_cursor_force"][0]
    session.wait_entry(
        lambda entry: entry["state"]["current_cursor_force"] == FORCE,
        "the force",
        command_data={"set_cursor_force": {body: FORCE}},
    )


# ---------------------------------------------------------------- old forms


@pytest.mark.promise(108)
def test_the_singular_torque_works(session: PromiseSession) -> None:
    """`set_angular_torque` still works."""
    _, value, shown = COMMANDS["set_angular_torques"]

    acts(session, "set_angular_torque", {"torques": value}, shown)


@pytest.mark.promise(109)
def test_the_old_probe_works(session: PromiseSession) -> None:
    """`probe_cursor_position` still works."""
    assert session.shown(commands={"probe_cursor_position": {}})["state"]["control_mode"] == "idle"


@pytest.mark.promise(110)
@pytest.mark.parametrize("probe", ["probe_position", "probe_cursor_position"])
def test_probe_keeps_pending_commands(session: PromiseSession, probe: str) -> None:
    """A probe does not overwrite a pending basis, preset or profile."""
    change = session.message(configure={"basis": {"permutation": "XZY"}, "preset": "arm_front_centered"})
    session.peer.send({"session": {"configure": {"profile": {"name": "pending"}}}, **change})
    session.peer.send(session.message(commands={probe: {}}))
    for _ in range(2):
        assert "errors" not in session.peer.frame()

    config = session.config()

    assert (config["basis"], config["preset"]) == ({"permutation": "XZY"}, "arm_front_centered")


@pytest.mark.promise(111)
@pytest.mark.parametrize("of_the_session", [False, True], ids=["device", "session"])
def test_the_old_origin_works(session: PromiseSession, *, of_the_session: bool) -> None:
    """`set_coordinate_origin` still works, of a device and of the session."""
    for word, preset in (("workspace_center", "arm_front_centered"), ("device_base", "arm_front")):
        if of_the_session:
            session.ask({"session": {"set_coordinate_origin": word}})
            assert session.config("compact")["preset"] == preset
        else:
            session.shown(commands={"set_coordinate_origin": word})
        assert session.config()["preset"] == preset


@pytest.mark.promise(112)
@pytest.mark.parametrize(
    "old",
    [
        pytest.param({"permutation": "X-ZY"}, id="permutation"),
        pytest.param({"matrix": [[1, 0, 0], [0, 0, -1], [0, 1, 0]]}, id="matrix"),
    ],
)
def test_the_old_basis_of_the_session_works(session: PromiseSession, old: dict[str, object]) -> None:
    """Session-level `set_basis` still works, by its old convention: it is the inverse of the new map."""
    session.ask({"session": {"set_basis": old}})

    assert session.config()["basis"] == {"permutation": "XZ-Y"}
    assert session.config("compact")["basis"] == {"permutation": "XZ-Y"}


@pytest.mark.promise(113)
@pytest.mark.parametrize("as_object", [False, True], ids=["array", "object"])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_old_values_work(session: PromiseSession, command: str, *, as_object: bool) -> None:
    """The old `values` works for all four commands."""
    _, value, shown = COMMANDS[command]

    acts(session, command, {"values": value if as_object else list(value.values())}, shown)


# ---------------------------------------------------------------- several sessions


@pytest.mark.promise(114)
def test_session_does_not_replace_another_s_configuration(session: PromiseSession, client_of: ClientOf) -> None:
    """Configuration of different sessions is merged; none replaces another's."""
    wanted: list[tuple[PromiseSession, dict[str, Any]]] = [
        (session, {"basis": {"permutation": "XZY"}, "damping": {"scalar": 4}, "preset": "arm_front_centered"}),
        (client_of(), {"basis": {"permutation": "YZX"}, "damping": {"scalar": 1}, "preset": "led_front"}),
        (client_of(), {"damping": {"scalar": 2}, "force_gate": {"gain": 1}}),
    ]
    for one, keys in wanted:
        one.configured(keys)

    for one, keys in wanted:
        assert keys.items() <= one.config().items()
    assert wanted[2][0].config()["basis"] == {"permutation": "XYZ"}
