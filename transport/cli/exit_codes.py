"""Exit codes of every command, in one table, and the errors that end a command with one of them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final


class ExitCode(IntEnum):
    """Exit code of a command."""

    OK = 0
    FOUND = 1
    USAGE = 2
    NO_SERVICE = 3
    REFUSED = 4
    FAILED = 5
    INTERRUPTED = 130
    CLOSED_PIPE = 141


MEANINGS: Final[Mapping[ExitCode, str]] = MappingProxyType(
    {
        ExitCode.OK: "Done, and nothing is wrong.",
        ExitCode.FOUND: "The command worked and found something wrong: `status`, `doctor`, `check`, a failed calibration, `resume` of a device that is still held. "
        "`hapticd run`: the service failed.",
        ExitCode.USAGE: "The command line is wrong. Of `hapticd run` also: a port or the state directory is taken.",
        ExitCode.NO_SERVICE: "No service answers at the address, or what answers is not hapticd. `bundle` has then saved what can be had without one.",
        ExitCode.REFUSED: "The service refused: no such device, port or setting, a bad value, a conflict, no token.",
        ExitCode.FAILED: "The service could not do it: it starts, stops, is busy, or its disk is full. Or the output cannot be written.",
        ExitCode.INTERRUPTED: "Ctrl-C ended the command. `monitor` and `events --follow` end so with 0.",
        ExitCode.CLOSED_PIPE: "The reader of the output has gone, as in `hapticd events | head -1`.",
    }
)


class CommandError(Exception):
    """A command ends with `code` and one sentence that says what to change."""

    code = ExitCode.FAILED

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class WrongUsage(CommandError):
    """The command line is wrong."""

    code = ExitCode.USAGE


class NoService(CommandError):
    """No service answers."""

    code = ExitCode.NO_SERVICE


class Refused(CommandError):
    """The service refuses the request; `status` is that of HTTP."""

    code = ExitCode.REFUSED

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status


class ServiceFailed(CommandError):
    """The service cannot do what was asked."""

    code = ExitCode.FAILED
