"""Print docs/client-reference.md: every public name of the Python client with its signature and docstring; `make docs` writes it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from typing import Any, Final
from unittest.mock import MagicMock, patch

import hapticd_client
from hapticd_client import aio, aio_events, aio_settings, settings, testing
from hapticd_client.core import scene, version

# What the panel of notebooks derives from: nothing of it is on the page, and nobody has to install it.
NOTEBOOK: Final = {"anywidget": MagicMock(AnyWidget=object), "traitlets": MagicMock()}


def panel() -> type:
    """Return the class of the panel of notebooks."""
    with patch.dict(sys.modules, NOTEBOOK):
        found: type = import_module("hapticd_client.notebook").Panel
    return found


# Each public name once, in the order in which one meets it.
SECTIONS: Final[dict[str, tuple[tuple[str, Any], ...]]] = {
    "Connecting": (("connect", hapticd_client.connect), ("Service", hapticd_client.Service)),
    "The loop": (("Turn", hapticd_client.Turn), ("LoopStatistics", hapticd_client.LoopStatistics)),
    "Devices": (("Device", hapticd_client.Device), ("DeviceState", hapticd_client.DeviceState)),
    "Scenes": (
        ("Scene", scene.Scene),
        *(
            (name, getattr(hapticd_client, name))
            for name in ("Constant", "Spring", "Attract", "Damper", "Plane", "Sphere", "Box", "Capsule", "Cylinder")
        ),
    ),
    "Events": (("Events", hapticd_client.Events), ("Event", hapticd_client.Event)),
    "Settings": (("Settings", settings.Settings),),
    "What operations return": tuple(
        (name, getattr(hapticd_client, name))
        for name in ("Calibration", "Finding", "Pairing", "Setting", "ServiceState")
    ),
    "asyncio": (
        ("aio.connect", aio.connect),
        ("aio.Service", aio.Service),
        ("aio.Device", aio.Device),
        ("aio.Events", aio_events.Events),
        ("aio.Settings", aio_settings.Settings),
    ),
    "Errors": tuple(
        (name, found)
        for name in hapticd_client.__all__
        if inspect.isclass(found := getattr(hapticd_client, name))
        and (issubclass(found, BaseException) or name == "Fault")
    ),
    "Notebooks": (("notebook.Panel", panel()),),
    "Tests": (("testing.service", testing.service), ("testing.TestService", testing.TestService)),
    "Versions": (("INTERFACE", "INTERFACE"), ("__version__", "VERSION")),  # with their names in core/version.py
}
# Classes that a program makes by itself; every other one is what something returns.
MADE_BY_PROGRAMS: Final = frozenset({"notebook.Panel"}) | {name for name, _ in SECTIONS["Scenes"][1:]}
# How a program writes these methods.
WRITTEN: Final = {
    "__getitem__": "{it}[key]",
    "__setitem__": "{it}[key] = value",
    "__delitem__": "del {it}[key]",
    "__iter__": "for … in {it}",
    "__aiter__": "async for … in {it}",
}
# A section of a class, and what the title of one with internals is.
SECTION: Final = re.compile(r"^    # -{20,} (.+)$")
INTERNALS: Final = frozenset({"for the session", "for the service object"})
# What a field's comment says, and that of a constant or of a value of an enumeration.
NOTE: Final = re.compile(r"^    (\w+): [^#\n]*# (.+)$", re.MULTILINE)
VALUE: Final = re.compile(r"^(?:    )?([A-Z]+)(?:: Final)? = [^#\n]*# (.+)$", re.MULTILINE)
# What the docstring of `__init__` says of an attribute.
ATTRIBUTE: Final = re.compile(r"`(\w+)`: (.+?)(?=; `\w+`: |\n\n|\Z)", re.DOTALL)
# A page that a docstring names.
PAGE: Final = re.compile(r"\bdocs/([\w-]+\.md)\b")
HEAD: Final = """\
<!-- Generated from the docstrings of clients/python by ops/client_reference.py; `make docs` writes it again. -->
# The Python client, by name

`import hapticd_client as haptics`. [clients.md](clients.md) explains how the parts work together, and [tutorials/first-wall.md](tutorials/first-wall.md)
begins from nothing. Positions are m, velocities m/s, forces N, torques N·mm, angles degrees; arrays are read-only numpy arrays of float64.

