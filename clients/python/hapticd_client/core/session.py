"""The session without I/O: devices, what is in force, what was refused, and whether forces are held back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

from hapticd_client.core.device import DeviceCore
from hapticd_client.errors import Fault, FrameErrors

D = TypeVar("D", bound=DeviceCore)
FAULTS_KEPT: Final = 100
UNKNOWN_DEVICE: Final = "].device_id"
COMMAND_TIMEOUT_S: Final = 0.05  # `sessions/command_timeout` as shipped


class ServiceState(StrEnum):
    """What a program sees of the connection."""

    OPEN = "open"  # connected: what is assigned is sent
    LOST = "lost"  # the service has gone, no forces; `reconnect()` or the loop's `on_reconnect` brings it back
    RETURNED = "returned"  # connected again, forces stay zero until `resume()`
    CLOSED = "closed"  # by `close()` or the end of the block: connect anew


class Session(Generic[D]):
    """What a client knows of its session; the transports fill it, the program reads it."""

    def __init__(self, make: Callable[[str, str], D], *, strict: bool) -> None:
        """`make`: returns a device of a kind and id; `strict`: faults of frames are raised."""
        self._make = make
        self.strict = strict
        self.session_id = 0
        self.instance: str | None = None  # of the running service
        self.state = ServiceState.LOST
        self.devices: dict[str, D] = {}
        self.faults: deque[Fault] = deque(maxlen=FAULTS_KEPT)
        self.most_force: float | None = None  # N
        self.command_timeout_s = COMMAND_TIMEOUT_S
        self.profile: str | None = None
        self._new_faults: list[Fault] = []
        self._was_open = False

    # ------------------------------------------------------------ for transports

    def device(self, kind: str, device_id: str, group: str) -> D:
        """Return the device of this id, new or known."""
        found = self.devices.get(device_id)
        if found is None or (found.kind != kind and not found.present):
            found = self.devices[device_id] = self._make(kind, device_id)
        found.group = group
        return found

    def refuse(self, faults: Iterable[Fault]) -> None:
        """Take faults that a frame names."""
        self._new_faults.extend(faults)

    def opened(self, session_id: int, instance: str | None) -> None:
        """Handle a connection that has been made; the second and later ones are a return, with forces held back."""
        self.session_id = session_id
        self.instance = instance
        if self.state is ServiceState.LOST and self._was_open:
            self.state = ServiceState.RETURNED
            for device in self.devices.values():
                device.withheld = True
                device.ask_again()
        else:
            self.state = ServiceState.OPEN
        self._was_open = True

    def lost(self) -> None:
        """Handle the end of the connection: nothing that was assigned is sent later."""
        if self.state is not ServiceState.CLOSED:
            self.state = ServiceState.LOST
        for device in self.devices.values():
            device.drop()

    # ------------------------------------------------------------ for programs

    @property
    def withheld(self) -> bool:
        """Whether forces stay zero until `resume`, because the service had gone."""
        return self.state is ServiceState.RETURNED

    def resume(self) -> None:
        """Let what is assigned from now on act again."""
        if self.state is ServiceState.RETURNED:
            self.state = ServiceState.OPEN
        for device in self.devices.values():
            device.resume()

    def check(self) -> None:
        """Raise FrameErrors for what the newest frames refused, if `strict`; else keep it in `faults`."""
        if not self._new_faults:
            return
        found, self._new_faults = tuple(self._new_faults), []
        if not all(device.present for device in self.devices.values()):
            # Sent while it was being unplugged: the program is told by DeviceGone as soon as it reads or commands it.
            found = tuple(fault for fault in found if not fault.path.endswith(UNKNOWN_DEVICE))
        if not found:
            return
        self.faults.extend(found)
        if self.strict:
            self.drop()
            raise FrameErrors(found)

    def drop(self) -> None:
        """Forget every set-point of this turn: the next message releases."""
        for device in self.devices.values():
            device.drop()

    def present(self, kind: str) -> tuple[D, ...]:
        """Return the devices of a kind that are there, in the order of the frame."""
        return tuple(device for device in self.devices.values() if device.kind == kind and device.present)

    def __repr__(self) -> str:
        """`<session 7, open>`."""
        return f"<session {self.session_id}, {self.state}>"


def faults_of(frame: dict[str, Any]) -> Iterator[Fault]:
    """Yield the entries of a frame's `errors`."""
    found = frame.get("errors")
    for entry in found if isinstance(found, list) else ():
        if isinstance(entry, dict):
            yield Fault(str(entry.get("path", "")), str(entry.get("reason", "refused without a reason")))
