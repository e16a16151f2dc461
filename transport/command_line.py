"""Parse the command line, run the service or print the token, and return the exit code."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from actors.kit.errors import HapticError, InvalidInput
from actors.settings.api import (
    StateDirectory,
    default_state_path,
    read_overrides,
    state_path_in_use,
    stored_token,
)
from actors.values.kinds.nouns import simulated_words
from transport.build_info import project_version
from transport.cli.commands_for_routes import with_commands
from transport.cli.similar import no_such_command
from transport.cli.standard_output import forget_output, unwritable
from transport.cli.table import CLIENT_OPTIONS, CLIENT_VARIABLES, COMMANDS, GROUPS, HELP_WORDS, words_given
from transport.line_writer import say
from transport.settings_catalog import SETTINGS_CATALOG
from transport.signals import Signals
from transport.wire.similar import similar
from transport.wire.vocabulary import setting_key

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE_ERROR: Final = 2
OUTPUT_FAILED: Final = 5
CLOSED_PIPE: Final = 141

# option -> setting that it is short for
SHORTHANDS: Final = {
    "simulate": "devices/simulated",
    "vocabulary": "serialization/vocabulary",
    "frequency": "control/frequency",
    "log_level": "misc/log_level",
    "log_format": "misc/log_format",
}


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 the service failed, 2 usage error."""
    parser, commands = _parser()
    words = words_given(arguments)
    if words and words[0].startswith("--") and words[0].partition("=")[0] not in HELP_WORDS:
        named = next((commands[word] for word in words if word in commands), None)
        behind = next((word for word in words if word in COMMANDS), None)
        if named is None and behind is not None:
            parser.error(f"options stand behind the command, write hapticd {behind} {words[0]}")
        if named is None and words[0].partition("=")[0] in CLIENT_OPTIONS:
            parser.error(f"options stand behind the command, write hapticd COMMAND {words[0]}")
        parser.error(_unknown(words[:1], [named] if named else [parser, *commands.values()]))
    if words and not words[0].startswith("-") and words[0] not in {*commands, *COMMANDS}:
        parser.error(no_such_command(words[0], [*commands, *COMMANDS]))
    options, unknown = parser.parse_known_args(words)
    if unknown:
        chosen = commands.get(options.command)
        parser.error(_unknown(unknown, [chosen] if chosen else [parser, *commands.values()]))
    if options.command is None:
        parser.print_help()
        return USAGE_ERROR
    try:
        if options.command == "token":
            return _print_token(_token_of(options))
        return _run(options)
    except HapticError as error:
        say(sys.stderr, f"hapticd: {with_commands(str(error))}")
        return USAGE_ERROR


