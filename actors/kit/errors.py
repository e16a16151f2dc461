"""Errors that a request to an actor raises; each `str()` is one sentence that says what to change. Transport maps the classes to HTTP status."""

from __future__ import annotations

from typing import ClassVar

from actors.values.kinds.nouns import names_of, takers_of


class HapticError(Exception):
    """Base of all errors that a requester can act on."""

    def __init__(self, sentence: str) -> None:
        """`sentence` is shown to users unchanged."""
        super().__init__(sentence)
        self.sentence = sentence


class Busy(HapticError):
    """The request timed out and was not applied, unless its handler had started already."""

    def __init__(self, sentence: str = "The service is busy: try again in a moment.") -> None:
        """`sentence` names the busy actor and the cause."""
        super().__init__(sentence)


class NoSuchActor(HapticError):
    """There is no actor of that name."""

    def __init__(self, name: str) -> None:
        """`name` is the name that was asked for."""
        super().__init__(
            f'Nobody answers under the name "{name}": it has ended or was never started, list what is there first.'
        )
        self.name = name


class InvalidInput(HapticError):
    """A value that is not accepted; `path` is its place in the message, "" for the whole."""

    def __init__(self, reason: str, path: str = "") -> None:
        """`reason` says what is accepted instead."""
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason = reason
        self.path = path


class NotFound(HapticError):
    """The request names something that does not exist."""

    noun: ClassVar[str] = "thing"
    hint: ClassVar[str] = "check the name"

    def __init__(self, wanted: object) -> None:
        """`wanted` is the name in the request."""
        super().__init__(f'There is no {self.noun} "{wanted}": {self.hint}.')
        self.wanted = wanted


class NoSuchDevice(NotFound):
    """No device has that id, index or pattern."""

    noun = "device"
    hint = "GET /devices lists those that are here"


class NoSuchSession(NotFound):
    """No session has that id, index or name."""

    noun = "session"
    hint = "GET /sessions lists those that are open"


class NoSuchSetting(NotFound):
    """No setting has that key."""

    noun = "setting"
    hint = "GET /settings?advanced=true lists all keys"


class NoSuchPort(NotFound):
    """No port has that name or path."""

    noun = "port"
    hint = "GET /ports lists those that were seen"


class NoSlot(HapticError):
    """All slots of that kind are leased."""

    def __init__(self, kind: str, limit: int) -> None:
        """`kind` is "session" or "device", `limit` the number of slots."""
        super().__init__(f"All {limit} {kind} slots are taken: close a {kind} and try again.")
        self.kind = kind
        self.limit = limit


class FirmwareTooOld(HapticError):
    """The device's firmware lacks a feature."""

    def __init__(self, feature: str, firmware: str, required: str) -> None:
        """`firmware` and `required` are "major.minor"."""
        super().__init__(
            f"{feature} needs firmware {required} or newer and the device has {firmware}: update its firmware."
        )
        self.feature = feature
        self.firmware = firmware
        self.required = required


class UnsupportedArea(HapticError):
    """Devices of that kind have no such area."""

    def __init__(self, who: str, area: str) -> None:
        """`who` is the kind with its article, such as "a grip"."""
        super().__init__(f"{who} has no {area}: send it to {takers_of(area)}.")
        self.area = area


class CalibrationLocked(HapticError):
    """Calibration needs an attached handle, and there is none."""

    def __init__(self, device_id: str) -> None:
        """`device_id` is the device to calibrate."""
        super().__init__(
            f"Device {device_id} cannot calibrate yet: hold its paired {names_of(lambda spec: spec.is_handle)} first."
        )
        self.device_id = device_id


class PortBlocked(HapticError):
    """The port is blocked after repeated faults."""

    def __init__(self, port: str) -> None:
        """`port` is its base name."""
        super().__init__(f"Port {port} is blocked: check the cable, then POST /ports/{port}/reset.")
        self.port = port


class Conflict(HapticError):
    """The request contradicts the present state."""


class StateNotWritable(HapticError):
    """The state directory cannot be written; nothing was stored."""

    def __init__(self, path: str, reason: str) -> None:
        """`reason` is the operating system's error text."""
        super().__init__(
            f"The state directory {path} cannot be written ({reason}): free space, give the service the right to write there, or name another folder with --state-dir."
        )
        self.path = path
        self.reason = reason
