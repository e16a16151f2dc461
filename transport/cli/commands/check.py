"""`hapticd check`: warn, count down, measure, judge."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from dataclasses import asdict
from typing import Any, Final

import click

from transport.cli import completing
from transport.cli.brakes import brake_sentence, brakes_of
from transport.cli.check.verdict import Grade, judge
from transport.cli.devices import ShownDevice, object_of
from transport.cli.exit_codes import ExitCode, Refused, WrongUsage
from transport.cli.options import Desk, service_options
from transport.cli.output import tone_of
from transport.cli.text import clean

MOST_N: Final = 1.0
COUNTDOWN: Final = 3


class Between(click.FloatRange):
    """A number of a range; NaN is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; BadParameter."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail("nan is no number.", param, ctx)
        return number


@click.command("check", short_help="test a device")
@click.argument("device", shell_complete=completing.devices)
@click.option("--yes", is_flag=True, help="Do not ask before the device moves.")
@click.option(
    "--force",
    type=Between(0.1, MOST_N),
    metavar="N",
    default=0.8,
    show_default=True,
    help="Force of each push in newtons, 1 at most.",
)
@click.option("--no-push", is_flag=True, help="Make no force: look at buttons, link and what the device reports.")
@click.option(
    "--travel",
    type=Between(0, 600),
    metavar="SECONDS",
    default=0.0,
    help="Time to move the handle through its reach by hand; it tells a dead motor from an encoder that stands still.",
)
@click.option("--buttons", type=Between(0, 600), metavar="SECONDS", default=0.0, help="Time to press each button.")
@service_options
def check_command(
    desk: Desk, device: str, *, yes: bool, force: float, no_push: bool, travel: float, buttons: float
) -> int:
    """Test DEVICE: push gently along each axis, and judge motors, encoders, travel, buttons and link.

    The device moves, a few millimetres: hold its handle loosely. DEVICE is an id or TYPE/INDEX such as arm/0.
    Exit code 1 when something is wrong with the device. A handle is tested with the device that it is paired with, or alone.
    """
    from transport.cli.check.measuring import Plan, find_device, measure

    shown, _ = find_device(desk.client, device)
    _refuse_unusable(desk, shown)
    plan = Plan(force, not no_push, travel, buttons)
    if plan.push and shown.moves:
        _warn(desk, shown, plan.force, yes=yes)
    found = asyncio.run(measure(desk.client, shown, plan, lambda text: _progress(desk, text)))
    verdicts = judge(found)
    good = all(one.grade is not Grade.WRONG for one in verdicts)
    document: dict[str, Any] = asdict(found)
    document["buttons"] = found.buttons and {
        "asked": found.buttons.asked,
        **{name: sorted(getattr(found.buttons, name)) for name in ("names", "pressed", "released")},
    }
    document.pop("steps")
    desk.output.document(
        {
            "ok": good,
            "device_id": found.device_id,
            "verdicts": [{"part": one.part, "grade": str(one.grade), "sentence": one.sentence} for one in verdicts],
            "measured": document,
        }
    )
    for one in verdicts:
        desk.output.line(f"{one.grade:<7} {one.part}: {one.sentence}", tone_of(one.grade))
    desk.output.line(f"{clean(shown.kind)} {clean(shown.device_id)} {'passes' if good else 'has a fault'}")
    return ExitCode.OK if good else ExitCode.FOUND


def _refuse_unusable(desk: Desk, shown: ShownDevice) -> None:
    name = clean(shown.device_id)
    stopped = object_of(desk.client.get("/stop"))
    if shown.moves and (stopped.get("everything") or shown.device_id in (stopped.get("devices") or ())):
        raise Refused(f"{name} is stopped: hapticd resume lets it move, then it can be tested.")
    if (brake := brakes_of(desk.client).get(shown.device_id)) is not None:
        raise Refused(f"{brake_sentence(shown.device_id, brake)}. Then it can be tested.")
    if not shown.ready:
        raise Refused(f"{name} is not ready: hapticd status says more.")
    if shown.status.get("in_use") is True:
        raise Refused(f"Another session commands {name}: end that program first, hapticd sessions lists it.")


def _warn(desk: Desk, shown: ShownDevice, force: float, *, yes: bool) -> None:
    """Tell what is going to move, ask, and count down; without a terminal --yes is needed."""
    text = (
        f"{clean(shown.kind)} {clean(shown.device_id)} is going to push with up to {force:g} N along each axis, for about 6 s. "
        "Hold its handle loosely, and keep everything else away from it. Ctrl-C ends it at once."
    )
    if not yes and not (sys.stdin is not None and sys.stdin.isatty()):
        raise WrongUsage("The device is going to move, and there is no terminal to ask at: give --yes, or --no-push.")
    _progress(desk, text)
    if yes:
        return
    click.confirm("Begin?", abort=True, err=True)
    for left in range(COUNTDOWN, 0, -1):
        _progress(desk, f"{left} …")
        time.sleep(1)


def _progress(desk: Desk, text: str) -> None:
    """Print what happens on standard error, so that the output stays the verdict."""
    del desk
    click.echo(clean(text), err=True)
