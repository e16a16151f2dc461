"""`hapticd bundle`: download the support bundle of the running service, or make a smaller one without it."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from transport.cli.commands.doctor import default_state_path, finding_lines
from transport.cli.exit_codes import CommandError, ExitCode, NoService, WrongUsage
from transport.cli.options import Desk, service_options
from transport.cli.text import clean

if TYPE_CHECKING:
    from transport.cli.client import Client

ROUTE: Final = "/support-bundle"
# The service's doctor may take 10 s.
LEAST_TIMEOUT_S: Final = 30.0
LONGEST_STORED: Final = 1024 * 1024  # bytes
HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@click.command("bundle", short_help="save what helps others to find a fault")
@click.option(
    "-o", "--output", metavar="FILE", help="Where to write it, if not to hapticd-support-TIME.zip in this folder."
)
@click.option(
    "--state-dir", metavar="DIR", help="State directory to read settings from when no service runs, if not the default."
)
@service_options
def bundle_command(desk: Desk, *, output: str | None, state_dir: str | None) -> int:
    """Save one ZIP with log, settings, findings of the doctor, versions, devices, events and metrics, without tokens and passwords.

    The running service makes it. When none runs on this machine, it holds what can be had without one: the doctor, versions, the
    stored settings; the exit code is then 3. An answer may take 30 s, whatever a shorter --timeout says.
    """
    if output == "" or state_dir == "":
        raise WrongUsage("--output and --state-dir need a path: leave the option out for the default.")
    from transport.bundle_archive import bundle_name

    path = Path(output or bundle_name())
    desk.client.timeout_s = max(desk.client.timeout_s, LEAST_TIMEOUT_S)
    missing = ""
    try:
        content = desk.client.content(ROUTE)
    except NoService as error:
        if desk.client.address.host not in HERE:
            raise
        missing = error.sentence
        content = without_service(desk.client, Path(state_dir) if state_dir else default_state_path(), missing)
    _write(path, content)
    desk.output.document({"path": str(path), "bytes": len(content), "service": not missing, "error": missing or None})
    desk.output.line(
        f"{clean(path, 400)}: {len(content) / 1024:.0f} KiB. It names devices and addresses: read it before you publish it."
    )
    if missing:
        desk.output.line(f"without log, devices, events and metrics: {missing}")
    return ExitCode.NO_SERVICE if missing else ExitCode.OK


def without_service(client: Client, state_path: Path, why: str) -> bytes:
    """Return a bundle of what can be had without a service: doctor, versions, the settings on the disk."""
    from transport.build_info import build_info
    from transport.bundle_archive import archive, versions
    from transport.log_format import Redaction

    redaction = Redaction()
    redaction.hide(filter(None, (client.token, _text(state_path / "token").strip())))
    files: dict[str, object] = {
        "settings.json": _stored_settings(state_path / "settings.json"),
        "doctor.txt": _doctor(client, state_path),
        "versions.json": versions(build_info()),
        "problems.json": {"not_ready": why},
    }
    return archive(files, redaction, "by hapticd bundle without a service")


def _doctor(client: Client, state_path: Path) -> str:
    if sys.platform != "linux":
        return "hapticd doctor knows Linux only.\n"
    from transport.cli.doctor.gather import gather
    from transport.cli.doctor.rules import diagnose

    findings = diagnose(gather(client, state_path))
    return "".join(f"{line}\n" for one in findings for line in finding_lines(one))


def _stored_settings(path: Path) -> object:
    """Return what the file of the settings holds, or a sentence about it."""
    text = _text(path)
    if not text:
        return {"error": f"{path} is not there or cannot be read: every setting has its default."}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {"error": f"{path} is no JSON."}


def _text(path: Path) -> str:
    """Return the beginning of a plain file, "" when it cannot be read; what is no plain file is not opened."""
    with suppress(OSError):
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                return file.read(LONGEST_STORED)
    return ""


def _write(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read: it names devices and addresses."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError as error:
        raise CommandError(
            f"{clean(path, 400)} cannot be written ({error.strerror}): give another one with -o."
        ) from None
