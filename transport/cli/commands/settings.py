"""`hapticd settings get|set|reset|diff`: read and change the settings of a running service."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

import click

from transport.cli import completing
from transport.cli.client import segment
from transport.cli.commands_for_routes import with_commands
from transport.cli.devices import part
from transport.cli.exit_codes import WrongUsage
from transport.cli.options import Desk, service_options
from transport.cli.similar import no_such_command
from transport.cli.text import clean

EVERYTHING: Final = {"advanced": "true", "deprecated": "true"}
NUMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {"INT": "a whole number", "FLOAT": "a number", "VEC3": "three numbers"}
)
TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {"BOOL": "true or false", "STRING": "a text", "ARR_STRING": "a list of texts, with commas between"}
)
COLUMNS: Final = ("KEY", "VALUE", "DEFAULT", "NOTE")


class NamedChoices(click.Group):
    """A group whose error for an unknown command names a similar one, or lists the commands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the first word; UsageError."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise click.UsageError(no_such_command(args[0], self.commands, "settings "), ctx)
        return super().resolve_command(ctx, args)


@click.group("settings", cls=NamedChoices, short_help="read and change settings")
def settings_command() -> None:
    """Read and change settings of the running service; docs/settings.md explains each."""


@settings_command.command("get", short_help="show settings")
@click.argument("key", required=False, shell_complete=completing.settings)
@click.option("--advanced", is_flag=True, help="List advanced and deprecated settings as well.")
@service_options
def get_command(desk: Desk, key: str | None, *, advanced: bool) -> None:
    """Show all settings, the setting KEY, or all below KEY such as control."""
    answer = desk.client.ask("GET", path_of(key), query=EVERYTHING if advanced else {})
    desk.output.document(answer)
    rows = settings_of(answer)
    if key is not None and [row.get("key") for row in rows] == [key]:
        for line in _page(rows[0]):
            desk.output.line(line)
        return
    desk.output.table(COLUMNS, [_row(row) for row in rows], "no setting has this key")


@settings_command.command("set", short_help="change a setting")
@click.argument("key", shell_complete=completing.settings)
@click.argument("value", shell_complete=completing.setting_values)
@service_options
def set_command(desk: Desk, key: str, value: str) -> None:
    """Set KEY to VALUE: a number, true, false, null, a text, or a list as JSON or with commas. Write -- before a value that begins with a dash."""
    _refuse_empty(key)
    before = desk.client.ask("GET", path_of(key))
    rows = settings_of(before)
    if [row.get("key") for row in rows] != [key] and len(rows) != 1:
        raise WrongUsage(
            f"{clean(key)} is no single setting: hapticd settings get {clean(key)} lists what is below it."
        )
    answer = desk.client.ask("POST", path_of(key), {"value": read_value(value, str(rows[0].get("type_hint")))})
    _say(desk, answer)


@settings_command.command("reset", short_help="back to the default")
@click.argument("key", shell_complete=completing.settings)
@service_options
def reset_setting_command(desk: Desk, key: str) -> None:
    """Set KEY back to its default."""
    _refuse_empty(key)
    _say(desk, desk.client.ask("DELETE", path_of(key)))


@settings_command.command("diff", short_help="show what is not the default")
@service_options
def diff_command(desk: Desk) -> None:
    """Show the settings that are not at their default, are overridden, or wait for a restart."""
    rows = changed(settings_of(desk.client.ask("GET", "/settings", query=EVERYTHING)))
    desk.output.document(rows)
    desk.output.table(COLUMNS, [_row(row) for row in rows], "every setting is at its default")


def _refuse_empty(key: str) -> None:
    if not key.strip("/ "):
        raise WrongUsage("KEY is empty: hapticd settings get lists the keys.")


def path_of(key: str | None) -> str:
    """Return the path of a setting, of those below a key, or of all."""
    return "/settings" if key is None else "/settings/" + "/".join(segment(part) for part in key.strip("/").split("/"))


def settings_of(answer: Any) -> list[Mapping[str, Any]]:
    """Return the settings of an answer, whether one or several were meant."""
    if not isinstance(answer, dict):
        return []
    if "type_hint" in answer:
        return [answer]
    return [row for row in answer.values() if isinstance(row, dict) and "type_hint" in row]


def changed(rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the settings whose stored or effective value is not the default, and those that something overrides."""
    return [
        row
        for row in rows
        if row.get("value") != row.get("default")
        or row.get("effective") != row.get("default")
        or row.get("overridden_by")
    ]


def read_value(text: str, type_hint: str) -> Any:
    """Return the JSON value that a typed word means for a setting of that type; the service checks it."""
    if type_hint == "STRING":
        return text if text != "null" else None
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        if type_hint == "ARR_STRING":
            return [part.strip() for part in text.split(",") if part.strip()]
        return text
    return [text] if type_hint == "ARR_STRING" and not isinstance(value, list) else value


def _no_constant(_word: str) -> NoReturn:
    raise ValueError


def _finite(text: str) -> float:
    """Return a number; ValueError when it is too large for one."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _say(desk: Desk, answer: Any) -> None:
    desk.output.document(answer)
    for row in settings_of(answer):
        desk.output.line(f"{clean(row.get('key'))} is {_shown(row.get('value'))}{_note(row, '; ')}")


def _row(row: Mapping[str, Any]) -> list[str]:
    return [clean(row.get("key")), _shown(row.get("value")), _shown(row.get("default")), _note(row)]


def _note(row: Mapping[str, Any], before: str = "") -> str:
    notes: list[str] = []
    if row.get("overridden_by"):
        notes.append(f"{_shown(row.get('effective'))} now, overridden by {clean(row['overridden_by'])}")
    if row.get("restart_required"):
        notes.append("acts at the next start")
    return before + "; ".join(notes) if notes else ""


def _page(row: Mapping[str, Any]) -> list[str]:
    unit = f" {clean(row['unit'])}" if row.get("unit") else ""
    takes = constraint_words(row)
    lines = [
        f"{clean(row.get('key'))} = {_shown(row.get('value'))}{unit}",
        f"  {with_commands(clean(row.get('description')))}",
        f"  default {_shown(row.get('default'))}{unit}",
    ]
    if takes:
        lines.append(f"  takes {takes}")
    note = _note(row)
    return [*lines, f"  {note}"] if note else lines


def constraint_words(row: Mapping[str, Any]) -> str:
    """Return which values a setting takes: its type, range and choices in words."""
    constraint = part(part(row, "metadata"), "constraint")
    kind = str(row.get("type_hint"))
    choices = constraint.get("choices")
    words = [clean(choice) for choice in choices] if isinstance(choices, list) else []
    if kind in NUMBERS or (kind == "GENERIC" and "range" in constraint):
        limits = part(constraint, "range")
        span = f" from {_plain(limits.get('min'))} to {_plain(limits.get('max'))}" if limits else ""
        unit = f" {clean(row['unit'])}" if span and row.get("unit") else ""
        words.append(f"{NUMBERS.get(kind, NUMBERS['INT'])}{span}{unit}")
    elif not words:
        words = [TYPES[kind]] if kind in TYPES else []
    elif kind == "ARR_STRING":
        words = [f"a list of {_either(words)}"]
    return _either(words) + (", or null" if constraint.get("nullable") is True else "")


def _either(words: list[str]) -> str:
    return " or ".join(piece for piece in (", ".join(words[:-1]), *words[-1:]) if piece)


def _plain(number: Any) -> str:
    return f"{number:.10g}" if isinstance(number, int | float) else clean(number)


def _shown(value: Any) -> str:
    return clean(json.dumps(value, ensure_ascii=False))
