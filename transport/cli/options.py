"""Options that every command has: address, token, time-out and --json; a command gets them as one `Desk`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec

import click

from transport.cli.address import DEFAULT_URL, Address, parse_address
from transport.cli.client import Client
from transport.cli.exit_codes import ExitCode, WrongUsage
from transport.cli.output import Output

P = ParamSpec("P")

LONGEST_TIMEOUT_S: Final = 3600.0
LONGEST_TOKEN: Final = 4096


class Desk:
    """What a command works with: the service and the output."""

    def __init__(self, client: Client, output: Output) -> None:
        self.client = client
        self.output = output


class AddressType(click.ParamType):
    """The value of --url."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        """Return the address, or fail with a sentence."""
        if isinstance(value, Address):
            return value
        try:
            return parse_address(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class SecondsType(click.ParamType):
    """A number of seconds, above 0."""

    name = "seconds"

    def __init__(self, most: float = LONGEST_TIMEOUT_S) -> None:
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or fail with a sentence."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not 0 < number <= self.most:
            self.fail(f'"{str(value)[:40]}" is no number of seconds above 0, {self.most:g} at most', param, ctx)
        return number


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text for people.")(function)


def service_options(function: Callable[Concatenate[Desk, P], int | None]) -> Callable[..., int]:
    """Add the options of a service's client; the function gets a Desk and returns its exit code, None for 0."""

    @functools.wraps(function)
    def command(
        *args: P.args,
        url: Address,
        token: str | None,
        token_file: Path | None,
        timeout: float,
        as_json: bool,
        **options: P.kwargs,
    ) -> int:
        desk = Desk(Client(url, read_token(token, token_file), timeout), Output(as_json=as_json))
        return function(desk, *args, **options) or ExitCode.OK

    added = (
        click.option(
            "--url",
            type=AddressType(),
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
        click.option(
            "--timeout",
            type=SecondsType(),
            metavar="SECONDS",
            default=5.0,
            show_default=True,
            help="How long each answer may take.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text for people."),
    )
    for option in reversed(added):
        command = option(command)
    return command


def read_token(token: str | None, file: Path | None) -> str | None:
    """Return the token that is given, that of the file first; WrongUsage when it cannot be one."""
    where = "--token"
    if file is not None:
        where = f"The file {file}"
        try:
            with file.open(encoding="ascii") as text:
                token = text.read(LONGEST_TOKEN + 1)
        except OSError as error:
            raise WrongUsage(f"{where} cannot be read ({error.strerror}): give the token of the service.") from None
        except UnicodeError:
            token = "\0"
    if token is None:
        return None
    word = token.strip()
    if not word or len(word) > LONGEST_TOKEN or not word.isascii() or not word.isprintable() or " " in word:
        raise WrongUsage(f"{where} holds no token: `hapticd token` prints the one of this machine.")
    return word
