"""What both kinds of service objects have in common: the session, its devices, the loop's figures."""

from __future__ import annotations

import math
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Generic, TypeVar

from hapticd_client.core.address import Address
from hapticd_client.core.device import DeviceCore
from hapticd_client.core.pacing import LoopStatistics, OnLate, Pacer
from hapticd_client.core.session import ServiceState, Session
from hapticd_client.core.vectors import is_number
from hapticd_client.errors import Fault, InvalidCommand, NoSuchDevice, SlowLoopWarning, WrongInstance

D = TypeVar("D", bound=DeviceCore)
NO_LOOP: Final = LoopStatistics(math.nan, 0.0, 0, 0, 0, 0.0, 0.0, 0.0)


class ServiceCore(Generic[D]):
    """A connected service."""

    _address: Address

    def __init__(self, make: Callable[[str, str], D], *, strict: bool, expect_instance: str | None) -> None:
        self._session = Session(make, strict=strict)
        self._expected = expect_instance
        self._pacer: Pacer | None = None
        self._loops: list[Pacer] = []  # that have not ended, the innermost last

    # ------------------------------------------------------------ devices

    @property
    def devices(self) -> Mapping[str, D]:
        """Every device that was ever seen, by id or name; unplugged ones have `present` False. NoSuchDevice for an unknown one."""
        return DeviceMap(self._session.devices)

    @property
    def arms(self) -> tuple[D, ...]:
        """Arms that are there, in the order of the frames."""
        return self._session.present("arm")

    @property
    def compacts(self) -> tuple[D, ...]:
        """Compact devices that are there."""
        return self._session.present("compact")

    @property
    def grips(self) -> tuple[D, ...]:
        """Grips that are there."""
        return self._session.present("grip")

    @property
    def pens(self) -> tuple[D, ...]:
        """Pens that are there."""
        return self._session.present("pen")

    @property
    def arm(self) -> D:
        """The only arm. NoSuchDevice when there is none, or more than one."""
        return self._only("arm")

    @property
    def compact(self) -> D:
        """The only compact device. NoSuchDevice."""
        return self._only("compact")

    @property
    def grip(self) -> D:
        """The only grip. NoSuchDevice."""
        return self._only("grip")

    @property
    def pen(self) -> D:
        """The only pen. NoSuchDevice."""
        return self._only("pen")

    def _only(self, kind: str) -> D:
        found = self._session.present(kind)
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(device.id for device in found)
            raise NoSuchDevice(
                f'there are {len(found)} of kind {kind} ({ids}): choose one, such as devices["{found[0].id}"]'
            )
        here = ", ".join(f"{device.kind} {device.id}" for device in self._session.devices.values() if device.present)
        raise NoSuchDevice(
            f"no {kind} is here (here: {here or 'nothing'}): plug one in, or start the service with --simulate {kind}"
        )

    # ------------------------------------------------------------ the session

    @property
    def address(self) -> Address:
        """Where the service listens; `address.http` is the URL of its HTTP interface."""
        return self._address

    @property
    def session_id(self) -> int:
        """Id of the session at the service."""
        return self._session.session_id

    @property
    def instance(self) -> str | None:
        """Random id of the running service, another one after each of its starts; None of a service without one."""
        return self._session.instance

    @property
    def status(self) -> ServiceState:
        """`open`, `lost`, `returned` (connected again, forces stay zero until `resume`) or `closed`."""
        return self._session.state

    @property
    def withheld(self) -> bool:
        """Whether forces stay zero until `resume`."""
        return self._session.withheld

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What frames refused, newest last, at most 100; kept only with `strict=False`, and then never raised."""
        return tuple(self._session.faults)

    def resume(self) -> None:
        """Let forces that are assigned from now on act again, after the service or a device had gone."""
        self._session.resume()

    @property
    def loop_statistics(self) -> LoopStatistics:
        """Figures of the loop that runs, or ran last."""
        return NO_LOOP if self._pacer is None else self._pacer.statistics()

    # ------------------------------------------------------------ for the service object

    def _check_instance(self, instance: str | None) -> None:
        if self._expected is not None and instance != self._expected:
            raise WrongInstance(
                f"the running service is {instance or 'one without an id'}, and {self._expected} was expected: it was restarted, "
                "or it is somebody else's; connect without expect_instance if it may be another one"
            )

    def _begin_loop(
        self,
        rate: float,
        budget: float | None,
        on_late: OnLate,
        max_force: float | None,
        stop_after_misses: int | None,
        seconds: float | None,
    ) -> Pacer:
        """Begin a loop, inside of those that have not ended. InvalidCommand."""
        session = self._session
        if seconds is not None and not (is_number(seconds) and seconds >= 0):
            raise InvalidCommand(f"seconds is 0 or more, or None, and this is {seconds!r}")
        if max_force is not None and not (is_number(max_force) and 0 <= max_force < math.inf):
            raise InvalidCommand(f"max_force is 0 N or more, and this is {max_force!r}")
        pacer = Pacer(rate, budget, on_late, stop_after_misses, session.command_timeout_s)
        if pacer.too_slow_for is not None:
            warnings.warn(
                f"{rate:g} turns/s are under three per sessions/command_timeout ({pacer.too_slow_for:g} s): one late turn lets forces "
                f"fade; loop faster, or raise the setting",
                SlowLoopWarning,
                stacklevel=3,
            )
        pacer.most_force = max_force
        self._loops.append(pacer)
        self._bound_by_innermost()
        # What was assigned before answers to a state of then.
        session.drop()
        return pacer

    def _lead(self, pacer: Pacer) -> None:
        """Go on with a loop after a body: those that began in it are over, whether they were closed or not."""
        if self._loops[-1:] == [pacer]:
            return
        if pacer in self._loops:
            del self._loops[self._loops.index(pacer) + 1 :]
        else:
            self._loops.append(pacer)
        self._bound_by_innermost()

    def _ends(self, pacer: Pacer) -> bool:
        """End a loop; return whether it was the innermost, which releases. One that was abandoned before ends late, and changes nothing."""
        innermost = bool(self._loops) and self._loops[-1] is pacer
        if pacer in self._loops:
            self._loops.remove(pacer)
            self._bound_by_innermost()
        return innermost

    def _bound_by_innermost(self) -> None:
        if self._loops:
            self._pacer = self._loops[-1]
        self._session.most_force = self._loops[-1].most_force if self._loops else None

    def __repr__(self) -> str:
        """`<service, session 7, open: arm 049D, grip 1605>`."""
        here = ", ".join(f"{device.kind} {device.id}" for device in self._session.devices.values() if device.present)
        return f"<service, session {self.session_id}, {self.status}: {here}>"


def folded(text: object) -> str:
    """Return a text as it is compared: whatever its case and the composition of its letters."""
    return unicodedata.normalize("NFC", str(text)).casefold()


class DeviceMap(Mapping[str, D]):
    """Devices by id or by the name that people gave, in upper or lower case; read-only. NoSuchDevice, which is a KeyError, for an unknown one."""

    def __init__(self, devices: Mapping[str, D]) -> None:
        self._devices = devices

    def __getitem__(self, device_id: str) -> D:
        found = self._devices.get(device_id)
        if found is not None:
            return found
        wanted, known = folded(device_id), self._devices.values()
        alike = [device for device in known if folded(device.id) == wanted]
        alike = alike or [device for device in known if folded(device.name) == wanted]
        if len(alike) == 1:
            return alike[0]
        raise NoSuchDevice(f"no device {device_id} is here: {', '.join(self._devices) or 'there is none at all'}")

    def __iter__(self) -> Iterator[str]:
        """Yield the ids."""
        return iter(self._devices)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._devices)
