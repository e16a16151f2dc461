"""`hapticd doctor`: gather facts, judge them, print findings with the command that mends each."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from transport.cli.doctor.rules import Finding, Level, diagnose
from transport.cli.exit_codes import ExitCode, WrongUsage
from transport.cli.options import Desk, service_options
from transport.cli.output import tone_of


@click.command("doctor", short_help="find what this machine lacks")
@click.option(
    "--state-dir",
    metavar="DIR",
    help="State directory of the service, if not the default.",
)
@click.option(
    "--port", "ports", metavar="PATH", multiple=True, help="Also look who holds this serial port; repeatable."
)
@click.option("--processors", type=int, hidden=True, help="How many processors the service has that asks about itself.")
@service_options
def doctor_command(desk: Desk, *, state_dir: str | None, ports: tuple[str, ...], processors: int | None) -> int:
    """Find what this machine lacks for hapticd, each with the command that mends it. Changes nothing.

    Judged is the user that runs it: run it as the user that starts the service. Exit code 1 when something is missing.
    """
    if sys.platform != "linux":
        raise WrongUsage("hapticd doctor knows Linux only.")
    if state_dir == "":
        raise WrongUsage("--state-dir needs the path of a folder: leave the option out for the default one.")
    if "" in ports:
        raise WrongUsage("--port needs the path of a serial port, such as /dev/ttyACM0.")
    from transport.cli.doctor.gather import gather

    facts = gather(desk.client, Path(state_dir) if state_dir else default_state_path(), ports)
    # A child of the service may not run on the loop's processor, which counts all the same.
    findings = diagnose(facts if processors is None else replace(facts, cpus=processors))
    missing = [one for one in findings if one.level is Level.MISSING]
    desk.output.document(
        {
            "ok": not missing,
            "findings": [
                {
                    "subject": one.subject,
                    "level": str(one.level),
                    "sentence": one.sentence,
                    "mend": one.mend,
                    "then": one.then,
                }
                for one in findings
            ],
        }
    )
    for one in findings:
        for line in finding_lines(one):
            desk.output.line(line, tone_of(line))
    return ExitCode.FOUND if missing else ExitCode.OK


def finding_lines(finding: Finding) -> list[str]:
    """Return the lines of a finding for people."""
    lines = [f"{finding.level:<8} {finding.subject}: {finding.sentence}"]
    if finding.mend:
        lines.append(f"         $ {finding.mend}")
    if finding.then:
        lines.append(f"         {finding.then}")
    return lines


def default_state_path() -> Path:
    """Return the state directory of a service of this user."""
    from actors.settings.api import default_state_path

    return default_state_path()
