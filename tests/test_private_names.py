"""Private names of Tornado and pykka are used in one package each: transport.tornado_ext and actors.kit."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pykka
import pytest
from tornado.tcpserver import TCPServer

from tests.support.suite.private_names import Room, foreign_uses, inherited_uses, private_names

ROOT = Path(__file__).parents[1]
ROOMS = (Room("tornado", "transport.tornado_ext"), Room("pykka", "actors.kit"))


def modules_outside(room: Room) -> list[str]:
    """Dotted names of all modules of the service that may not use private names of the room's library."""
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in ("actors", "transport")
        for path in sorted((ROOT / package).rglob("*.py"))
    ]
    return [name for name in names if not room.is_inside(name)]


def source_of(name: str) -> str:
    path = importlib.import_module(name).__file__
    assert path is not None
    return Path(path).read_text(encoding="utf-8")


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.library)
def test_private_names_of_the_library_are_used_in_its_room_only(room: Room) -> None:
    names = private_names(room.library)

    found = {name: foreign_uses(source_of(name), room, names) for name in modules_outside(room)}

    assert {name: uses for name, uses in found.items() if uses} == {}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.library)
def test_no_subclass_outside_the_room_has_a_private_name_of_its_bases(room: Room) -> None:
    found = {name: inherited_uses(importlib.import_module(name), room) for name in modules_outside(room)}

    assert {name: uses for name, uses in found.items() if uses} == {}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.library)
def test_the_room_uses_private_names_of_the_library(room: Room) -> None:
    """Otherwise the two tests above would pass because nothing is found."""
    inside = [name for name in modules_outside(Room(room.library, "")) if room.is_inside(name)]

    assert any(inherited_uses(importlib.import_module(name), room) for name in inside)


@pytest.mark.parametrize(
    "source",
    [
        "from tornado.websocket import _WebSocketParams",
        "from tornado._locale_data import LOCALE_NAMES",
        "import tornado._locale_data",
        "server._handle_connection(connection, address)",
        "handler.ws_connection._abort()",
        'setattr(protocol, "_ping_coroutine", None)',
    ],
)
def test_a_use_on_another_object_is_found(source: str) -> None:
    assert foreign_uses(source, ROOMS[0], private_names("tornado"))


def test_private_names_of_ours_are_no_use() -> None:
    source = "from transport.x import _y\nself._handle_connection()\nmine._name_that_no_library_has()"

    assert foreign_uses(source, ROOMS[0], private_names("tornado")) == []


class Server(TCPServer):
    def add_sockets(self, sockets: object) -> None:
        del sockets
        self._handlers.clear()


class Actor(pykka.ThreadingActor):
    def _actor_loop(self) -> None:
        """Overridden."""


@pytest.mark.parametrize(
    ("cls", "room", "name"),
    [(Server, ROOMS[0], "_handlers"), (Actor, ROOMS[1], "_actor_loop")],
    ids=["used", "overridden"],
)
def test_a_private_name_in_a_subclass_is_found(cls: type, room: Room, name: str) -> None:
    module = ModuleType(cls.__module__)
    setattr(module, cls.__name__, cls)

    assert inherited_uses(module, room) == [f"{cls.__name__}: {name}"]
