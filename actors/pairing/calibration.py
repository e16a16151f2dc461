"""State machine of the calibration of one device together with its handle. Pure; PairingManager keeps one per mover."""

from __future__ import annotations

from dataclasses import dataclass, replace

from actors.pairing.messages import Progress, Reason


@dataclass(frozen=True, slots=True)
class Handle:
    """The other half as the lock sees it; `here`: it is connected, `attached`: its heartbeat says that it is in place."""

    device_id: str = ""
    here: bool = True
    awake: bool = True
    attached: bool = True


@dataclass(frozen=True, slots=True)
class Calibration:
    """`run` is the number of the one under way, 0 for none, `awaited` are the devices whose end of it has not come, and
    `handle` is the other half that it began with.

    `reason` is that of the last failure, until the lock moves or a run begins.
    """

    calibrated: bool = False
    unlocked: bool = False
    run: int = 0
    awaited: frozenset[str] = frozenset()
    handle: str = ""
    reason: Reason | None = None

    @property
    def progress(self) -> Progress:
        """What is shown of it."""
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
    if calibration.run and _sleeps(handle):
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
    # Who sleeps sends no heartbeats: the lock alone would not say why.
    if _sleeps(handle):
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


def _sleeps(handle: Handle | None) -> bool:
    return handle is not None and handle.here and not handle.awake


def _failed(calibration: Calibration, reason: Reason) -> Calibration:
    return replace(calibration, run=0, awaited=frozenset(), calibrated=False, reason=reason)
