"""LED states of a board, and texts for its refusals and faults. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from actors.pairing.api import Reason
from fastpath.codecs.openlink_messages import (
    CalibrationReason,
    ConfigureResult,
    FaultFlag,
    Led,
    LedMode,
    RefusedReason,
    SettlePhase,
)

if TYPE_CHECKING:
    from fastpath.codecs.openlink_messages import Configuration, Message, Refused

REASONS: Final = {
    CalibrationReason.BLOCKED: Reason.BLOCKED,
    CalibrationReason.OSCILLATING_HALL: Reason.OSCILLATING_HALL,
    CalibrationReason.PEN_NOT_CONNECTED: Reason.PEN_NOT_CONNECTED,
    CalibrationReason.PEN_ASLEEP: Reason.PEN_ASLEEP,
    CalibrationReason.PEN_LOST: Reason.PEN_LOST,
}
OFF: Final = Led()
FAULT: Final = Led(LedMode.BLINK, red=255)
SETTLING: Final = Led(LedMode.BREATHE, red=255, green=128)
READY: Final = Led(LedMode.STEADY, green=255)


def led_of(phase: SettlePhase | None, faults: FaultFlag) -> Led:
    """Return the LED: blinking red: fault; amber: settling; green: follows commands; off: asleep."""
    if phase is None or phase is SettlePhase.ASLEEP:
        return OFF
    if faults or phase is SettlePhase.FAILED:
        return FAULT
    return READY if phase is SettlePhase.READY else SETTLING


def fault_names(flags: FaultFlag) -> str:
    """Return the names of the faults for the log."""
    return ", ".join((flag.name or "").lower().replace("_", " ") for flag in flags)


def configuration_refused(answer: Configuration) -> str:
    """Return why the configuration was not applied or stored, "" if it was."""
    if answer.result is ConfigureResult.DONE:
        return ""
    why = answer.result.name.lower().replace("_", " ")
    partly = "has its configuration until it loses power" if answer.result is ConfigureResult.STORAGE_FAILED else ""
    return f"it {partly or 'did not take its configuration'} ({why})"


def refusal_sentence(kind: type[Message], answer: Refused) -> str:
    """Return which request was refused and why."""
    why = answer.reason.name.lower()
    if answer.reason is RefusedReason.VERSION:
        why = f"it speaks versions up to {answer.newest_version} of the protocol"
    return f"it refused {kind.__name__.upper()} ({why})"
