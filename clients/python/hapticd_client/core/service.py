"""What both kinds of service objects have in common: the session, its devices, the loop's figures."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Generic, TypeVar

from hapticd_client.core.device import DeviceCore
from hapticd_client.core.pacing import LoopStatistics, OnLate, Pacer
from hapticd_client.core.session import ServiceState, Session
from hapticd_client.errors import Fault, InvalidCommand, NoSuchDevice, SlowLoopWarning, WrongInstance

D = TypeVar("D", bound=DeviceCore)
NO_LOOP: Final = LoopStatistics(math.nan, 0.0, 0, 0, 0, 0.0, 0.0, 0.0)


class ServiceCore(Generic[D]):
    """A connected service."""

    def __init__(self, make: Callable[[str, str], D], *, strict: bool, expect_instance: str | None) -> None:
        self._session = Session(make, strict=strict)
        self._expected = expect_instance
        self._pacer: Pacer | None = None

    # ------------------------------------------------------------ devices

    @property
    def devices(self) -> Mapping[str, D]:
        """Every device that was ever seen, by id; unplugged ones have `present` False. NoSuchDevice for an unknown id."""
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

    # ------------------------------------------------------------ for the service objects

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
    ) -> Pacer:
        session = self._session
        if max_force is not None and not (math.isfinite(max_force) and max_force >= 0):
            raise InvalidCommand(f"max_force is 0 N or more, and this is {max_force}")
        pacer = Pacer(rate, budget, on_late, stop_after_misses, session.command_timeout_s)
        if pacer.too_slow_for is not None:
            warnings.warn(
                f"{rate:g} turns/s are under three per sessions/command_timeout ({pacer.too_slow_for:g} s): one late turn lets forces "
                f"fade; loop faster, or raise the setting",
                SlowLoopWarning,
                stacklevel=3,
            )
        session.most_force = max_force
        self._pacer = pacer
        return pacer

    def __repr__(self) -> str:
        """`<service, session 7, open: arm 049D, grip 1605>`."""
        here = ", ".join(f"{device.kind} {device.id}" for device in self._session.devices.values() if device.present)
        return f"<service, session {self.session_id}, {self.status}: {here}>"


class DeviceMap(Mapping[str, D]):
    """Devices by id, read-only; NoSuchDevice, which is a KeyError, for an unknown one."""

    def __init__(self, devices: Mapping[str, D]) -> None:
        self._devices = devices

    def __getitem__(self, device_id: str) -> D:
        found = self._devices.get(device_id)
        if found is None:
            raise NoSuchDevice(f"no device {device_id} is here: {', '.join(self._devices) or 'there is none at all'}")
        return found

    def __iter__(self) -> Iterator[str]:
        """Yield the ids."""
        return iter(self._devices)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._devices)
