"""Generator of docs/messages.md; `python -m actors.kit.reference` prints it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, get_args

from actors.kit.actor import ServiceActor
from actors.kit.message import Message, Request

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("actors", "transport")

HEAD: Final = """\
# Messages

This page is generated from the actors' sources; `make docs` writes it again.

Everything that travels in a mailbox. A *request* has a reply and is asked by the edge alone; all else is told, and nobody waits
for it. A *repeatable* message may be dropped by a full mailbox: a later one says the same again. *From* are the packages whose
sources make the message, *to* the actors that handle it.
"""


def page() -> str:
    """Return the page; ends with a newline."""
    return "\n".join(_lines()) + "\n"


def messages() -> list[type[Message]]:
    """Return all messages, by module, then in source order."""
    return [
        value
        for module in _modules("actors")
        for value in vars(module).values()
        if _is_message(value) and value.__module__ == module.__name__
    ]


def _lines() -> Iterator[str]:
    yield HEAD.rstrip()
    every = messages()
    made, handled = _makers({message.__name__ for message in every}), _handlers()
    section = ""
    for message in every:
        if message.__module__ != section:
            section = message.__module__
            yield f"\n## {section}\n"
            yield "| Message | Kind | From → to | Fields | Meaning |"
            yield "|---|---|---|---|---|"
        makers = ", ".join(f"`{package}`" for package in made.get(message.__name__, ())) or "nobody yet"
        to = ", ".join(handled.get(message, ())) or "nobody yet"
        cells = (f"`{message.__name__}`", _kind(message), f"{makers} → {to}", _fields(message), _meaning(message))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _is_message(value: object) -> bool:
    if not isinstance(value, type) or value in (Message, Request) or value.__name__.startswith("_"):
        return False
    return issubclass(value, Message)


def _kind(message: type[Message]) -> str:
    if issubclass(message, Request):
        return f"request, reply `{_reply(message)}`"
    return "told, repeatable" if message.repeatable else "told"


def _reply(message: type[Message]) -> str:
    for base in getattr(message, "__orig_bases__", ()):
        for reply in get_args(base):
            return "None" if reply is type(None) else _plain(reply)
    return "None"


def _plain(annotation: Any) -> str:
    """Return the type's name without modules."""
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__name__
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(annotation))


def _fields(message: type[Message]) -> str:
    dataclass_type: Any = message
    return ", ".join(f"`{field.name}: {field.type}`" for field in fields(dataclass_type))


def _meaning(message: type[Message]) -> str:
    return " ".join((message.__doc__ or "").split())


def _handlers() -> Mapping[type[object], list[str]]:
    """Return the actors that handle each message type."""
    actors = sorted(_actors(ServiceActor), key=lambda actor: actor.__name__)
    found: dict[type[object], list[str]] = {}
    for actor in actors:
        for handled in actor.handled():
            found.setdefault(handled, []).append(f"`{actor.__name__}`")
    return {handled: ["every actor"] if len(names) == len(actors) else names for handled, names in found.items()}


def _actors(base: type[ServiceActor]) -> Iterator[type[ServiceActor]]:
    for actor in base.__subclasses__():
        if actor.__module__.startswith("actors.") and not actor.__name__.startswith("_"):
            yield actor
        yield from _actors(actor)


def _makers(names: set[str]) -> Mapping[str, tuple[str, ...]]:
    """Return for each message the packages (first two parts) whose sources create it."""
    found: dict[str, dict[str, None]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = ".".join(path.relative_to(ROOT).with_suffix("").parts[:2])
            for name in _called(ast.parse(path.read_text(encoding="utf-8"))) & names:
                found.setdefault(name, {})[place] = None
    return {name: tuple(places) for name, places in found.items()}


def _called(tree: ast.Module) -> set[str]:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {
        call.id if isinstance(call, ast.Name) else call.attr
        for call in calls
        if isinstance(call, (ast.Name, ast.Attribute))
    }


def _modules(package: str) -> Iterator[Any]:
    for info in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
        yield importlib.import_module(info.name)


if __name__ == "__main__":
    sys.stdout.write(page())
