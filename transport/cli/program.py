"""Run one of the operators' commands: load its module, hand it the words, turn every error into one sentence and an exit code."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

import click

from transport.cli.exit_codes import CommandError, ExitCode
from transport.cli.output import write_output
from transport.cli.standard_output import UNWRITABLE, forget_output, unwritable
from transport.cli.table import COMMANDS, COMPLETE_VARIABLE
from transport.cli.text import clean
from transport.cli.typed import as_typed

PROGRAM: Final = "hapticd"
NUMBER: Final = re.compile(r"-[0-9.].*")
NAMES_OF_SERVICE_COMMANDS: Final = ("run", "token")


class CommandGroup(click.Group):
    """The commands of the table; the module of each is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every name, in the order of the help."""
        del ctx
        return [*NAMES_OF_SERVICE_COMMANDS, *COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command; None without it."""
        del ctx
        if cmd_name in NAMES_OF_SERVICE_COMMANDS:
            return service_command(cmd_name)
        row = COMMANDS.get(cmd_name)
        if row is None:
            return None
        found: click.Command = getattr(import_module(row.module), row.attribute)
        return found


def program() -> CommandGroup:
    """Return the program with all commands."""
    return CommandGroup(
        PROGRAM,
        help="Haptic device service and the commands of its operators.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def service_command(name: str) -> click.Command:
    """Return `run` or `token` as a click command: their options as argparse has them, for completion and the pages."""
    from transport.command_line import parsers

    parser = parsers()[name]
    options = [
        click.Option(
            [*action.option_strings],
            metavar=str(action.metavar) if action.metavar else None,
            help=action.help,
            multiple=isinstance(action.default, list),
        )
        for action in parser._actions  # noqa: SLF001 - argparse has no public list of its options
        if action.option_strings and action.dest != "help"
    ]
    return click.Command(name, params=[*options], help=parser.description, short_help=parser.description)


def run(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Run one command and return its exit code; never raises for a mistake of the user or a fault of the service."""
    if COMPLETE_VARIABLE in environment:
        return _complete(environment[COMPLETE_VARIABLE])
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = _run(words)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        forget_output()
        return ExitCode.CLOSED_PIPE
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        forget_output()
        _complain(unwritable(error))
        return ExitCode.FAILED
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted")
        return ExitCode.INTERRUPTED
    return code


def _run(words: Sequence[str]) -> int:
    as_json = "--json" in words
    try:
        context = program().make_context(PROGRAM, list(words))
        with context:
            return int(program().invoke(context) or ExitCode.OK)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        write_output(error.ctx.get_help())
        return ExitCode.USAGE
    except click.NoSuchOption as error:
        where = error.ctx.command_path if error.ctx is not None else PROGRAM
        sentence = _one_line(error.format_message()).rstrip(".")
        if NUMBER.fullmatch(error.option_name):
            sentence = (
                f"{clean(error.option_name, 40)} is read as an option: write -- before a value that begins with a dash"
            )
        return _fail(f"{sentence}: see {where} --help", ExitCode.USAGE, as_json=as_json)
    except click.UsageError as error:
        named = f"{PROGRAM} {words[0]}" if words and words[0] in COMMANDS else PROGRAM
        where = error.ctx.command_path if error.ctx is not None else named
        sentence = _one_line(error.format_message())
        pointer = f" See {where} --help" if sentence.endswith("?") else f": see {where} --help"
        return _fail(f"{sentence.rstrip('.')}{pointer}", ExitCode.USAGE, as_json=as_json)
    except click.ClickException as error:
        return _fail(_one_line(error.format_message()), ExitCode.USAGE, as_json=as_json)
    except CommandError as error:
        return _fail(error.sentence, error.code, as_json=as_json)


def _fail(sentence: str, code: ExitCode, *, as_json: bool) -> int:
    if as_json:
        write_output(json.dumps({"error": sentence, "exit_code": int(code)}))
    _complain(sentence)
    return code


def _complain(sentence: str) -> None:
    # There may be no standard error, or its reader has gone.
    with suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"{PROGRAM}: {as_typed(sentence)}\n")
        sys.stderr.flush()


def _one_line(text: str) -> str:
    return clean(" ".join(text.split()), 600)


def _complete(instruction: str) -> int:
    from click.shell_completion import shell_complete

    # None of these errors may reach the line that somebody is typing.
    with suppress(Exception):
        arguments: dict[str, Any] = {}
        return shell_complete(program(), arguments, PROGRAM, COMPLETE_VARIABLE, instruction)
    return ExitCode.FOUND