A description ends with the errors that are raised. `InvalidCommand` comes at once, from the assignment of what has a wrong type, length or range. `FrameErrors` comes with the
next turn or `update`: the service has refused what was assigned.
"""


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield HEAD
    for title, names in SECTIONS.items():
        yield f"## {title}\n"
        for name, found in names:
            yield from described(name, found)


def described(name: str, found: Any) -> Iterator[str]:
    """Yield what a constant, function or class is, and its members."""
    if isinstance(found, str):
        yield f"### {name}\n"
        yield f"{sentence(dict(VALUE.findall(inspect.getsource(version)))[found])}\n"
        return
    if not inspect.isclass(found):
        yield f"### {name}\n"
        yield f"```python\n{name}{signature(found)}\n```\n"
        yield f"{text(found)}\n"
        return
    error = issubclass(found, BaseException)
    base = f" ({found.__mro__[1].__name__})" if error else ""
    yield f"### {name}{base}\n"
    if name in MADE_BY_PROGRAMS:
        yield f"```python\n{name}{signature(found)}\n```\n"
    yield f"{text(found)}\n"
    if issubclass(found, scene.Field):
        return
    if name in MADE_BY_PROGRAMS:
        yield f"{text(found.__init__)}\n"
    if issubclass(found, Enum):
        notes = dict(VALUE.findall(inspect.getsource(found)))
        yield from (f'* `{each.name}`, `"{each.value}"`: {notes[each.name]}' for each in found)
        yield ""
        return
    told = attributes(found)
    if told:
        yield from (f"* `{attribute}`: {note}" for attribute, note in told.items())
        yield ""
    given = fields_of(found)
    if given:
        notes = dict(NOTE.findall(inspect.getsource(found)))
        for field, kind in given.items():
            note = notes.get(field, "")
            yield f"* `{field}`: `{kind}`" + (f", {note}" if note else "")
        yield ""
    listed = [*members(found)]
    if listed:
        yield "| Name | What it is |\n|---|---|"
        yield from (
            f"| `{member}` | {text(value).replace(chr(10), ' ').replace('|', chr(92) + '|')} |"
            for member, value in listed
        )
        yield ""


def fields_of(found: type) -> dict[str, str]:
    """Return the fields of a record, with their types as they are written."""
    if is_dataclass(found):
        return {field.name: str(field.type) for field in fields(found)}
    kinds: dict[str, Any] = {name: found.__annotations__[name] for name in getattr(found, "_fields", ())}
    return {name: getattr(kind, "__forward_arg__", str(kind)) for name, kind in kinds.items()}


def attributes(found: type) -> dict[str, str]:
    """Return the attributes that `__init__` assigns and its docstring describes, of a class and those that it derives from."""
    told: dict[str, str] = {}
    for base in own(found):
        made = vars(base).get("__init__")
        if made is None or is_dataclass(base):
            continue
        assigned = set(re.findall(r"^ +self\.(\w+)(?:: [^=\n]+)? = ", inspect.getsource(made), re.MULTILINE))
        for name, note in ATTRIBUTE.findall(inspect.getdoc(made) or ""):
            if name in assigned:
                told.setdefault(name, linked(note.replace("\n", " ").rstrip(".")))
    return told


def own(found: type) -> list[type]:
    """Return a class and those of the client that it derives from."""
    return [base for base in found.__mro__ if base.__module__.startswith("hapticd_client")]


def members(found: type) -> Iterator[tuple[str, Any]]:
    """Yield the public members of a class with what carries their docstring, its own before those that it takes over."""
    seen = set[str]()
    taken = fields_of(found)
    for base in own(found):
        for name, value in vars(base).items():
            if name in seen or name in taken or (name.startswith("_") and name not in WRITTEN):
                continue
            if not isinstance(value, property | cached_property) and not inspect.isfunction(value):
                continue
            if name in internals(base):
                continue
            seen.add(name)
            if name in WRITTEN:
                yield WRITTEN[name].format(it=found.__name__.lower()), value
            elif inspect.isfunction(value):
                yield f"{name}{brief(value)}".replace("|", "\\|"), value
            else:
                yield name, value


@cache
def internals(found: type) -> set[str]:
    """Return the members of a class that stand in a section for its session or service object."""
    hidden, title = set[str](), ""
    for line in inspect.getsource(found).splitlines():
        if section := SECTION.match(line):
            title = section[1]
        elif title in INTERNALS and (member := re.match(r"    (?:async )?def (\w+)", line)):
            hidden.add(member[1])
    return hidden


def brief(function: Any) -> str:
    """Return the names of a function's arguments, without their types."""
    shown = [
        f"{'*' if each.kind is each.VAR_POSITIONAL else '**' if each.kind is each.VAR_KEYWORD else ''}{each.name}"
        + (f"={each.default!r}" if each.default is not each.empty else "")
        for each in inspect.signature(function).parameters.values()
        if each.name != "self"
    ]
    return f"({', '.join(shown)})"


def signature(function: Any) -> str:
    """Return a signature with an argument on each line."""
    found = inspect.signature(function)
    lines = [f"    {each}," for each in parameters(found)]
    returned = "" if inspect.isclass(function) else f" -> {found.return_annotation}"
    return "(\n" + "\n".join(lines) + f"\n){returned}"


def parameters(found: inspect.Signature) -> Iterator[str]:
    """Yield each parameter as it is written, with the star before those that need their name."""
    starred = False
    for each in found.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        stars = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
        default = "" if each.default is each.empty else f" = {each.default!r}"
        yield f"{stars}{each.name}: {each.annotation}{default}"


def text(found: Any) -> str:
    """Return a docstring, with links to the pages that it names; SystemExit names what has none."""
    said = inspect.getdoc(found)
    if not said:
        raise SystemExit(f"{found} has no docstring")
    return linked(said)


def linked(said: str) -> str:
    """Return what is said, with links to the pages that it names."""
    return PAGE.sub(r"[\1](\1)", said)


def sentence(note: str) -> str:
    """Return a comment as a sentence."""
    return f"{note[0].upper()}{note[1:]}."


if __name__ == "__main__":
    sys.stdout.write("\n".join(page()).rstrip("\n") + "\n")
