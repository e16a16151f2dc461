"""`hapticd monitor` and `hapticd events`: what happens, while it happens."""

from __future__ import annotations

import asyncio
import re
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import click

from transport.cli import completing
from transport.cli.address import Address
from transport.cli.brakes import Brake, brake_sentences, brakes_of
from transport.cli.client import Client
from transport.cli.commands.overview import state_words
from transport.cli.commands_for_routes import with_commands
from transport.cli.devices import ShownDevice, devices_of, numbers, part
from transport.cli.exit_codes import ExitCode, NoService, ServiceFailed, WrongUsage
from transport.cli.options import Desk, read_address, seconds_option, service_options
from transport.cli.output import plain_table, tone_of
from transport.cli.text import clean

if TYPE_CHECKING:
    from types import FrameType

    from rich.live import Live

SPAN: Final = re.compile(r"([0-9]{1,9})([smhd])")
SPAN_S: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LEVELS: Final = ("info", "notice", "warning", "error", "critical", "panic")
EVENTS_PORT: Final = "communication/events/port"
QUIET_S: Final = 0.5  # without --follow: the remembered events have come when none came for so long
COLUMNS: Final = ("DEVICE", "TYPE", "STATE", "POSITION mm", "FORCE N", "BUTTONS")


def read_since(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the time that is meant, ISO 8601: a time as it is, or that of a span such as 10m ago; BadParameter."""
    text = (value or "").strip()
    found = SPAN.fullmatch(text)
    if found is None:
        if text[:1].isdigit() and "-" not in text:
            raise click.BadParameter(
                f'"{clean(text, 40)}" is no time: write a span such as 30s, 10m, 2h or 1d, or a date', ctx, param
            )
        return value
    seconds = int(found[1]) * SPAN_S[found[2]]
    try:
        then = datetime.now(UTC) - timedelta(seconds=seconds)
    except OverflowError:
        raise click.BadParameter(f'"{clean(value, 40)}" is longer ago than there are years', ctx, param) from None
    return then.isoformat().replace("+00:00", "Z")


@click.command("events", short_help="print events")
@click.option("--follow", "-f", is_flag=True, help="Go on with events as they come, until Ctrl-C.")
@click.option(
    "--kind",
    "kinds",
    metavar="KIND",
    multiple=True,
    shell_complete=completing.event_kinds,
    help="Only this kind, such as device-connected; repeatable.",
)
@click.option("--level", type=click.Choice(LEVELS), help="Only this level and those above.")
@click.option(
    "--since",
    metavar="TIME",
    callback=read_since,
    help="Also the remembered events after TIME, such as 2030-01-31T12:00:00Z, or of the last 30s, 10m, 2h or 1d.",
)
@click.option(
    "--events-url",
    callback=read_address,
    metavar="URL",
    envvar="HAPTICD_EVENTS_URL",
    help="Address of the event channel; without it the port is asked for at --url. HAPTICD_EVENTS_URL does the same.",
)
@service_options
def events_command(
    desk: Desk,
    *,
    follow: bool,
    kinds: tuple[str, ...],
    level: str | None,
    since: str | None,
    events_url: Address | None,
) -> int:
    """Print the newest events that the service remembers, or with --follow those that come. With --json one object on each line."""
    query = {
        "level": level or "",
        "kinds": ",".join(kinds),
        "since": since or ("" if follow else "1970-01-01T00:00:00Z"),
    }
    address = events_url or event_address(desk.client)
    chosen = {key: value for key, value in query.items() if value}
    try:
        asyncio.run(_follow(desk, address, chosen, forever=follow))
    except KeyboardInterrupt:
        if not follow:
            raise
    return ExitCode.OK


def event_address(client: Client) -> Address:
    """Return where the event channel is, by the service's settings; WrongUsage when they do not say it."""
    row = client.get(f"/settings/{EVENTS_PORT}")
    port = row.get("effective") if isinstance(row, dict) else None
    if not isinstance(port, int) or not 0 < port < 65536:
        raise WrongUsage(f"{EVENTS_PORT} is {clean(port)}: give --events-url, which the service's ready line shows.")
    return client.address.at_port(port)


async def _follow(desk: Desk, address: Address, query: dict[str, str], *, forever: bool) -> None:
    from transport.cli.channel import opened

    some = False
    async with opened(address, desk.client.token, desk.client.timeout_s, **query) as channel:
        while True:
            try:
                event = await channel.receive(None if forever else QUIET_S)
            except TimeoutError:
                if not some:
                    desk.output.line("no such event is remembered")
                return
            some = True
            if "name" not in event or "time" not in event:
                raise NoService(
                    f"What answers at {address.channel} sends no events: leave --events-url out, "
                    "or give the address that the service's ready line shows."
                )
            desk.output.document(event)
            desk.output.line(event_line(event), tone_of(event.get("level")))


def event_line(event: dict[str, Any]) -> str:
    """Return one event as one line: time, level, name, sentence."""
    moment, level, name = (clean(event.get(key)) for key in ("time", "level", "name"))
    return f"{moment}  {level:<8}  {name:<28}  {with_commands(clean(event.get('message')))}"


@click.command("monitor", short_help="show devices as they change")
@seconds_option("--interval", "0.2", "Time between two looks.")
@click.option("--count", type=click.IntRange(1), metavar="N", help="End after N looks.")
@service_options
def monitor_command(desk: Desk, *, interval: float, count: int | None) -> int:
    """Show devices, positions and forces as they change, until Ctrl-C.

    On a terminal the picture is drawn again in its place; elsewhere each look is printed below the one before. It only reads.
    """
    try:
        _remember_ctrl_c()
        if desk.output.as_json or not desk.output.is_terminal():
            for answer, stopped, brakes in _looks(desk.client, interval, count):
                desk.output.document({"time": time.time(), "devices": answer, "stop": stopped, "brakes": brakes})
                rows = [device_row(one, stopped, brakes) for one in devices_of(answer)]
                for line in plain_table(COLUMNS, rows) if rows else ["no device"]:
                    desk.output.line(line)
        else:
            _draw(desk.client, interval, count)
    except KeyboardInterrupt:
        return ExitCode.OK
    return ExitCode.OK


# Ctrl-C was pressed.
_pressed: list[int] = []


def _remember_ctrl_c() -> None:
    """Have a Ctrl-C end the loops too: Python drops the exception where it comes inside a finaliser or a callback."""
    raises = signal.getsignal(signal.SIGINT)

    def press(number: int, frame: FrameType | None) -> None:
        _pressed.append(number)
        if callable(raises):
            raises(number, frame)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, press)


