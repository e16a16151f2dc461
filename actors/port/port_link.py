"""PortLink: the actor of one real port. It opens the link, has its devices admitted, and closes it.

try -> Links.open -> DeviceFound -> DeviceManager -> DeviceAdmitted -> Link.start -> PortOpened; facts -> devices that go, wake,
calibrate; gone, blocked or dropped -> Link.close (zero force) -> LinkClosed, PortClosed -> try again, by the rules of retry.py.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import DeviceLost
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.message import Announce, Message
from actors.pairing.messages import PAIRING, CalibrationEnded
from actors.port import retry
from actors.port.link_interface import DeviceFacts, NoDeviceAnswers, OpenLimits, PortUnusable
from actors.port.link_watch import PortFacts, read
from actors.port.messages import (
    BLOCK_ON_LOOP,
    DETECTION,
    LOOP_THRESHOLD,
    PORTS,
    AwakeSeen,
    CalibrateOverLink,
    ConfigureOverLink,
    DeviceAdmitted,
    DeviceDropped,
    DeviceFound,
    DeviceRefused,
    HomedSeen,
    LinkClosed,
    PortBlocked,
    PortClosed,
    PortFaulted,
    PortOpened,
    PortPlugged,
    PortSilent,
    PortTable,
    PortUnblocked,
    link_name,
)

if TYPE_CHECKING:
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from actors.port.link_interface import Link, LinkFacts, Links
    from actors.port.open_links import OpenedLink, OpenLinks
    from actors.settings.messages import SettingsView
    from actors.values.hardware import Candidate, FoundDevice
    from fastpath.arena.runtime import Lease

ASLEEP = DeviceFacts(awake=False)
AS_AT_FIRST = DeviceFacts()
# How long the guard has to count an opening that may block the port.
COUNT_S = 0.05

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TryPort(Message):
    """Told to a PortLink by itself or its timer: open the port, if it is closed and may be opened."""


@dataclass(frozen=True, slots=True)
class FindAgain(Message):
    """Told to a PortLink by its timer: that device still waits for a slot."""

    opening: int
    link_id: str


@dataclass(frozen=True, slots=True)
class CloseLink(Message):
    """Told to a PortLink by the Detection: close, and do not open again."""

    why: str
    on_purpose: bool = False


@dataclass(frozen=True, slots=True)
class PortTried(Message):
    """Told by a PortLink to the Detection: the port was tried; whom it found the DeviceManager was told."""

    port: str


@dataclass(slots=True)
class _Device:
    """One device of the open link; `slot` None until it is admitted."""

    found: FoundDevice
    slot: tuple[str, Lease] | None = None
    facts: DeviceFacts = AS_AT_FIRST


class PortLink(ServiceActor):
    """The link outlives it: one that is started again takes up the link that is open, with the slots of the inventory."""

    def __init__(
        self,
        context: Context,
        links: Links,
        opened: OpenLinks,
        table: Published[PortTable],
        inventory: Published[Inventory],
        settings: Published[SettingsView],
        candidate: Candidate,
    ) -> None:
        super().__init__(link_name(candidate.port), context)
        self._links = links
        self._opened = opened
        self._table = table
        self._inventory = inventory
        self._settings = settings
        self._candidate = candidate
        self._port = candidate.port
        self._devices: dict[str, _Device] = {}
        # Dropped by the DeviceManager, and still listed by the receiver.
        self._ignored: set[str] = set()
        self._resting = False
        self._silent_said = False
        # Whether the guard was told of the opening that comes next.
        self._counted = False

    def started(self) -> None:
        """Take up a link that is open, else try the port."""
        held = self._opened.find(self._port)
        if held is None:
            self.tell(self.name, TryPort())
            return
        for record in self._inventory.value.devices:
            if record.identity.port == self._port and record.identity.found is not None:
                slot = (record.device_id, record.lease)
                facts = held.facts.of.get(record.identity.link_id, AS_AT_FIRST)
                self._devices[record.identity.link_id] = _Device(record.identity.found, slot, facts)
        self._start(held.link)
        for device in self._devices.values():
            self._follow(device, AS_AT_FIRST, always=True)
        self.tell(self.name, PortFacts(held.opening, held.facts))
        self.tell(DETECTION, PortTried(self._port))

    def stopped(self) -> None:
        """Zero force, and no word: whoever stops it has said what there is to say."""
        self._cancel()
        self._opened.interrupt(self._port)
        self._opened.close(self._port)

    def on_announce(self, message: Announce) -> None:
        """A new manager may not have heard of devices; a new keeper of ports may have blocked this one, or not know it."""
        if message.name == DEVICES:
            for device in self._devices.values():
                self._find(device.found)
        elif message.name == PORTS and self._table.value.is_blocked(self._port):
            self._close("its port is blocked")
        elif message.name == PORTS:
            self._say_opened()
        else:
            # A new actor of a device has not heard whether it sleeps and knows where it is.
            for device in self._devices.values():
                if device.slot is not None and message.name == f"device/{device.slot[0]}":
                    self._follow(device, device.facts, always=True)

    # ------------------------------------------------------------ opening

    @handles(TryPort)
    def on_try(self, _message: TryPort) -> None:
        """Open it unless that is forbidden; whatever comes of it is told, and the first round of the detection goes on."""
        blocked = self._table.value.is_blocked(self._port)
        if self._opened.find(self._port) is None and not (self._resting or blocked):
            if self._is_to_be_counted():
                self._counted = True
                self.tell(PORTS, PortPlugged(self._port))
                self._try_later(COUNT_S)
            else:
                self._try()
        self.tell(DETECTION, PortTried(self._port))

    def _is_to_be_counted(self) -> bool:
        """Whether this opening may block the port: then the guard counts it first, once."""
        settings, threshold = self._settings.value, self._settings.value.integer(LOOP_THRESHOLD)
        return (
            not self._counted
            and settings.flag(BLOCK_ON_LOOP)
            and self._table.value.may_be_blocked(self._port, threshold)
        )

    def _try(self) -> None:
        stop = self._opened.expect(self._port)
        try:
            link = self._links.open(self._candidate, self._patience(), stop)
        except PortUnusable as error:
            self._silent_said = False
            self.tell(PORTS, PortFaulted(self._port, self._candidate.path, error.reason, error.sentence))
            self._try_later(retry.after_fault(error.reason))
        except NoDeviceAnswers as error:
            if not stop.is_set():
                self._silent(error.sentence)
        except Exception as error:
            logger.exception("the driver of port %s failed while it opened", self._port)
            self._silent(f"its driver failed ({error!r})")
        else:
            held = self._opened.hold(self._candidate, link, read(self._port, link), stop)
            if held is None:
                link.close()
                return
            self._silent_said = self._counted = False
            self._take(held)

    def _take(self, held: OpenedLink) -> None:
        devices = held.facts.devices
        logger.info("port %s is open: %s", self._port, ", ".join(map(_named, devices)) or "nobody is there yet")
        self._meet(held.facts)
        if not devices:
            self._say_opened()

    def _silent(self, sentence: str) -> None:
        """Say so once; who is plugged in behind an adapter, or gets power, is found by the next look."""
        if not self._silent_said:
            self._silent_said = True
            logger.info("port %s (%s): nobody answers: %s", self._port, self._candidate.path, sentence)
            self.tell(PORTS, PortSilent(self._port))
        self._try_later(self._period_s())

    def _try_later(self, seconds: float | None) -> None:
        if seconds is not None and not self._resting:
            self.context.timers.after(seconds, self.name, TryPort(), key=(self.name, TryPort))

    # ------------------------------------------------------------ who is behind it

    @handles(DeviceAdmitted)
    def on_admitted(self, message: DeviceAdmitted) -> None:
        """The device has a slot: from now on it exchanges with the loop."""
        held, device = self._held(message.opening), self._devices.get(message.link_id)
        if held is None:
            return
        if device is None:
            self.tell(DEVICES, DeviceLost(message.device_id, message.lease.generation, "it has gone already"))
        elif device.slot != (message.device_id, message.lease):
            device.slot = (message.device_id, message.lease)
            self._start(held.link)
            self._say_opened()
            self._follow(device, device.facts, always=True)

    @handles(DeviceRefused)
    def on_refused(self, message: DeviceRefused) -> None:
        """There is no room: tell of it again."""
        if self._held(message.opening) is not None and message.link_id in self._devices:
            again = FindAgain(message.opening, message.link_id)
            self.context.timers.after(message.again_s, self.name, again, key=(self.name, message.link_id))

    @handles(FindAgain)
    def on_find_again(self, message: FindAgain) -> None:
        """Perhaps there is room now."""
        device = self._devices.get(message.link_id)
        if device is not None and device.slot is None and self._held(message.opening) is not None:
            self._find(device.found)

    @handles(DeviceDropped)
    def on_dropped(self, message: DeviceDropped) -> None:
        """Nobody drives it any more: a receiver goes on with the others, any other port is closed."""
        device, held = self._devices.get(message.link_id), self._opened.find(self._port)
        if device is None or held is None or device.slot is None or device.slot[1].generation != message.generation:
            return
        if held.link.receiver:
            del self._devices[message.link_id]
            self._ignored.add(message.link_id)
            self._start(held.link)
            self._say_opened()
        else:
            self._resting = not message.again
            self._close("its device is not driven any more")
            self._try_later(self._period_s())

    @handles(PortFacts)
    def on_facts(self, message: PortFacts) -> None:
        """What the link shows: it has gone, or devices behind it came, went, woke up, calibrated."""
        held, facts = self._held(message.opening), message.facts
        if held is None:
            return
        if facts.gone:
            self._close(facts.gone)
            self._try_later(self._period_s())
            return
        self._meet(facts)
        for link_id, device in self._devices.items():
            before, device.facts = device.facts, facts.of.get(link_id, AS_AT_FIRST)
            self._follow(device, before)

    def _meet(self, facts: LinkFacts) -> None:
        here = facts.devices
        ids = {found.device_id for found in here}
        self._ignored &= ids
        gone = [device for link_id, device in self._devices.items() if link_id not in ids]
        self._devices = {link_id: device for link_id, device in self._devices.items() if link_id in ids}
        for device in gone:
            if device.slot is not None:
                device_id, lease = device.slot
                self.tell(DEVICES, DeviceLost(device_id, lease.generation, "its receiver does not hear it any more"))
        held = self._opened.find(self._port)
        if gone and held is not None:
            self._start(held.link)
            self._say_opened()
        for found in here:
            if found.device_id not in self._devices and found.device_id not in self._ignored:
                self._devices[found.device_id] = _Device(found, facts=facts.of.get(found.device_id, AS_AT_FIRST))
                self._find(found)

    def _follow(self, device: _Device, before: DeviceFacts, *, always: bool = False) -> None:
        """Tell whom it concerns what is new about an admitted device."""
        if device.slot is None:
            return
        (device_id, lease), now = device.slot, device.facts
        if always or now.awake is not before.awake:
            self.tell(f"device/{device_id}", AwakeSeen(lease.generation, now.awake))
        if always or now.homed is not before.homed:
            self.tell(f"device/{device_id}", HomedSeen(lease.generation, now.homed))
        if now.fault and now.fault != before.fault:
            logger.warning("device %s on %s reports: %s", device_id, self._port, now.fault)
        if now.calibration is not None and now.calibration != before.calibration:
            self.tell(PAIRING, CalibrationEnded(device_id, now.calibration.run, now.calibration.reason))

    def _find(self, found: FoundDevice) -> None:
        held = self._opened.find(self._port)
        if held is not None:
            self.tell(DEVICES, DeviceFound(self._port, held.opening, found))

    def _start(self, link: Link) -> None:
        """Exchange with the loop for those that have a slot."""
        link.start({link_id: one.slot[1] for link_id, one in self._devices.items() if one.slot is not None})

    # ------------------------------------------------------------ what devices shall do

    @handles(ConfigureOverLink)
    def on_configure(self, message: ConfigureOverLink) -> None:
        """The device follows."""
        held = self._opened.find(self._port)
        if held is not None and message.link_id in self._devices:
            held.link.configure(message.link_id, message.wide, save=message.save)

    @handles(CalibrateOverLink)
    def on_calibrate(self, message: CalibrateOverLink) -> None:
        """The device begins, and the facts show its end; or it ends what is over for the other half."""
        held = self._opened.find(self._port)
        if held is not None and message.link_id in self._devices:
            held.link.calibrate(message.link_id, message.run)

    # ------------------------------------------------------------ closing

    @handles(PortBlocked)
    def on_blocked(self, _message: PortBlocked) -> None:
        """Close it until it is unblocked."""
        self._close("its port is blocked")

    @handles(PortUnblocked)
    def on_unblocked(self, _message: PortUnblocked) -> None:
        """It may be opened again."""
        self._resting, self._silent_said = False, False
        self.tell(self.name, TryPort())

    @handles(CloseLink)
    def on_close(self, message: CloseLink) -> None:
        """Close it for good."""
        self._resting = True
        self._close(message.why, on_purpose=message.on_purpose)

    def _close(self, why: str, *, on_purpose: bool = False) -> None:
        """Zero force first; then those are told that knew somebody behind it."""
        self._cancel()
        if self._opened.close(self._port):
            self._devices, self._ignored = {}, set()
            self.tell(DEVICES, LinkClosed(self._port, why))
            self.tell(PORTS, PortClosed(self._port, on_purpose))

    def _cancel(self) -> None:
        self.context.timers.cancel((self.name, TryPort))
        for link_id in self._devices:
            self.context.timers.cancel((self.name, link_id))

    # ------------------------------------------------------------ the rest

    def _say_opened(self) -> None:
        """The port is shown with the first device that was admitted; nobody: only a receiver is open without one."""
        admitted = [device.slot[0] for device in self._devices.values() if device.slot is not None]
        held = self._opened.find(self._port)
        if held is not None and (admitted or held.link.receiver):
            self.tell(PORTS, PortOpened(self._port, self._candidate.path, admitted[0] if admitted else None))

    def _held(self, opening: int) -> OpenedLink | None:
        """The open link, if that is the opening that is meant."""
        held = self._opened.find(self._port)
        return held if held is not None and held.opening == opening else None

    def _patience(self) -> OpenLimits:
        settings = self._settings.value
        return OpenLimits(
            settings.integer("devices/detection/timeout") / 1000,
            settings.integer("devices/detection/max_number_retry"),
        )

    def _period_s(self) -> float:
        return self._settings.value.integer("devices/detection/period") / 1000


def _named(found: FoundDevice) -> str:
    return f"{found.kind} {found.device_id} (firmware {found.firmware}, {found.driver})"
