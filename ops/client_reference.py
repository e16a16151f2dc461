"""Print docs/client-reference.md: every public name of the Python client with its signature and docstring; `make docs` writes it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any, Final

import hapticd_client
from hapticd_client import aio, testing

# Each public name once, in the order in which one meets it.
SECTIONS: Final[dict[str, tuple[tuple[str, Any], ...]]] = {
    "Connecting": (("connect", hapticd_client.connect), ("Service", hapticd_client.Service)),
    "The loop": (("Turn", hapticd_client.Turn), ("LoopStatistics", hapticd_client.LoopStatistics)),
    "Devices": (("Device", hapticd_client.Device), ("DeviceState", hapticd_client.DeviceState)),
    "Events": (("Events", hapticd_client.Events), ("Event", hapticd_client.Event)),
    "What operations return": tuple(
        (name, getattr(hapticd_client, name))
        for name in ("Calibration", "Finding", "Pairing", "Setting", "ServiceState")
    ),
    "asyncio": (("aio.connect", aio.connect), ("aio.Service", aio.Service), ("aio.Device", aio.Device)),
    "Errors": tuple(
        (name, found)
        for name in hapticd_client.__all__
        if inspect.isclass(found := getattr(hapticd_client, name))
        and (issubclass(found, BaseException) or name == "Fault")
    ),
    "Tests": (("testing.service", testing.service), ("testing.TestService", testing.TestService)),
}
# What a field's comment says.
NOTE: Final = re.compile(r"^    (\w+): [^#\n]*# (.+)$", re.MULTILINE)
# A page that a docstring names.
PAGE: Final = re.compile(r"\bdocs/([\w-]+\.md)\b")
HEAD: Final = """\
<!-- Generated from the docstrings of clients/python by ops/client_reference.py; `make docs` writes it again. -->
# The Python client, by name

`import hapticd_client as haptics`. [clients.md](clients.md) explains how the parts work together, and [tutorials/first-wall.md](tutorials/first-wall.md)
begins from nothing. Positions are m, velocities m/s, forces N, torques N·mm, angles degrees; arrays are read-only numpy arrays of float64.
"""


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield HEAD
    for title, names in SECTIONS.items():
        yield f"## {title}\n"
        for name, found in names:
            yield from described(name, found)


def described(name: str, found: Any) -> Iterator[str]:
    """Yield what a function or class is, and its members."""
    if not inspect.isclass(found):
        yield f"### {name}\n"
        yield f"```python\n{name}{signature(found)}\n```\n"
        yield f"{text(found)}\n"
        return
    error = issubclass(found, BaseException)
    base = f" ({found.__mro__[1].__name__})" if error else ""
    yield f"### {name}{base}\n"
    yield f"{text(found)}\n"
    given = fields_of(found)
    if given:
        notes = dict(NOTE.findall(inspect.getsource(found)))
        for field, kind in given.items():
            note = notes.get(field, "")
            yield f"* `{field}`: `{kind}`" + (f", {note}" if note else "")
        yield ""
    listed = [*members(found)]
    if listed and not error:
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


def members(found: type) -> Iterator[tuple[str, Any]]:
    """Yield the public members of a class with what carries their docstring, its own before those that it takes over."""
    seen = set[str]()
    taken = fields_of(found)
    for base in found.__mro__:
        if not base.__module__.startswith("hapticd_client"):
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in seen or name in taken:
                continue
            seen.add(name)
            if isinstance(value, property | cached_property):
                yield name, value
            elif inspect.isfunction(value):
                yield f"{name}{brief(value)}".replace("|", "\\|"), value


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
    return "(\n" + "\n".join(lines) + f"\n) -> {found.return_annotation}"


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
    return PAGE.sub(r"[\1](\1)", said)


if __name__ == "__main__":
    sys.stdout.write("\n".join(page()).rstrip("\n") + "\n")
