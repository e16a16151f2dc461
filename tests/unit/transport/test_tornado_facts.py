"""Private names of Tornado and pykka: which files use them, and that the installed versions still have them."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from typing import Final

import pykka
import pytest
from tornado.tcpserver import TCPServer
from tornado.web import RequestHandler
from tornado.websocket import WebSocketProtocol, WebSocketProtocol13

ROOT = Path(__file__).parents[3]

# file -> private names of Tornado in it, each with its class
TORNADO: Final[dict[str, dict[str, type]]] = {
    "transport/http/base.py": {"_finished": RequestHandler},
    "transport/http/server.py": {"_handle_connection": TCPServer, "_handlers": TCPServer, "_sockets": TCPServer},
    "transport/ws/protocol.py": {
        "_abort": WebSocketProtocol,
        "_handle_message": WebSocketProtocol13,
        "_ping_coroutine": WebSocketProtocol13,
        "_receive_frame_loop": WebSocketProtocol13,
    },
}
TORNADO_NAMES: Final = frozenset(name for names in TORNADO.values() for name in names)
PYKKA_NAMES: Final = frozenset(
    {"_actor_loop", "_actor_loop_teardown", "_create_actor_inbox", "_envelope", "_start_actor_loop"}
)


def used(path: Path) -> set[str]:
    """Attributes, methods and imported modules that a source names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found |= {*(node.module or "").split("."), *(name.name for name in node.names)}
    return found


def users(names: frozenset[str], text: str) -> dict[str, set[str]]:
    """Sources of the service that contain `text` and use one of `names`."""
    found = {
        path.relative_to(ROOT).as_posix(): used(path) & names
        for package in ("actors", "transport")
        for path in sorted((ROOT / package).rglob("*.py"))
        if text in path.read_text(encoding="utf-8")
    }
    return {path: own for path, own in found.items() if own}


def test_only_the_listed_files_use_private_names_of_tornado() -> None:
    assert users(TORNADO_NAMES, "tornado") == {path: set(names) for path, names in TORNADO.items()}


def test_only_actors_kit_uses_private_names_of_pykka() -> None:
    found = users(PYKKA_NAMES, "pykka")

    assert frozenset[str]().union(*found.values()) == PYKKA_NAMES
    assert [path for path in found if not path.startswith("actors/kit/")] == []


def test_no_source_imports_a_private_module_of_tornado() -> None:
    for path in sorted((ROOT / "transport").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tornado"):
                assert not [name.name for name in node.names if name.name.startswith("_")], path
                assert "._" not in (node.module or ""), path


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for names in TORNADO.values() for name, owner in names.items()]
)
def test_tornado_still_has_the_private_name(owner: type, name: str) -> None:
    assert hasattr(owner, name) or f"self.{name}" in inspect.getsource(owner)


@pytest.mark.parametrize("name", sorted(PYKKA_NAMES - {"_envelope"}))
def test_pykka_still_has_the_private_name(name: str) -> None:
    assert hasattr(pykka.ThreadingActor, name)


def test_pykka_still_has_its_envelope() -> None:
    assert inspect.isclass(importlib.import_module("pykka._envelope").Envelope)
