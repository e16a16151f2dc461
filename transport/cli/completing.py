"""Words for a shell's completion that the running service knows: devices, ports, settings, events.

A completion must neither wait nor complain: without a service, or with one that is slow, there are no words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from click.shell_completion import CompletionItem

from transport.cli.address import DEFAULT_URL, Address, parse_address
from transport.cli.client import Client, device_types, segment
from transport.cli.devices import devices_of, entries, metrics_of, object_of
from transport.cli.exit_codes import CommandError, WrongUsage
from transport.cli.options import read_token
from transport.cli.text import clean

if TYPE_CHECKING:
    import click

WITHIN_S: Final = 0.6
MOST: Final = 500
Words = Callable[["click.Context", "click.Parameter", str], list[CompletionItem]]


def _client(ctx: click.Context) -> Client:
    """Return a client for the options that stand on the line already, or the variables."""
    from os import environ

    url = ctx.params.get("url") or environ.get("HAPTICD_URL") or DEFAULT_URL
    token = read_token(ctx.params.get("token") or environ.get("HAPTICD_TOKEN"), ctx.params.get("token_file"))
    return Client(url if isinstance(url, Address) else parse_address(str(url)), token, WITHIN_S)


def _completes(read: Callable[[Client], Iterable[tuple[str, str]]]) -> Words:
    """Return a completion of the words that `read` finds, each with its help."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        del param
        try:
            found = list(read(_client(ctx)))[:MOST]
        except (CommandError, WrongUsage, ValueError, OSError):
            return []
        begun = incomplete.casefold()
        return [
            CompletionItem(clean(word), help=clean(words)) for word, words in found if word.casefold().startswith(begun)
        ]

    return complete


def _devices(client: Client) -> Iterable[tuple[str, str]]:
    found = list(devices_of(client.get("/devices")))
    yield from ((one.device_id, f"{one.kind} {one.name}".rstrip()) for one in found)
    yield from ((one.name, f"{one.kind} {one.device_id}") for one in found if one.name)
    kinds = {one.kind for one in found} & device_types()
    yield from ((kind, f"every {kind}") for kind in sorted(kinds))


def _ports(client: Client) -> Iterable[tuple[str, str]]:
    for port in entries(client.get("/ports"), "ports"):
        yield str(port.get("port")), str(port.get("state"))


def _settings(client: Client) -> Iterable[tuple[str, str]]:
    for key, row in object_of(client.get("/settings", advanced="true")).items():
        yield key, str(row.get("description", "")) if isinstance(row, dict) else ""


def _event_kinds(client: Client) -> Iterable[tuple[str, str]]:
    """Yield the kinds that there were since the service began."""
    for (name, kind), count in metrics_of(client.text("/metrics")).items():
        if name == "hapticd_events_total":
            yield kind, f"{count:.0f} times"


def setting_values(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the choices of the setting that stands before."""

    def read(client: Client) -> Iterable[tuple[str, str]]:
        row: Any = object_of(client.get(f"/settings/{segment(str(ctx.params.get('key')))}"))
        choices = object_of(object_of(row.get("metadata")).get("constraint")).get("choices")
        if row.get("type_hint") == "BOOL":
            choices = ["true", "false"]
        yield from ((str(one), "") for one in choices or ())

    return _completes(read)(ctx, param, incomplete)


devices: Final = _completes(_devices)
ports: Final = _completes(_ports)
settings: Final = _completes(_settings)
event_kinds: Final = _completes(_event_kinds)
