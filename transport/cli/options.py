"""Options that every command has: address, token, time-out and --json; a command gets them as one `Desk`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from transport.cli.address import DEFAULT_URL, Address, parse_address
from transport.cli.client import Client
from transport.cli.exit_codes import ExitCode, WrongUsage
from transport.cli.output import Output

LONGEST_S: Final = 3600.0
LONGEST_TOKEN: Final = 4096


class Desk:
    """What a command works with: the service and the output."""

    def __init__(self, client: Client, output: Output) -> None:
        self.client = client
        self.output = output


def read_address(ctx: click.Context, param: click.Parameter, value: str | None) -> Address | None:
    """Return the address of a value of --url or its like; BadParameter."""
    if value is None:
        return None
    try:
        return parse_address(value)
    except ValueError as error:
        if ctx.get_parameter_source(param.name) is ParameterSource.ENVIRONMENT:
            raise click.UsageError(f"{param.envvar}: {error}", ctx) from None
        raise click.BadParameter(str(error), ctx, param) from None


def read_seconds(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Return a number of seconds above 0; BadParameter."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number <= LONGEST_S:
        raise click.BadParameter(f'"{value[:40]}" is no number of seconds above 0, {LONGEST_S:g} at most', ctx, param)
    return number


def seconds_option(name: str, default: str, words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return an option that takes a number of seconds."""
    return click.option(name, callback=read_seconds, metavar="SECONDS", default=default, show_default=True, help=words)


def service_options(function: Callable[..., int | None]) -> Callable[..., int]:
    """Add the options of a service's client; the function gets a Desk and returns its exit code, None for 0."""

    @functools.wraps(function)
    def command(
        *, url: Address, token: str | None, token_file: Path | None, timeout: float, as_json: bool, **options: Any
    ) -> int:
        desk = Desk(Client(url, read_token(token, token_file), timeout), Output(as_json=as_json))
        return function(desk, **options) or ExitCode.OK

    added = (
        click.option(
            "--url",
            callback=read_address,
            metavar="URL",
            envvar="HAPTICD_URL",
            default=DEFAULT_URL,
            show_default=True,
            help="Address of the service; HAPTICD_URL does the same.",
        ),
        click.option(
            "--token",
            metavar="TOKEN",
            envvar="HAPTICD_TOKEN",
            help="Bearer token, for a service on another machine; HAPTICD_TOKEN does the same and is not seen in the list of processes.",
        ),
        click.option(
            "--token-file",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="File with the token, such as the file token of the state directory.",
        ),
        seconds_option("--timeout", "5", "How long each answer may take."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text for people."),
    )
    made: Callable[..., int] = command
    for option in reversed(added):
        made = option(made)
    return made


def read_token(token: str | None, file: Path | None) -> str | None:
    """Return the token that is given, that of the file first; WrongUsage when it cannot be one."""
    where = "--token or HAPTICD_TOKEN"
    if file is not None:
        where = f"The file {file}"
        try:
            with file.open(encoding="ascii") as text:
                token = text.read(LONGEST_TOKEN + 1)
        except OSError as error:
            raise WrongUsage(f"{where} cannot be read ({error.strerror}): give the token of the service.") from None
        except UnicodeError:
            token = ""
    if token is None:
        return None
    word = token.strip()
    if not word or len(word) > LONGEST_TOKEN or not word.isascii() or not word.isprintable() or " " in word:
        raise WrongUsage(f"{where} holds no token: `hapticd token` prints the one of this machine.")
    return word
