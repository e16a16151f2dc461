"""Errors of the client. Each is one sentence that says what happened and what to do; none leaves a force in effect."""

from __future__ import annotations

from dataclasses import dataclass


class HapticsError(Exception):
    """Base class of every error of this package."""


class NoService(HapticsError):
    """No service answers at the address, or something else does."""


class Refused(HapticsError):
    """The service refuses a handshake or a request."""

    def __init__(self, sentence: str, status: int | None = None) -> None:
        """`status`: of the HTTP answer, such as 409; None where there is none."""
        super().__init__(sentence)
        self.status = status


class WrongInstance(HapticsError):
    """Another running service answers than the one that was expected."""


class WrongVersion(HapticsError):
    """The service speaks a version of the interface that this client does not know."""


class WrongWords(HapticsError):
    """The service's frames have other words than those that were asked for."""


class ServiceLost(HapticsError):
    """The connection has ended; the service releases every force of its session by itself."""

    def __init__(self, sentence: str, code: int | None = None) -> None:
        """`code`: of the WebSocket's close, None where none came."""
        super().__init__(sentence)
        self.code = code


class ServiceSilent(ServiceLost):
    """The service has not answered in time; the connection is closed."""


class ProtocolBroken(ServiceLost):
    """What the service sent is no frame of this interface; the connection is closed."""


class SessionClosed(HapticsError):
    """The service object was closed, or belongs to the process that forked this one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One entry of a frame's `errors`."""

    path: str  # of what was sent, such as arm[0].commands.set_cursor_force.vector.x; "" for the whole message
    reason: str  # a sentence that says what to send instead

    def __str__(self) -> str:
        """`path: reason`."""
        return f"{self.path}: {self.reason}" if self.path else self.reason


class FrameErrors(HapticsError):
    """The service refused parts of a message; every command of that message has been released."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        """`faults`: what the service refused, at least one."""
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults = faults


class NoSuchDevice(HapticsError, KeyError):
    """There is no device of this id or kind, or several where one was meant."""

    def __str__(self) -> str:
        """The sentence, without the quotes of a KeyError."""
        return str(self.args[0]) if self.args else ""


class DeviceGone(HapticsError):
    """The device was unplugged; its forces are zero, and stay so after it has come back until `resume`."""


class InvalidCommand(HapticsError, ValueError):
    """A set-point or configuration cannot be sent: wrong length, not finite, out of range."""


class LoopTooSlow(HapticsError):
    """Turns were missed as often in a row as `stop_after_misses` allows; forces are zero."""


class LateTurn(HapticsError):
    """A turn began too late, and `on_late` is "raise"; forces are zero."""


class NotSupported(HapticsError):
    """This transport, system or service has no such feature."""


class SlowLoopWarning(UserWarning):
    """The rate is under three turns per `sessions/command_timeout`: one late turn lets forces fade."""
