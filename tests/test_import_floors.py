"""The service's imports keep the floors (layers), and the check finds violations."""

from __future__ import annotations

import ast
from pathlib import Path, PurePosixPath

import pytest

from tests.support.suite.import_floors import all_violations, circles, floor_of, imports_of, sources

ROOT = Path(__file__).parents[1]
CIRCLE_HELP = (
    "these modules import each other: move what both need into a module below them, or pass it in as an argument; "
    "moving the import under TYPE_CHECKING or into a function leaves the circle"
)

TREE = {
    "fastpath/__init__.py": "",
    "fastpath/layout/arena.pxd": "from libc.stdint cimport uint64_t\n",
    "fastpath/tick/loop.pyx": "from fastpath.layout.arena cimport Record\n",
    "actors/__init__.py": "",
    "actors/values/spatial.py": "import math\nfrom dataclasses import dataclass\n",
    "actors/kit/actor.py": "import pykka\nfrom actors.values import spatial\n",
    "actors/kit/message.py": "",
    "actors/device/messages.py": "from actors.kit.message import Message\n",
    "actors/device/api.py": "from actors.device.areas import Area\nfrom actors.device.messages import Stop\n",
    "actors/device/actor.py": "from actors.device import areas\nfrom actors.session.messages import Opened\n",
    "actors/device/areas.py": "from actors.kit import message\n",
    "actors/session/messages.py": "from actors.device import messages\n",
    "actors/session/manager.py": "from fastpath.tick.loop import Runtime\n",
    "actors/modules/clutch.py": "from actors.session import manager\n",
    "actors/system.py": "from actors.device.actor import DeviceActor\n",
    "transport/__init__.py": "",
    "transport/wire/frames.py": "from actors.values.spatial import Vector\n",
    "transport/tornado_ext/__init__.py": "",
    "transport/tornado_ext/streams.py": "from tornado.iostream import IOStream\nfrom transport.tornado_ext import bare_400\n",
    "transport/tornado_ext/bare_400.py": "import socket\n",
    "transport/ws/session.py": "from transport.http import base\nfrom transport.tornado_ext import streams\nimport tornado\n",
    "transport/http/base.py": "from actors.device.api import Stop\nfrom transport.wire.frames import Frame\n",
    "transport/cli/client.py": "import http.client\n",
    "transport/cli/table.py": "",
    "transport/main.py": "from transport.cli.table import COMMANDS\nfrom transport.cli import client\nfrom actors import system\nfrom transport.ws.session import Session\n",
}


def broken(path: str, text: str) -> list[str]:
    """What the check says about the tree above with one source changed."""
    return all_violations({PurePosixPath(name): body for name, body in {**TREE, path: text}.items()})


def test_the_sources_of_the_service_keep_the_floors() -> None:
    found = sources(ROOT)

    assert found, "no sources were found"
    assert all_violations(found) == []


def test_a_tree_that_keeps_the_floors_has_no_violation() -> None:
    assert all_violations({PurePosixPath(path): text for path, text in TREE.items()}) == []