def _print_token(token: str) -> int:
    try:
        sys.stdout.write(f"{token}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        forget_output()
        return CLOSED_PIPE
    except OSError as error:
        forget_output()
        sys.stderr.write(f"hapticd: {unwritable(error)}\n")
        return OUTPUT_FAILED
    return 0


def _run(options: argparse.Namespace) -> int:
    short = {
        f"--{name.replace('_', '-')}": (key, str(value))
        for name, key in SHORTHANDS.items()
        if (value := getattr(options, name)) is not None
    }
    environ = {name: value for name, value in os.environ.items() if name not in CLIENT_VARIABLES}
    overrides = read_overrides(SETTINGS_CATALOG, options.set, environ, alias=setting_key, short=short)
    with _state_directory(options) as directory:
        signals = Signals()
        # This import takes most of the start: usage errors are answered before it, and signals are noted during it.
        from transport.service import Service

        return Service(directory, overrides, signals).run()


def _state_directory(options: argparse.Namespace) -> StateDirectory:
    if options.state_dir == "":
        raise InvalidInput("--state-dir needs the path of a folder: leave the option out for the default one.")
    return StateDirectory(Path(options.state_dir) if options.state_dir else default_state_path())


def _token_of(options: argparse.Namespace) -> str:
    """Return the token in the directory that was named, else of the service that runs here; reading creates nothing."""
    path = _state_directory(options).path
    if options.state_dir and not os.path.lexists(path):
        raise InvalidInput(
            f"--state-dir: there is no state directory {path}: give the one that the service was started with."
        )
    return stored_token(path if options.state_dir else state_path_in_use())


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command that is read here."""
    return _parser()[1]


def _unknown(words: Sequence[str], parsers: Sequence[argparse.ArgumentParser]) -> str:
    """Return a sentence about unknown arguments that names the options probably meant."""
    word = words[0].partition("=")[0]
    for parser in parsers:
        options = re.findall(r"--[a-z-]+", parser.format_usage())
        begun = [option for option in options if len(word) > len("--") and option.startswith(word)]
        meant = begun or similar(word, options, share=0.7)
        if meant:
            return f"there is no option {word}, write {parser.prog} {' or '.join(meant)}"
    return f"unrecognized arguments: {' '.join(words)}"


class Parser(argparse.ArgumentParser):
    """Argument parser whose errors are one line with a pointer to the help."""

    def error(self, message: str) -> NoReturn:
        """Exit code 2."""
        between = " See" if message.endswith("?") else ": see"
        self.exit(USAGE_ERROR, f"hapticd: {message}{between} hapticd --help and hapticd run --help\n")


def _parser() -> tuple[Parser, dict[str, argparse.ArgumentParser]]:
    """Return the parser and the parser of each command; options are not abbreviated."""
    parser = Parser(
        prog="hapticd",
        usage="hapticd [-h] [--version] COMMAND ...",
        description="Haptic device service: runs the control loop and serves devices over WebSocket and HTTP.\n"
        "All commands but run and token ask a running service.",
        epilog=_command_list(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"hapticd {project_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", help=argparse.SUPPRESS, prog="hapticd")

    running = commands.add_parser(
        "run", help="run the service until Ctrl-C", description="Run the service until Ctrl-C.", allow_abbrev=False
    )
    running.add_argument(
        "--simulate", metavar="LIST", help=f"simulated devices: {', '.join(simulated_words())}, with commas between"
    )
    running.add_argument("--vocabulary", metavar="WORDS", help="output words: auto (default), neutral or inverse")
    running.add_argument("--frequency", metavar="HZ", help="ticks of the control loop per second, 100 to 32000")
    running.add_argument("--log-level", metavar="LEVEL", help="debug, info (default), warning or error")
    running.add_argument("--log-format", metavar="FORMAT", help="text (default), or json: one object a line")
    running.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="any setting, for this run; repeatable"
    )
    _add_state_dir(running)

    token = commands.add_parser(
        "token",
        help="print the bearer token that peers from other machines need",
        description="Print the bearer token that peers from other machines need.",
        allow_abbrev=False,
    )
    _add_state_dir(token)
    # Only for the list of commands: `transport.main` hands these to transport.cli.
    for name, row in COMMANDS.items():
        commands.add_parser(name, help=row.summary.replace("%", "%%"), add_help=False, allow_abbrev=False)
    return parser, {"run": running, "token": token}


def _command_list() -> str:
    """Return every command under its heading, for the help."""
    service = {
        "run": "run the service until Ctrl-C; start with hapticd run --simulate arm,grip",
        "token": "print the bearer token that peers from other machines need",
    }
    groups = {"The service": service}
    for group in GROUPS:
        groups[group] = {name: row.summary for name, row in COMMANDS.items() if row.group == group}
    lines: list[str] = []
    for heading, commands in groups.items():
        lines += [f"{heading}:", *(f"  {name:<11} {summary}" for name, summary in commands.items()), ""]
    return "\n".join([*lines, "hapticd COMMAND --help tells more of each."])


def _add_state_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--state-dir", metavar="DIR", help="where settings, token and ledger are kept")
