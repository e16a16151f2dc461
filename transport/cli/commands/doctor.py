"""`hapticd doctor`: gather facts, judge them, print findings with the command that mends each."""

from __future__ import annotations

import sys
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
@service_options
def doctor_command(desk: Desk, *, state_dir: str | None, ports: tuple[str, ...]) -> int:
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

    findings = diagnose(gather(desk.client, Path(state_dir) if state_dir else _default_state_path(), ports))
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


def _default_state_path() -> Path:
    from actors.settings.api import default_state_path

    return default_state_path()