def device_row(device: ShownDevice, stopped: Any, brakes: Mapping[str, str]) -> list[str]:
    """Return a device's row: id, type, state, position in mm, force in N, pressed buttons."""
    position = " ".join(f"{1000 * value:+7.1f}" for value in numbers(device.state, "cursor_position"))
    force = " ".join(f"{value:+6.2f}" for value in numbers(device.state, "current_cursor_force"))
    pressed = [clean(name) for name, down in part(device.state, "buttons").items() if down is True]
    return [
        clean(device.device_id),
        clean(device.kind),
        state_words(device, stopped, brakes),
        position or "-",
        force or "-",
        " ".join(pressed) or "-",
    ]


def _looks(client: Client, interval: float, count: int | None) -> Iterator[tuple[Any, Any, dict[str, Brake]]]:
    """Yield devices, stops and e-brakes, `interval` seconds apart."""
    done = 0
    while not _pressed:
        yield client.get("/devices"), client.get("/stop"), brakes_of(client)
        done += 1
        if done == count:
            return
        time.sleep(interval)


def _draw(client: Client, interval: float, count: int | None) -> None:
    """Draw on the terminal; while no service answers say so and try again."""
    from rich.live import Live

    live = Live(auto_refresh=False, vertical_overflow="ellipsis")
    try:
        _draw_on(live, client, interval, count)
    finally:
        # Ctrl-C may come while Live starts: then it has hidden the cursor and does not show it again.
        live.console.show_cursor()


def _draw_on(live: Live, client: Client, interval: float, count: int | None) -> None:
    done = 0
    with live:
        while not _pressed:
            try:
                answer, stopped, brakes = client.get("/devices"), client.get("/stop"), brakes_of(client)
                rows = [device_row(one, stopped, brakes) for one in devices_of(answer)]
                everything = isinstance(stopped, dict) and stopped.get("everything") is True
                held = ["everything is stopped: hapticd resume"] if everything else brake_sentences(brakes)
                note = "; ".join(held) or "Ctrl-C ends this"
            except (NoService, ServiceFailed) as error:
                if done == 0:
                    raise
                rows, note = [], f"{error.sentence} Trying again."
            _show(live, rows, f"{client.address.url}  {note}")
            done += 1
            if done == count:
                return
            time.sleep(interval)


def _show(live: Live, rows: list[list[str]], note: str) -> None:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in COLUMNS:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style=tone_of(cell)) for cell in row))
    live.update(Group(table, Text(note, style="dim")), refresh=True)
