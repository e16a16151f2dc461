"""State machine of the calibration of one device together with its handle. Pure; PairingManager keeps one per mover."""

from __future__ import annotations

from dataclasses import dataclass, replace

from actors.pairing.messages import Progress, Reason


@dataclass(frozen=True, slots=True)
class Handle:
    """State of a pair's handle, for the calibration lock."""

    device_id: str = ""
    here: bool = True  # connected
    awake: bool = True
    attached: bool = True  # by its heartbeats


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration state of one mover."""

    calibrated: bool = False
    unlocked: bool = False  # a calibration may start
    run: int = 0  # number of the running calibration; 0: none
    awaited: frozenset[str] = frozenset()  # devices whose end of the run is outstanding
    handle: str = ""  # id of the handle at the start of the run
    reason: Reason | None = None  # of the last failure; cleared when the lock changes or a run starts

    @property
    def progress(self) -> Progress:
        """The progress that clients see."""
        if self.run:
            return Progress.RUNNING
        if self.reason is not None:
            return Progress.FAILED
        if not self.unlocked:
            return Progress.LOCKED
        return Progress.CALIBRATED if self.calibrated else Progress.READY


def check_handle(calibration: Calibration, handle: Handle | None) -> Calibration:
    """Update the lock for the state of the handle (None: no pair); a run without its handle fails."""
    unlocked = handle is not None and handle.here and handle.attached
    if calibration.run and _asleep(handle):
        return replace(_failed(calibration, Reason.PEN_ASLEEP), unlocked=unlocked)
    if calibration.run and (not unlocked or handle is None or handle.device_id != calibration.handle):
        return replace(_failed(calibration, Reason.PEN_LOST), unlocked=unlocked)
    return calibration if unlocked == calibration.unlocked else replace(calibration, unlocked=unlocked, reason=None)


def start_run(
    calibration: Calibration, handle: Handle | None, run: int, awaited: frozenset[str] = frozenset()
) -> Calibration:
    """Start calibration `run`, which ends when all `awaited` are done; refused while locked, or with the handle away or asleep."""
    calibration = check_handle(calibration, handle)
    if calibration.run:
        return calibration
    if handle is not None and not handle.here:
        return replace(calibration, reason=Reason.PEN_NOT_CONNECTED)
    # A sleeping handle sends no heartbeats: without this check the reason would be missing.
    if _asleep(handle):
        return replace(calibration, reason=Reason.PEN_ASLEEP)
    if not calibration.unlocked:
        return replace(calibration, reason=None)
    return replace(calibration, run=run, awaited=awaited, handle=handle.device_id if handle else "", reason=None)


def end_run(calibration: Calibration, run: int, reason: Reason | None, device_id: str = "") -> Calibration:
    """Record that a device finished its part of `run`: the last one ends the run, a failure ends it at once.

    A run that is over already, or a device that is not awaited, changes nothing.
    """
    if (
        run != calibration.run
        or run == 0
        or (device_id and calibration.awaited and device_id not in calibration.awaited)
    ):
        return calibration
    if reason is not None:
        return _failed(calibration, reason)
    awaited = calibration.awaited - {device_id}
    if awaited:
        return replace(calibration, awaited=awaited)
    return replace(calibration, run=0, awaited=awaited, calibrated=True, reason=None)


def _asleep(handle: Handle | None) -> bool:
    return handle is not None and handle.here and not handle.awake


def _failed(calibration: Calibration, reason: Reason) -> Calibration:
    return replace(calibration, run=0, awaited=frozenset(), calibrated=False, reason=reason)