@pytest.mark.parametrize(
    ("path", "text", "because"),
    [
        ("fastpath/arena/runtime.py", "import actors.kit.actor", "floor 0 may not look up to floor 2"),
        ("fastpath/tick/loop.pyx", "from actors.values.spatial import Vector", "floor 0 may not look up to floor 1"),
        ("fastpath/tick/loop.pyx", "cimport transport.main", "floor 0 may not look up to floor 10"),
        (
            "fastpath/tick/loop.pyx",
            "from fastpath.layout.arena cimport (\n    Record,\n)\nimport os, actors.system",
            "floor 6",
        ),
        ("fastpath/layout/arena.pxd", "from . cimport cells", "full name"),
        ("fastpath/space/spatial_py.pyi", "from actors.values.spatial import Vector", "floor 0"),
        ("actors/values/spatial.py", "import numpy", "the standard library alone"),
        ("actors/values/spatial.py", "from fastpath.tick import loop", "the standard library alone"),
        ("actors/kit/actor.py", "from actors.device.messages import Stop", "floor 2 may not look up to floor 3"),
        ("actors/device/messages.py", "from actors.device.areas import Area", "floor 3 may not look up to floor 4"),
        ("actors/device/messages.py", "from actors.device import areas", "floor 3 may not look up to floor 4"),
        ("actors/device/actor.py", "from actors.session.manager import SessionManager", "actors.session.messages"),
        ("actors/device/actor.py", "from actors.session import manager", "actors.session.messages"),
        ("actors/device/actor.py", "import actors.session.manager as m", "actors.session.messages"),
        ("actors/device/configuration.py", "from actors.session import manager", "actors.session.messages"),
        ("actors/device/actor.py", "from actors.modules.clutch import Clutch", "floor 4 may not look up to floor 5"),
        ("actors/device/actor.py", "def f():\n    from transport.wire import frames\n", "floor 7"),
        ("actors/device/actor.py", "import importlib\nimportlib.import_module('actors.system')\n", "floor 6"),
        ("actors/device/actor.py", "if TYPE_CHECKING:\n    import actors.system\n", "floor 6"),
        ("actors/device/actor.py", "from .areas import Area", "full name"),
        ("actors/modules/clutch.py", "from actors.system import System", "floor 5 may not look up to floor 6"),
        ("actors/system.py", "from transport.bridge import Bridge", "floor 6 may not look up to floor 9"),
        ("actors/__init__.py", "from actors.kit.actor import ServiceActor", "no floor"),
        ("actors/system.py", "from actors import device", "name the module"),
        ("transport/wire/frames.py", "from transport.http.base import Handler", "floor 7 may not look up to floor 9"),
        (
            "transport/wire/frames.py",
            "from actors.device.messages import Stop",
            "put what it needs into actors.device.api",
        ),
        ("transport/http/base.py", "from actors.device import areas", "put what it needs into actors.device.api"),
        ("transport/main.py", "if TYPE_CHECKING:\n    import actors.session.manager\n", "actors.session.api"),
        ("actors/session/manager.py", "from actors.device.api import Stop", "actors.device.messages"),
        ("transport/tornado_ext/streams.py", "import orjson", "stands on tornado and the standard library alone"),
        ("transport/tornado_ext/streams.py", "from transport.wire import frames", "and the standard library alone"),
        ("transport/tornado_ext/streams.py", "from actors.values import spatial", "and the standard library alone"),
        ("transport/wire/frames.py", "from transport.tornado_ext import streams", "may not look up to floor 8"),
        ("transport/session/devices.py", "from transport.bridge import Bridge", "floor 8 may not look up to floor 9"),
        ("transport/cli/client.py", "from actors.system import System", "ask the service over its interface"),
        ("transport/cli/client.py", "from fastpath.tick import loop", "ask the service over its interface"),
        ("transport/http/base.py", "from transport.cli.client import Client", "does without the operators' commands"),
        ("transport/http/base.py", "from transport import main", "floor 9 may not look up to floor 10"),
        ("transport/http/base.py", "from tests.support import service", "not installed with the service"),
    ],
)
def test_broken_floor_is_named_in_a_sentence(path: str, text: str, because: str) -> None:
    (sentence,) = broken(path, text)

    assert sentence.startswith(f"{path}:")
    assert because in sentence
    assert sentence.endswith(".")


def test_transport_uses_every_name_of_an_api() -> None:
    """An `api.py` holds what the edge uses and nothing else; kit, values, modules and system are used by module."""
    found = sources(ROOT)
    used: dict[str, set[str]] = {}
    for path, text in found.items():
        for node in ast.walk(ast.parse(text)) if path.parts[0] == "transport" and path.suffix == ".py" else ():
            if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(".api"):
                used.setdefault(node.module or "", set()).update(name.name for name in node.names)

    for path, text in found.items():
        if path.match("actors/*/api.py"):
            offered = {
                name.name
                for node in ast.parse(text).body
                if isinstance(node, ast.ImportFrom) and node.module != "__future__"
                for name in node.names
            }
            assert offered == used[_module(path)], path


def test_imports_have_no_circle() -> None:
    """Imports for type checking count."""
    assert circles(sources(ROOT)) == [], CIRCLE_HELP


def test_a_circle_is_found() -> None:
    texts = {
        "actors/kit/a.py": "from actors.kit import b\n",
        "actors/kit/b.py": "if TYPE_CHECKING:\n    from actors.kit.c import C\n",
        "actors/kit/c.py": "import actors.kit.a\n",
        "actors/kit/d.py": "import actors.kit.a\n",
    }

    assert circles({PurePosixPath(path): text for path, text in texts.items()}) == [
        ["actors.kit.a", "actors.kit.b", "actors.kit.c"]
    ]


def test_cython_strings_and_comments_are_not_read_as_imports() -> None:
    text = '"""Stands on nothing:\nimport actors.system\nfrom actors.kit cimport x\n"""\n# import actors.system\nimport os\n'

    found = imports_of(PurePosixPath("fastpath/tick/loop.pyx"), text, frozenset())

    assert [(one.line, one.module) for one in found] == [(6, "os")]


def test_every_source_has_a_floor() -> None:
    empty = {"actors", "transport"}
    homeless = [
        str(path)
        for path, text in sources(ROOT).items()
        if _module(path) not in empty and _floor(path) is None and text
    ]

    assert homeless == []


def _module(path: PurePosixPath) -> str:
    return ".".join(path.parent.parts if path.stem == "__init__" else path.with_suffix("").parts)


def _floor(path: PurePosixPath) -> int | None:
    return floor_of(_module(path))
