"""Description of every command, read from the commands themselves: the reference page and the man page are made of it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import click

from transport.cli.program import PROGRAM, program

ENVIRONMENT: Final = (
    ("HAPTICD_URL", "Address of the service, as `--url`."),
    ("HAPTICD_TOKEN", "Bearer token, as `--token`."),
    ("HAPTICD_EVENTS_URL", "Address of the event channel, as `--events-url`."),
    ("NO_COLOR", "When it is set, nothing is coloured."),
    ("HAPTICD_…", "Of `hapticd run`: settings, as docs/settings.md says."),
)


@dataclass(frozen=True, slots=True)
class OptionText:
    """One option, as a page shows it."""

    names: str  # with the metavariable
    help: str


@dataclass(frozen=True, slots=True)
class CommandText:
    """One command, as a page shows it."""

    name: str  # with the program's name: hapticd settings get
    usage: str
    paragraphs: tuple[str, ...]
    options: tuple[OptionText, ...]


def commands() -> Iterator[CommandText]:
    """Yield every command that does something, in the order of the help."""
    group = program()
    yield from _below(group, click.Context(group, info_name=PROGRAM, **group.context_settings))


def shared_options() -> tuple[OptionText, ...]:
    """Return the options that every client command has."""
    found = {one.name: one for one in commands()}
    status = found[f"{PROGRAM} status"]
    return status.options


def _below(group: click.Group, context: click.Context) -> Iterator[CommandText]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        with click.Context(command, info_name=name, parent=context) as inner:
            if isinstance(command, click.Group):
                yield from _below(command, inner)
            else:
                yield _described(command, inner)


def _described(command: click.Command, context: click.Context) -> CommandText:
    text = inspect.cleandoc(command.help or command.short_help or "")
    paragraphs = tuple(" ".join(part.split()) for part in text.split("\n\n") if part.strip())
    pieces = [piece for piece in command.collect_usage_pieces(context) if piece]
    return CommandText(
        context.command_path, " ".join([context.command_path, *pieces]), paragraphs, tuple(_options(command, context))
    )


def _options(command: click.Command, context: click.Context) -> Iterator[OptionText]:
    for option in command.get_params(context):
        if not isinstance(option, click.Option) or option.hidden or "--help" in option.opts:
            continue
        metavar = "" if option.is_flag else f" {option.metavar or _choices(option)}"
        default: Any = option.default
        shown = f" Default: {default}." if option.show_default and default is not None and not option.is_flag else ""
        yield OptionText(", ".join(option.opts) + metavar, " ".join((option.help or "").split()) + shown)


def _choices(option: click.Option) -> str:
    return "|".join(map(str, option.type.choices)) if isinstance(option.type, click.Choice) else "VALUE"
