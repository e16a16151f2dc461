"""Table of the commands that ask a running service: name, where its code is, one sentence. Imports no library."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

COMPLETE_VARIABLE: Final = "_HAPTICD_COMPLETE"
# Variables of the commands below, which are no settings.
CLIENT_VARIABLES: Final = frozenset({"HAPTICD_URL", "HAPTICD_TOKEN", "HAPTICD_EVENTS_URL"})
# Options of every one of them.
CLIENT_OPTIONS: Final = frozenset({"--url", "--token", "--token-file", "--timeout", "--json"})
HELP_WORDS: Final = frozenset({"--help", "--version"})


# Headings of the help, in its order.
LOOK: Final = "Look"
STOP: Final = "Stop and resume"
CHANGE: Final = "Set up"
MEND: Final = "Find faults"
GROUPS: Final = (STOP, LOOK, CHANGE, MEND)


@dataclass(frozen=True, slots=True)
class CommandRow:
    """One command."""

    module: str  # imported when the command is chosen
    attribute: str
    summary: str  # one clause for the list of commands
    group: str  # one of GROUPS


def _rows(module: str, group: str, **summaries: str) -> dict[str, CommandRow]:
    path = f"transport.cli.commands.{module}"
    return {name: CommandRow(path, f"{name}_command", summary, group) for name, summary in summaries.items()}


# In the order of the help.
COMMANDS: Final[Mapping[str, CommandRow]] = MappingProxyType(
    {
        **_rows(
            "overview",
            LOOK,
            status="say whether the service works: loop, devices, ports, stops, e-brakes",
            devices="list the devices",
            ports="list the ports, with those that are blocked or unusable",
            sessions="list the connected clients",
            version="print the versions of this program and of the service",
        ),
        **_rows(
            "live",
            LOOK,
            monitor="show devices and forces as they change",
            events="print events, with --follow as they come",
        ),
        **_rows("trips", LOOK, trips="show what filter and monitors did to devices, and why one braked"),
        **_rows(
            "safety",
            STOP,
            stop="zero force on every device, or on one, until `hapticd resume`",
            resume="let every device, or one, move again after a stop; one also after an e-brake that waits",
            reset="unblock a port",
        ),
        **_rows("settings", CHANGE, settings="read and change settings"),
        **_rows("pairs", CHANGE, calibrate="calibrate a device with its handle", pair="show, make or dissolve a pair"),
        **_rows("names", CHANGE, name="show, give or take away a device's name, such as left arm"),
        **_rows("names", MEND, identify="make a device vibrate, so that the hand on it knows which one it is"),
        **_rows("check", MEND, check="test a device: push each axis gently, and judge travel, buttons and link"),
        **_rows("doctor", MEND, doctor="find what this machine lacks, with the command that mends it"),
        **_rows(
            "bundle",
            MEND,
            bundle="save log, settings, doctor and versions, without secrets, in one file for whoever helps",
        ),
        **_rows("completion", CHANGE, completion="print the completion script of a shell"),
    }
)


def asks_service(words: Sequence[str]) -> bool:
    """Return whether the command line is for `transport.cli.program`: one of the table, or a shell's request for completion."""
    return COMPLETE_VARIABLE in os.environ or (bool(words) and words[0] in COMMANDS)


def words_given(arguments: Sequence[str] | None) -> list[str]:
    """Return the words behind the program's name."""
    return sys.argv[1:] if arguments is None else list(arguments)
